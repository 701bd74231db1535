"""What notebooks show: small tables, in which every text of the data is only text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# Rows and letters of a cell that are shown.
MOST_ROWS, MOST_LETTERS = 8, 60


def html_table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[object]], n_rows: int | None = None
) -> str:
    """A table with a caption; of many rows the first ones, and how many there are.

    >>> html_table("two", ["a"], [["<b>"], [0.25]])
    '<table><caption>two</caption><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr><tr><td>0.25</td></tr></table>'
    """
    shown = rows[:MOST_ROWS]
    total = len(rows) if n_rows is None else n_rows
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in shown)
    rest = total - len(shown)
    more = f'<tr><td colspan="{len(header)}">… and {rest:,} more</td></tr>' if rest > 0 else ""
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}{more}</table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…")
