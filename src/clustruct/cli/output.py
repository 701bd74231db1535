"""What commands print: one JSON object, or tables for people."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any


def print_json(found: dict[str, Any]) -> None:
    """One JSON object on one line; what is not finite becomes null."""
    print(json.dumps(plain(found), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy as JSON knows them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None = None) -> str:
    """Columns in line, numbers to the right; of many rows the first ones.

    >>> print(table(["set", "loss"], [["monday", 1.5], ["b", 10.0]]))
    set     loss
    monday  1.50
    b      10.00
    """
    shown = rows if most is None or len(rows) <= most else rows[:most]
    cells = [list(header), *([*map(_cell, row[:-1]), _cell(row[-1], 80)] for row in shown)]
    wide = [max(len(row[j]) for row in cells) for j in range(len(header))]
    left = [all(isinstance(row[j], str) for row in shown) for j in range(len(header))]
    lines = [
        "  ".join(
            c.ljust(w) if side else c.rjust(w) for c, w, side in zip(row, wide, left, strict=True)
        ).rstrip()
        for row in cells
    ]
    if len(shown) < len(rows):
        lines.append(f"... and {len(rows) - len(shown)} more (all with --json)")
    return "\n".join(lines)


def _cell(value: Any, longest: int = 48) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    text = harmless(str(value))
    return text if len(text) <= longest else text[: longest - 3] + "..."


def harmless(text: str) -> str:
    """Control characters, which could steer the terminal, as their numbers.

    >>> harmless("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def count(n: int, thing: str) -> str:
    """How many, with the right ending.

    >>> count(1, "set"), count(2000, "item")
    ('1 set', '2,000 items')
    """
    return f"{n:,} {thing}" + ("" if n == 1 else "s")
