"""How many items have each term: counted by part, summed by term, sent to the parts that have it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.typing import Floats, Ints
from clustruct.features import PairFeatures
from clustruct.features.columns import Columns, TermTable
from clustruct.features.row_equality import row_keys
from clustruct.features.vocabulary import Keys, PackedTexts, Vocabulary, mix_keys, number_keys

from .table_parts import blocking_of, part_of
from .workdir import Stats, WorkDirectory, arrays, rows_to, write_text

COMMON = "common.json"
# Frequencies of so many terms (16 bytes each) are read by every part. Of more each part gets those of its own
# terms: two more exchanges. A million persons have 2 million terms that two of them have.
MOST_COMMON = 10_000_000
TABLES, ARRAYS = "tables", ("indptr", "indices", "counts")
TERMS = {"name": "uint64", "part": "int32", "count": "int32"}
FREQUENCIES = {"name": "uint64", "count": "float64"}


def look_at(features: PairFeatures, columns: Columns) -> None:
    """Make all that looks at how rare terms are, of the features and of the blocking."""
    columns, blocking = features.columns(columns), features.blocking_
    features.comparisons(columns)
    if blocking is None:
        return
    for field in blocking.weights_:
        blocking.rows(columns, field)
    if blocking.drops(columns.population):
        blocking.letters(columns)


def make_terms(work: WorkDirectory, k: int) -> Any:
    """The terms of a part, each once, with the number of its items that have them."""
    whole = Counting(work.n_items)
    columns = work.features.columns(Columns(part_of(work, k), whole=whole))
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
    found["rows"], found["rows there"] = row_keys(columns, work.features.compared_fields(columns.table))
    work.write_arrays(TABLES, k, found)


def kept_tables(work: WorkDirectory, k: int) -> Iterator[tuple[str, TermTable]]:
    """The fields that items are found by, and their terms, with their frequencies."""
    held, whole = work.read_arrays(TABLES, k), whole_table(work, k, ["frequencies"])
    for number, field in enumerate(blocking_of(work).weights_):
        words = Vocabulary.of_keys(held[f"keys {number}"])
        indptr, indices, counts = (held[f"{name} {number}"] for name in ARRAYS)
        name = str(held[f"name {number}"])
        yield field, TermTable(words, indptr, indices, counts, whole=(name, whole))


def sum_terms(work: WorkDirectory, k: int, table: Any) -> Stats:
    """Terms of more than one item: their sums, for each part that has them."""
    held = arrays(table)
    distinct, number = number_keys(held["name"])
    total = np.bincount(number, weights=held["count"], minlength=len(distinct))
    often = total[number] > 1.0
    columns = {"name": held["name"][often], "part": held["part"][often], "count": total[number[often]]}
    work.write("terms", k, columns)
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


@dataclass
class Counting:
    """A whole that is not known yet: its parts note what must be counted."""

    n_items: int
    noted: dict[str, tuple[Keys, Floats]] = dataclasses.field(default_factory=dict)

    def document_frequency(self, name: str, table: TermTable) -> Floats:
        counts = table.own_document_frequency()
        there = np.flatnonzero(counts)
        self.noted[name] = table.vocabulary.keys[there], counts[there]
        return counts


@dataclass(frozen=True, eq=False)
class Counted:
    """A whole of which the frequencies of some terms are known; those of others are 1.

    names : keys of terms, each of one kind of terms (`term_names`)
    counts : how many items have them
    """

    n_items: int
    names: Vocabulary
    counts: Floats

    @classmethod
    def of(cls, n_items: int, names: Keys, counts: Floats) -> Counted:
        """Of names in any order, of which some may be given more than once."""
        distinct, number = number_keys(names)
        found = np.empty(len(distinct))
        found[number] = counts
        return cls(n_items, Vocabulary.of_keys(distinct), found)

    def document_frequency(self, name: str, table: TermTable) -> Floats:
        own = table.own_document_frequency()
        there = np.flatnonzero(own)
        at = self.names.find(term_names(name, table.vocabulary.keys[there]))
        own[there] = 1.0
        own[there[at >= 0]] = self.counts[at[at >= 0]]
        return own


def term_names(kind: str, keys: Keys) -> Keys:
    """Keys of terms of one kind, other than those of the same terms of another kind."""
    return mix_keys(keys, np.uint64(PackedTexts.of([kind]).keys()[0]))


def spread(keys: Keys, n: int) -> Ints:
    """A piece for each key: those of a piece are smaller than those of the next."""
    return np.asarray(((keys >> np.uint64(32)) * np.uint64(max(n, 1))) >> np.uint64(32), np.int32)


def whole_table(work: WorkDirectory, k: int, stages: Sequence[str]) -> Counted:
    """The whole table, by the frequencies that a part was sent in some stages, or by all there are."""
    if is_common(work):
        return _all_frequencies(work)
    return _frequencies(work, [work.read(stage, k) for stage in stages])


def is_common(work: WorkDirectory) -> bool:
    """Whether every part reads the frequencies of all terms (`frequencies.decide`)."""
    found: bool = json.loads((Path(work.folder) / COMMON).read_text())
    return found


@lru_cache(maxsize=1)
def _all_frequencies(work: WorkDirectory) -> Counted:
    """Once for each process."""
    return _frequencies(work, [work.read("summed", k) for k in range(work.n_partitions)])


def _frequencies(work: WorkDirectory, tables: Sequence[dict[str, Any]]) -> Counted:
    names, counts = (np.concatenate([one[name] for one in tables]) for name in ("name", "count"))
    return Counted.of(work.n_items, names, counts)
