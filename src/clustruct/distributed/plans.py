"""Which rows of which files each partition of a table is made of."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.exceptions import DataError

from .cluster import Client
from .workdir import Span

# Rows of a partition, where nobody says how many partitions there are to be: as many as a worker can hold
# twice with what is made of them, by its memory; so many where it has no limit.
ROWS, FEWEST_ROWS, BYTES_OF_ROW = 250_000, 1000, 16_000


@dataclass(frozen=True)
class Plan:
    """The rows of each partition, the columns of the files, and the sizes of the files."""

    spans: Sequence[Sequence[Span]]
    columns: Sequence[str]
    sizes: Sequence[tuple[str, int]]


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


def plan_of_files(data: Any, partitions: int | None, size: Size = Size()) -> Plan:  # noqa: B008
    """Rows of Parquet files cut into partitions of one size."""
    paths = files_of([data] if isinstance(data, str | os.PathLike) else data)
    sizes, names = _sizes(paths)
    n = sum(sizes)
    count = min(n, partitions or size.partitions(n))
    bounds, starts = np.linspace(0, n, count + 1).astype(np.int64), np.cumsum([0, *sizes])
    spans = [_spans(paths, starts, int(low), int(high)) for low, high in pairwise(bounds)]
    return Plan(spans, names, list(zip(paths, sizes, strict=True)))


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
