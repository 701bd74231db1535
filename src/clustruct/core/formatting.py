"""Text for people: tables, counts, durations, names that fit on a line; tables in HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], most: int | None = None, digits: int = 2
) -> str:
    """Columns in line, numbers to the right; of many rows the first ones.

    >>> print(format_table(["set", "loss"], [["monday", 1.5], ["b", 10.0]]))
    set     loss
    monday  1.50
    b      10.00
    """
    shown = rows if most is None or len(rows) <= most else rows[:most]
    cells = [[_cell(name, digits) for name in header]]
    cells += [[*(_cell(v, digits) for v in row[:-1]), _cell(row[-1], digits, 80)] for row in shown]
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


def _cell(value: object, digits: int, longest: int = 48) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    text = harmless(str(value))
    return text if len(text) <= longest else text[: longest - 3] + "..."


def harmless(text: str) -> str:
    """Control characters, which could steer the terminal, as their numbers."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def count(n: int, thing: str) -> str:
    """How many, with the right ending: "1 set", "2,000 items"."""
    return f"{n:,} {thing}" + ("" if n == 1 else "s")


def duration(seconds: float) -> str:
    """Seconds as people say them: "42 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def short(name: object, most: int = 40) -> str:
    """A name on one line of at most so many characters, cut in its middle; nothing unprintable."""
    text = " ".join(str(name).split())
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    if len(text) <= most:
        return text
    head = most // 2
    return text[:head] + "…" + text[len(text) - (most - head - 1) :]


def place(path: str | PathLike[str] | None, line: int | None = None) -> str:
    """Where something stands, as editors understand it; without a path, a table in memory.

    >>> place("news.jsonl", 3), place(None, 3)
    ('news.jsonl:3', 'row 3')
    """
    if path is None:
        return "the table" if line is None else f"row {line}"
    return str(path) if line is None else f"{path}:{line}"


# Rows and letters of a cell that are shown.
MOST_ROWS, MOST_LETTERS = 8, 60


def html_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[object]], n_rows: int | None = None
) -> str:
    """A table with a caption; of many rows the first ones, and how many there are."""
    shown = rows[:MOST_ROWS]
    total = len(rows) if n_rows is None else n_rows
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_html_cell(value)}</td>' for value in row)}</tr>" for row in shown)
    rest = total - len(shown)
    more = f'<tr><td colspan="{len(header)}">… and {rest:,} more</td></tr>' if rest > 0 else ""
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}{more}</table>"


def _html_cell(value: object) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…")
