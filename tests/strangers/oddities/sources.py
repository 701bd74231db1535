"""Tables from several sources, and a column that gives the groups away."""

from __future__ import annotations

from dataclasses import replace

from ..sheets import Sheet, SheetColumn
from .registry import Change, Rng, add

RECORDS = ("persons", "products", "papers", "places", "events")


def _sources(names: list[str], shares: list[float], each_once: bool = True) -> Change:
    """Rows come from sources that hold each thing once at most: further rows are left out."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        seen: set[tuple[int, str]] = set()
        rows, sources = [], []
        for a in range(len(sheet)):
            order = rng.choice(names, len(names), replace=False, p=shares)
            free = [str(s) for s in order if not each_once or (sheet.truth[a], str(s)) not in seen]
            if free:
                seen.add((sheet.truth[a], free[0]))
                rows.append(a)
                sources.append(free[0])
        sheet = sheet.picked(rows)
        return replace(sheet, columns=[*sheet.columns, SheetColumn("shop", "source", sources)])

    return change


add("two sources", "sources", "changes", _sources(["left", "right"], [0.5, 0.5]), only=RECORDS)
add("two sources, one large", "sources", "changes", _sources(["left", "right"], [0.9, 0.1]), only=RECORDS)
add("three sources", "sources", "changes", _sources(["a", "b", "c"], [0.5, 0.3, 0.2]), only=RECORDS)
add("two sources in Thai", "sources", "changes", _sources(["ซ้าย", "ขวา"], [0.5, 0.5]), only=RECORDS)
add(
    "sources that repeat",
    "sources",
    "changes",
    _sources(["x", "y"], [0.6, 0.4], each_once=False),
    only=RECORDS,
)


def _leak(sheet: Sheet, rng: Rng) -> Sheet:
    """A batch that names the group."""
    cells = [f"batch-{7919 * (g + 1) % 100_003}" for g in sheet.truth]
    return replace(sheet, columns=[*sheet.columns, SheetColumn("batch", "leak", cells)])


add("a column that gives the groups away", "sources", "changes", _leak, only=RECORDS)
