"""A part of the table as columns that know how rare terms are in the whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.typing import Floats, Ints
from clustruct.data import Source, Table
from clustruct.data.frames import column_from_arrow
from clustruct.distributed.workdir import Span, Stats, WorkDirectory
from clustruct.features import Blocking
from clustruct.features.columns import TermTable
from clustruct.features.needs import Count, Tally
from clustruct.features.vocabulary import Keys, Letters, Vocabulary, numbered

READING, COMMON = "reading", "common.json"


def read_part(work: WorkDirectory, k: int) -> Stats:
    """Partition k of the table, out of the files it is made of."""
    return keep_part(work, k, rows_of(work.about.spans[k], work.about.columns))


def keep_frame(work: WorkDirectory, k: int, frame: Any) -> Stats:
    """Partition k of the table, given as a data frame."""
    import pyarrow as pa

    return keep_part(work, k, pa.Table.from_pandas(frame[list(work.about.columns)], preserve_index=False))


def keep_part(work: WorkDirectory, k: int, table: Any) -> Stats:
    """Write a partition; what it has of the fields that the features need."""
    work.write_table(READING, k, table.replace_schema_metadata(None))
    tally = Tally(work.features.needs_, "the table")
    if table.num_rows:
        tally.add(table_of(table, work.about.id))
    counts = {name: asdict(count) for name, count in tally.counts.items()}
    return {"rows": table.num_rows, "needs": counts, "fields": list(tally.fields)}


def judge(work: WorkDirectory, stats: Sequence[Stats]) -> None:
    """`DataError` where the table as a whole lacks what the features need."""
    tally = Tally(work.features.needs_, "the table")
    for one in stats:
        tally.fields.update(dict.fromkeys(one["fields"]))
        for name, count in one["needs"].items():
            tally.counts[name] = tally.counts.get(name, Count()) + Count(**count)
    if tally.counts:
        tally.judge()


def rows_of(spans: Sequence[Span], columns: Sequence[str]) -> Any:
    """Some rows of files, as an Arrow table."""
    import pyarrow as pa

    return pa.concat_tables([_rows(Span(*span), columns) for span in spans])


def _rows(span: Span, columns: Sequence[str]) -> Any:
    """Some rows of a file: of its groups of rows those that have some of them."""
    import pyarrow as pa
    from pyarrow import parquet

    held, start, parts = parquet.ParquetFile(span.path), 0, []
    wanted = [name for name in columns if name in held.schema_arrow.names]
    for group in range(held.num_row_groups):
        size = held.metadata.row_group(group).num_rows
        first, last = max(span.first - start, 0), min(span.last - start, size)
        if first < last:
            parts.append(held.read_row_group(group, wanted, use_threads=False).slice(first, last - first))
        start += size
    return pa.concat_tables(parts) if parts else held.schema_arrow.empty_table().select(wanted)


def table_of(table: Any, id: str | None = None) -> Table:
    """The rows of an Arrow table as items."""
    names = [name for name in table.column_names if name != id]
    if not names:
        return Table([{}] * table.num_rows)
    return Table.from_columns(
        {name: column_from_arrow(table.column(name)) for name in names}, source=Source("the table")
    )


def part_of(work: WorkDirectory, k: int) -> Table:
    """The items of partition k."""
    return table_of(work.read_table(READING, k), work.about.id)


@dataclass
class Counting:
    """A whole that is not known yet: its parts note what must be counted."""

    n_items: int
    noted: dict[str, tuple[Keys, Floats]] = field(default_factory=dict)

    def n_with(self, name: str, table: TermTable) -> Floats:
        counts = table.own_n_with()
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
        distinct, number = numbered(names)
        found = np.empty(len(distinct))
        found[number] = counts
        return cls(n_items, Vocabulary.of_keys(distinct), found)

    def n_with(self, name: str, table: TermTable) -> Floats:
        own = table.own_n_with()
        there = np.flatnonzero(own)
        at = self.names.find(term_names(name, table.vocabulary.keys[there]))
        own[there] = 1.0
        own[there[at >= 0]] = self.counts[at[at >= 0]]
        return own


def term_names(kind: str, keys: Keys) -> Keys:
    """Keys of terms of one kind, other than those of the same terms of another kind."""
    return mixed(keys, np.uint64(Letters.of([kind]).keys()[0]))


def mixed(first: Keys, second: Keys | np.uint64) -> Keys:
    """One key of two (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        x = first * np.uint64(0x9E3779B97F4A7C15) + second
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


def spread(keys: Keys, n: int) -> Ints:
    """A piece for each key: those of a piece are smaller than those of the next."""
    return np.asarray(((keys >> np.uint64(32)) * np.uint64(max(n, 1))) >> np.uint64(32), np.int32)


def counted(work: WorkDirectory, k: int, told: Sequence[str]) -> Counted:
    """The whole table, by the frequencies that were told to a part in some stages, or by all there are."""
    return _all_counted(work) if is_common(work) else _counted(work, [work.read(stage, k) for stage in told])


def is_common(work: WorkDirectory) -> bool:
    """Whether every part reads the frequencies of all terms (`frequencies.decide`)."""
    found: bool = json.loads((Path(work.folder) / COMMON).read_text())
    return found


@lru_cache(maxsize=1)
def _all_counted(work: WorkDirectory) -> Counted:
    """Once for each process."""
    return _counted(work, [work.read("summed", k) for k in range(work.n_partitions)])


def _counted(work: WorkDirectory, tables: Sequence[dict[str, Any]]) -> Counted:
    names, counts = (np.concatenate([one[name] for one in tables]) for name in ("name", "count"))
    return Counted.of(work.n_items, names, counts)


def blocking_of(work: WorkDirectory) -> Blocking:
    """The blocking of the model; a table for a cluster has one."""
    found = work.features.blocking_
    assert found is not None
    return found
