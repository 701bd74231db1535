"""How many items have each term: counted by part, summed by term, told to the parts that have it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.distributed.exchange import arrays, rows_to
from clustruct.distributed.workdir import Stats, WorkDirectory, write_text
from clustruct.features import PairFeatures
from clustruct.features.columns import Columns, TermTable
from clustruct.features.vocabulary import Vocabulary, numbered

from .parts import COMMON, Counting, blocking_of, counted, is_common, part_of, spread, term_names

# Frequencies of so many terms (16 bytes each) are read by every part. Of more each part gets those of its own
# terms: two more exchanges. A million persons have 2 million terms that two of them have.
MOST_COMMON = 10_000_000
TABLES, ARRAYS = "tables", ("indptr", "indices", "counts")
TERMS = {"name": "uint64", "part": "int32", "count": "int32"}
FREQUENCIES = {"name": "uint64", "count": "float64"}


def look_at(features: PairFeatures, columns: Columns) -> None:
    """Make all that looks at how rare terms are, of the features and of the blocking."""
    features.prepared(columns)
    blocking = features.blocking_
    if blocking is None:
        return
    for field in blocking.weights_:
        blocking.rows(columns, field)
    if blocking.drops(columns.population):
        blocking.letters(columns)


def make_terms(work: WorkDirectory, k: int) -> Any:
    """The terms of a part, each once, with the number of its items that have them."""
    whole = Counting(work.n_items)
    columns = Columns(part_of(work, k), whole=whole)
    look_at(work.features, columns)
    keep_tables(work, k, columns)
    name = np.concatenate(
        [term_names(kind, keys) for kind, (keys, _) in whole.noted.items()] or [np.zeros(0, np.uint64)]
    )
    count = np.concatenate([counts for _, counts in whole.noted.values()] or [np.zeros(0)])
    return rows_to(
        spread(name, work.n_partitions),
        {"name": name, "part": np.full(len(name), k, np.int32), "count": count.astype(np.int32)},
    )


def keep_tables(work: WorkDirectory, k: int, columns: Columns) -> None:
    """Write the terms by which items of a part are found: they are split once."""
    blocking, found = blocking_of(work), dict[str, Any]()
    for number, field in enumerate(blocking.weights_):
        table = blocking.terms(columns, field)
        assert table.whole is not None
        assert table.codes is None
        found |= {f"keys {number}": table.vocabulary.keys, f"name {number}": np.array(table.whole[0])}
        found |= {f"{name} {number}": getattr(table, name) for name in ARRAYS}
    work.write_arrays(TABLES, k, found)


def kept_tables(work: WorkDirectory, k: int) -> Iterator[tuple[str, TermTable]]:
    """The fields that items are found by, and their terms, with their frequencies."""
    held, whole = work.read_arrays(TABLES, k), counted(work, k, ["frequencies"])
    for number, field in enumerate(blocking_of(work).weights_):
        words = Vocabulary.of_keys(held[f"keys {number}"])
        indptr, indices, counts = (held[f"{name} {number}"] for name in ARRAYS)
        told = str(held[f"name {number}"]), whole
        yield field, TermTable(words, indptr, indices, counts, whole=told)


def sum_terms(work: WorkDirectory, k: int, table: Any) -> Stats:
    """Terms of more than one item: their sums, for each part that has them."""
    held = arrays(table)
    distinct, number = numbered(held["name"])
    total = np.bincount(number, weights=held["count"], minlength=len(distinct))
    often = total[number] > 1.0
    told = {"name": held["name"][often], "part": held["part"][often], "count": total[number[often]]}
    work.write("terms", k, told)
    shared = total > 1.0
    work.write("summed", k, {"name": distinct[shared], "count": total[shared]})
    return {"terms": len(distinct), "of_two": int(np.count_nonzero(shared))}


def decide(work: WorkDirectory, stats: Sequence[Stats]) -> bool:
    """Whether the frequencies of all terms are so few that every part reads them all; it is written down."""
    if not (path := Path(work.folder) / COMMON).exists():
        write_text(path, json.dumps(sum(one["of_two"] for one in stats) <= MOST_COMMON))
    return is_common(work)


def make_frequencies(work: WorkDirectory, k: int) -> Any:
    """What was summed, on its way to the parts."""
    held = work.read("terms", k)
    return rows_to(held.pop("part"), held)


def take_frequencies(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The frequencies of the terms of a part."""
    work.write_table("frequencies", k, table)
    return {"frequencies": len(table)}
