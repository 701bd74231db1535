"""The parts of a table: which rows of which files each is made of, and reading it."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.data import Source, Table
from clustruct.data.frames import column_from_arrow
from clustruct.features import Blocking
from clustruct.features.needs import FieldCount, FieldTally

from .cluster import Client
from .workdir import Span, Stats, WorkDirectory

READING = "reading"
# Rows of a partition, where nobody says how many partitions there are to be: as many as a worker can hold
# twice with what is made of them, by its memory; so many where it has no limit.
ROWS, FEWEST_ROWS, BYTES_OF_ROW = 250_000, 1000, 16_000


def is_files(data: Any) -> bool:
    """Whether that is a name of files, or several, rather than a data frame."""
    return isinstance(data, str | os.PathLike | list | tuple)


@dataclass(frozen=True)
class Size:
    """How a table is cut where nobody says it: partitions of so many rows at most, as many for each thread.

    >>> Size(rows=10_000, threads=2).partitions(41_000), Size(threads=8).partitions(2500)
    (6, 3)
    """

    rows: int = ROWS
    threads: int = 1

    def partitions(self, n: int) -> int:
        """Into how many partitions n rows are cut."""
        wanted = -(-n // self.rows)
        each = max(1, -(-wanted // self.threads))
        return max(wanted, min(each * self.threads, -(-n // FEWEST_ROWS)))

    @classmethod
    def for_cluster(cls, client: Client) -> Size:
        """By what the scheduler knows of its workers."""
        known = client.scheduler_info()["workers"].values()
        limits = [one["memory_limit"] // one["nthreads"] for one in known if one.get("memory_limit")]
        rows = min([ROWS, *(limit // BYTES_OF_ROW for limit in limits)])
        return cls(max(rows, FEWEST_ROWS), max(1, sum(client.nthreads().values())))


def plan_of_files(
    data: Any,
    partitions: int | None,
    size: Size = Size(),  # noqa: B008
) -> tuple[list[list[Span]], Sequence[str], list[tuple[str, int]]]:
    """Rows of Parquet files cut into partitions of one size, the columns and the sizes of the files."""
    paths = files_of([data] if isinstance(data, str | os.PathLike) else data)
    sizes, names = _sizes(paths)
    n = sum(sizes)
    count = min(n, partitions or size.partitions(n))
    bounds, starts = np.linspace(0, n, count + 1).astype(np.int64), np.cumsum([0, *sizes])
    spans = [_spans(paths, starts, int(low), int(high)) for low, high in pairwise(bounds)]
    return spans, names, list(zip(paths, sizes, strict=True))


def _spans(paths: Sequence[str], starts: Any, low: int, high: int) -> list[Span]:
    """The rows low..high - 1 of files that follow each other."""
    found = []
    for path, (first, last) in zip(paths, pairwise(starts.tolist()), strict=True):
        if max(low, first) < min(high, last):
            found.append(Span(path, max(low, first) - first, min(high, last) - first))
    return found


def files_of(patterns: Sequence[Any]) -> list[str]:
    """The files of names and patterns, those of a pattern in the order of their names."""
    found: list[str] = []
    for pattern in map(os.fspath, patterns):
        some = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
        if not some:
            raise DataError(f"{pattern}: there is no such file")
        found += [os.path.abspath(path) for path in some]
    return found


def _sizes(paths: Sequence[str]) -> tuple[list[int], list[str]]:
    """The rows of each file, and the columns, which must be the same."""
    from clustruct.data.io.column_files import open_parquet

    sizes, names = [], list[str]()
    for path in paths:
        held = open_parquet(Path(path))
        if names and set(held.schema_arrow.names) != set(names):
            raise DataError(f"{path}: not the columns of {paths[0]}")
        names = names or list(held.schema_arrow.names)
        sizes.append(int(held.metadata.num_rows))
        held.close()
    return sizes, names


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
    tally = FieldTally(work.features.needs_, "the table", work.features.readings_)
    if table.num_rows:
        tally.add(table_of(table, work.about.id))
    counts = {name: asdict(count) for name, count in tally.counts.items()}
    return {"rows": table.num_rows, "needs": counts, "fields": list(tally.fields)}


def judge(work: WorkDirectory, stats: Sequence[Stats]) -> None:
    """`DataError` where the table as a whole lacks what the features need."""
    tally = FieldTally(work.features.needs_, "the table", work.features.readings_)
    for one in stats:
        tally.fields.update(dict.fromkeys(one["fields"]))
        for name, count in one["needs"].items():
            tally.counts[name] = tally.counts.get(name, FieldCount()) + FieldCount(**count)
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


def blocking_of(work: WorkDirectory) -> Blocking:
    """The blocking of the model; a table for a cluster has one."""
    found = work.features.blocking_
    assert found is not None
    return found
