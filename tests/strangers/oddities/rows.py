"""Rows more than once, in odd orders, and rows that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..sheets import Sheet
from ..tables import slip
from .registry import Change, Rng, add, some


def _copies(n_rows: int, times: int) -> Change:
    """Some unlabelled rows stand there so many times more."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        unlabelled = [a for a, label in enumerate(sheet.labels) if not label] or list(range(len(sheet)))
        chosen = rng.choice(unlabelled, min(n_rows, len(unlabelled)), replace=False)
        return sheet.picked([*range(len(sheet)), *(int(a) for a in chosen for _ in range(times))])

    return change


def _noisy_copies(sheet: Sheet, rng: Rng) -> Sheet:
    """A hundred copies of one row with a slip each in one of its texts."""
    a = int(rng.choice([a for a, label in enumerate(sheet.labels) if not label]))
    n = len(sheet)
    sheet = sheet.picked([*range(n), *[a] * 100])
    texts = sheet.of_kind("text")
    for b in range(n, n + 100):
        k = int(rng.choice(texts))
        cells = list(sheet.columns[k].cells)
        cells[b] = slip(cells[b], rng)
        sheet = sheet.with_cells(k, cells)
    return sheet


def _in_order(order: Callable[[Sheet, Rng], Sequence[int]]) -> Change:
    return lambda sheet, rng: sheet.picked([int(a) for a in order(sheet, rng)])


def _by_group(sheet: Sheet, rng: Rng) -> Sequence[int]:
    return sorted(
        range(len(sheet)), key=lambda a: (sheet.set_names or sheet.labels)[a] + f"{sheet.truth[a]:05d}"
    )


def with_rows(sheet: Sheet, places: Sequence[int], cells: Callable[[str], str]) -> Sheet:
    """Further rows of groups of their own behind these rows; ``cells`` says what stands in a column."""
    before = sheet.picked([a for a in range(len(sheet)) for _ in range(2 if a in places else 1)])
    order = [a for a in range(len(sheet)) for _ in range(2 if a in places else 1)]
    added = [a for a in range(1, len(order)) if order[a] == order[a - 1]]
    origin, truth, labels = list(before.origin), list(before.truth), list(before.labels)
    columns = [list(column.cells) for column in before.columns]
    for n, a in enumerate(added):
        origin[a], truth[a], labels[a] = -1, 10**6 + n, ""
        for k, column in enumerate(before.columns):
            columns[k][a] = cells(column.name)
    named = [replace(c, cells=cells) for c, cells in zip(before.columns, columns, strict=True)]
    return replace(before, columns=named, origin=origin, truth=truth, labels=labels)


add(
    "each row twice",
    "rows",
    "undoable",
    lambda sheet, rng: sheet.picked([a for a in range(len(sheet)) for _ in range(2)]),
    only=["persons", "papers", "vectors", "events"],
)
add("twenty rows twice", "rows", "undoable", _copies(20, 1))
add("a row fifty times", "rows", "undoable", _copies(1, 49))
add("a row 300 times", "rows", "undoable", _copies(1, 299))
add("five rows 40 times", "rows", "undoable", _copies(5, 39))
add(
    "a hundred noisy copies",
    "rows",
    "undoable",
    _noisy_copies,
    only=["persons", "products", "papers", "places", "events"],
)
add("sorted by group", "rows", "undoable", _in_order(_by_group))
add("rows shuffled", "rows", "undoable", _in_order(lambda sheet, rng: rng.permutation(len(sheet))))
add("rows reversed", "rows", "undoable", _in_order(lambda sheet, rng: range(len(sheet))[::-1]))
add(
    "empty rows",
    "rows",
    "undoable",
    lambda sheet, rng: with_rows(sheet, some(rng, len(sheet), 0.03), lambda name: ""),
    only=["persons", "products", "papers", "places", "events"],
)
add(
    "an empty row",
    "rows",
    "undoable",
    lambda sheet, rng: with_rows(sheet, [5], lambda name: ""),
    only=["persons", "products", "papers", "places", "events"],
)
add(
    "header repeated inside",
    "rows",
    "undoable",
    lambda sheet, rng: with_rows(sheet, some(rng, len(sheet), 0.02), lambda name: name),
    only=["persons", "products", "papers", "places", "events"],
)
add(
    "rows that say NA",
    "rows",
    "undoable",
    lambda sheet, rng: with_rows(sheet, some(rng, len(sheet), 0.03), lambda name: "NA"),
    only=["persons", "products", "papers", "places", "events"],
)


def _few(sheet: Sheet, rng: Rng) -> Sheet:
    """A very small table: twelve groups."""
    kept = set(sorted(set(sheet.truth))[:12])
    return sheet.picked([a for a in range(len(sheet)) if sheet.truth[a] in kept])


add(
    "a small table",
    "rows",
    "changes",
    _few,
    only=["persons", "products", "papers", "places", "events", "vectors"],
)
