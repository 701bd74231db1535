"""Features and scores of pairs: each part asks the others for the records that its pairs have there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clustruct import pipeline
from clustruct.core.typing import Floats, Ints
from clustruct.features.columns import Columns, TermTable
from clustruct.features.neighbours import sorted_unique

from .frequencies import look_at, term_names, whole_table
from .table_parts import READING, blocking_of, part_of, table_of
from .workdir import Stats, WorkDirectory, arrays, rows_to

ASKED = {"part": "int32", "item": "int64"}
COUNTS = {"name": "uint64", "count": "float64"}
ROWS_AT_ONCE = 10_000
# Scores of a part that are looked at, to see whether the table is like those that were learned from.
SHOWN = 100
ITEM = " item"  # no field of a table is called that: names have no space at their ends


def make_questions(work: WorkDirectory, k: int) -> Any:
    """The items of other parts that pairs of a part have."""
    items = sorted_unique(np.concatenate([*work.read("pairs", k).values()]))
    to = work.owner(items)
    others = to != k
    asked = items[others]
    return rows_to(to[others], {"part": np.full(len(asked), k, np.int32), "item": asked})


def take_questions(work: WorkDirectory, k: int, table: Any) -> Stats:
    """Which parts ask for which items of a part."""
    held = arrays(table)
    order = np.lexsort((held["item"], held["part"]))
    work.write("asked", k, {name: held[name][order] for name in ASKED})
    return {"asked": len(table)}


def record_types(schema: Any) -> dict[str, Any]:
    """The types of the columns of records, as frames have them."""
    import pandas as pd

    return {ITEM: "int64", **{name: pd.ArrowDtype(schema.field(name).type) for name in schema.names}}


def make_records(work: WorkDirectory, k: int) -> Any:
    """The records that other parts ask for."""
    asked, table = work.read("asked", k), work.read_table(READING, k)
    rows = table.take(asked["item"] - work.starts[k])
    return rows_to(
        asked["part"], {ITEM: asked["item"], **dict(zip(rows.column_names, rows.columns, strict=True))}
    )


def take_records(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The records of others that a part has asked for, in order."""
    work.write_table("records", k, table.take(np.argsort(table.column(ITEM).to_numpy(), kind="stable")))
    return {"records": len(table)}


@dataclass
class Noting:
    """A whole that notes which terms are looked at."""

    whole: Any
    noted: dict[str, TermTable] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        return int(self.whole.n_items)

    def document_frequency(self, name: str, table: TermTable) -> Floats:
        self.noted[name] = table
        found: Floats = self.whole.document_frequency(name, table)
        return found


def make_counts(work: WorkDirectory, k: int) -> Any:
    """How rare the terms are of records that other parts ask for; those of one item are left out."""
    import pyarrow as pa

    asked, whole = work.read("asked", k), Noting(whole_table(work, k, ["frequencies"]))
    found = [rows_to(np.zeros(0), {"name": np.zeros(0, np.uint64), "count": np.zeros(0)})]
    if len(asked["item"]):
        look_at(work.features, Columns(part_of(work, k), whole=whole))
    for name, table in whole.noted.items():
        part, term = _terms_by_part(table, asked["part"], asked["item"] - work.starts[k])
        count = whole.whole.document_frequency(name, table)[term]
        often = count > 1.0
        names = term_names(name, table.vocabulary.keys[term[often]])
        found.append(rows_to(part[often], {"name": names, "count": count[often]}))
    return pa.concat_tables(found)


def _terms_by_part(table: TermTable, part: Ints, item: Ints) -> tuple[Ints, Ints]:
    """The terms that the items asked for have, each once for each part that asks; parts rise."""
    rows = item if table.codes is None else table.codes[item]
    parts, terms = [part[:0]], [part[:0]]
    for k, some in zip(*_stretches(part, rows), strict=True):
        there = np.zeros(len(table.vocabulary), np.bool_)
        for row in np.array_split(some, -(-len(some) // ROWS_AT_ONCE)):
            sizes = table.indptr[row + 1] - table.indptr[row]
            within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            there[table.indices[np.repeat(table.indptr[row], sizes) + within]] = True
        terms.append(np.flatnonzero(there))
        parts.append(np.full(len(terms[-1]), k))
    return np.concatenate(parts), np.concatenate(terms)


def _stretches(part: Ints, rows: Ints) -> tuple[list[int], list[Ints]]:
    """The parts, which rise, and the rows of each."""
    parts, starts = np.unique(part, return_index=True)
    return parts.tolist(), np.split(rows, starts[1:]) if len(parts) else []


def take_counts(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The frequencies of terms of records that a part has asked for."""
    held = arrays(table)
    name, first = np.unique(held["name"], return_index=True)
    work.write("counts", k, {"name": name, "count": held["count"][first]})
    return {"counts": len(name)}


def score_pairs(work: WorkDirectory, k: int) -> Stats:
    """The scores of the pairs of a part that are alike enough."""
    held = work.read("pairs", k)
    pairs = np.column_stack([held["a"], held["b"]])
    found = []
    for columns, local, some in _together(work, k, pairs):
        found.append(_score_alike(work, columns, local, some))
        del columns  # before the next ones are made
    kept, values = (np.concatenate(some) for some in zip(*found, strict=True))
    work.write("scores", k, {"a": kept[:, 0], "b": kept[:, 1], "score": values})
    stats = {"pairs": len(pairs), "compared": len(kept), "positive": int(np.count_nonzero(values > 0.0))}
    return {**stats, "some": values[:: 1 + len(values) // SHOWN].tolist()}


def _score_alike(work: WorkDirectory, columns: Columns, local: Ints, pairs: Ints) -> tuple[Ints, Floats]:
    """Of some pairs, ``local`` in the items of columns, those that are alike enough, and their scores."""
    alike = blocking_of(work).are_alike(columns, local)
    return pairs[alike], pipeline.score_pairs(work.model, columns, local[alike], show_progress=False)


def _together(work: WorkDirectory, k: int, pairs: Ints) -> Iterator[tuple[Columns, Ints, Ints]]:
    """The pairs of a part in turns: those inside it, then those with some of the records of others.

    Columns, pairs by their places there, pairs. Of the records of others half as many are held at once as the
    part has: what a piece of work holds does not grow with the number of parts.
    """
    start, size = int(work.starts[k]), int(work.starts[k + 1] - work.starts[k])
    own = _own_columns(work, k)
    inside = ((pairs >= start) & (pairs < start + size)).all(axis=1)
    yield own, pairs[inside] - start, pairs[inside]
    others = work.read_table("records", k)
    numbers = others.column(ITEM).to_numpy()
    there = pairs[~inside]
    outer = np.where((there[:, 0] >= start) & (there[:, 0] < start + size), there[:, 1], there[:, 0])
    at_once = max(1, size // 2)
    for first in range(0, len(numbers), at_once):
        some = numbers[first : first + at_once]
        chosen = there[(outer >= some[0]) & (outer <= some[-1])]
        own_end = (chosen >= start) & (chosen < start + size)
        local = np.where(own_end, chosen - start, size + np.searchsorted(some, chosen))
        yield _extend(work, k, own, others.slice(first, at_once)), local, chosen


def _own_columns(work: WorkDirectory, k: int) -> Columns:
    """The columns of a part, which know how rare its terms are and those of the records it asked for."""
    whole = whole_table(work, k, ["frequencies", "counts"])
    return work.features.columns(Columns(part_of(work, k), whole=whole))


def _extend(work: WorkDirectory, k: int, own: Columns, others: Any) -> Columns:
    """The columns of a part and of some records of others."""
    import pyarrow as pa

    table, id = work.read_table(READING, k), work.about.id
    more = others.select(table.column_names).cast(table.schema)
    return own.copy().extend(table_of(more, id), table_of(pa.concat_tables([table, more]), id))
