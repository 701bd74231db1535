"""Kept figures as Markdown, printed or in a page: ``python -m benchmarks.tables render FIGURES.json ...``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from studies.rendering import put

Row = dict[str, Any]


def render(paths: Iterable[Path]) -> str:
    """One table for each file."""
    return "\n\n".join(_table(json.loads(path.read_text())["rows"]) for path in paths)


def write(paths: Iterable[Path], page: Path) -> None:
    """Each file's table into its place in a page: between comments that name ``tables/`` and the file."""
    text = page.read_text("utf-8")
    for path in paths:
        text = put(text, f"tables/{path.stem}", render([path]))
    page.write_text(text, "utf-8")


def _table(rows: list[Row]) -> str:
    real = "folds 0-4" in rows[0]
    head = ["table", "rows", *(["F, folds 0-4 / 5-9 labelled"] if real else ["labelled"]), "tool"]
    head += ["P / R / F", "CPU s, learn + group", "GB"]
    lines = [_line(head), "|" + "---|" * len(head)]
    for row in rows:
        first = f"{row['folds 0-4']:.1f} / {row['folds 5-9']:.1f}" if real else f"{row['labelled']:,}"
        lines.append(_line([row["table"], f"{row['rows']:,}", first, row["tool"], *_figures(row)]))
    return "\n".join(lines)


def _figures(row: Row) -> list[str]:
    if "F" not in row:
        return [row.get("remark", ""), "", ""]
    scores = " / ".join(f"{row[name]:.1f}" for name in ("P", "R", "F"))
    steps = [f"{row[name]:.1f}" for name in ("learn CPU s", "group CPU s") if name in row]
    return [scores, " + ".join(steps) or f"{row['CPU s']:.1f} together", f"{row['GB']:.2f}"]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
