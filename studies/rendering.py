"""Rows as Markdown, and their place in a page of docs: between two comments that name the table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

END = "<!-- end of table -->"


def markdown(rows: Sequence[Mapping[str, Any]], digits: Mapping[str, int] | int = 2) -> str:
    """Rows under the names of their columns. ``digits`` after the point: one number, or by column."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    by = dict.fromkeys(names, digits) if isinstance(digits, int) else {n: digits.get(n, 2) for n in names}
    return grid(names, [[cell(row.get(name), by[name]) for name in names] for row in rows])


def grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of given cells."""
    every = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def cell(value: Any, digits: int = 2) -> str:
    """One cell: floats with so many digits after the point, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return str(value)


def beside(ours: float, published: float | None, digits: int = 2) -> str:
    """Ours (published); an arrow where ours is the higher loss at the digits shown."""
    if published is None:
        return cell(ours, digits)
    worse = round(ours, digits) > round(published, digits)
    return f"{ours:.{digits}f} ({published:.{digits}f})" + (" ↑" if worse else "")


def put(text: str, name: str, body: str, title: str = "") -> str:
    """The page with what stands between the comments of this table replaced; at the end if it has none."""
    start = f"<!-- table {name} -->"
    block = f"{start}\n\n{body}\n\n{END}"
    if start not in text:
        heading = f"\n## {title}\n" if title else ""
        return f"{text.rstrip()}\n{heading}\n{block}\n"
    pattern = re.escape(start) + r".*?" + re.escape(END)
    if not re.search(pattern, text, flags=re.DOTALL):
        raise ValueError(f"{start} is not followed by {END}")
    return re.sub(pattern, lambda _: block, text, count=1, flags=re.DOTALL)


def names_in(text: str) -> list[str]:
    """The tables that a page has places for."""
    return re.findall(r"<!-- table (\S+) -->", text)
