"""Stages on a cluster: pieces of work, or an exchange of rows between partitions by Dask's shuffle."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clustruct.callbacks import Work as Progress
from clustruct.callbacks import peak_memory, working
from clustruct.exceptions import ClusterError

from .cluster import Client, answering
from .workdir import Stats, Work

# How often a piece of work that failed by a fault of its machine is tried again.
RETRIES = 2
# The column that says to which piece a row goes.
TO = "to"
# Makes rows, with the column TO, of piece k of what is there; ends a stage with the rows of piece k.
Make = Callable[[Work, int], Any]
Finish = Callable[[Work, int, Any], Stats]


@dataclass(frozen=True)
class Engine:
    """A cluster at work in a directory."""

    client: Client
    work: Work

    def each(self, stage: str, make: Callable[[Work, int], Stats], n: int) -> list[Stats]:
        """Make the pieces of a stage, each by itself; those that are there are not made again."""
        return self._ran(stage, n, lambda missing: [_delayed(stage, k)(make, self.work, k) for k in missing])

    def given(self, stage: str, keep: Finish, things: Sequence[Any]) -> list[Stats]:
        """Pieces of a stage made of things that are to be computed."""
        return self._ran(
            stage,
            len(things),
            lambda missing: [_delayed(stage, k)(keep, self.work, k, things[k]) for k in missing],
        )

    def exchange(
        self, stage: str, make: Make, meta: dict[str, str], finish: Finish, n_from: int, n_to: int
    ) -> list[Stats]:
        """Rows of ``n_from`` pieces go where their column TO says, and ``n_to`` pieces are made of them.

        meta : the types of the columns, without TO
        """

        def tasks(missing: Sequence[int]) -> list[Any]:
            parts = self._shuffled(stage, make, meta, n_from, n_to)
            return [_delayed(stage, k)(finish, self.work, k, parts[k]) for k in missing]

        return self._ran(stage, n_to, tasks)

    def _shuffled(self, stage: str, make: Make, meta: dict[str, str], n_from: int, n_to: int) -> list[Any]:
        import dask.dataframe as dd

        made = partial(_made, stage, make, self.work, tuple(meta))
        frame = dd.from_map(made, list(range(n_from)), meta=empty(meta), label=f"{stage}-rows")
        divisions = list(range(n_to + 1))
        moved = frame.set_index(TO, divisions=divisions, shuffle_method="p2p", sort=True)
        return list(moved.to_delayed())

    def _ran(self, stage: str, n: int, tasks: Callable[[Sequence[int]], list[Any]]) -> list[Stats]:
        missing = [k for k in range(n) if not self.work.is_done(stage, k)]
        with working(stage, n) as progress:
            progress.advance(n - len(missing))
            if missing:
                with answering(self.client, stage):
                    self._wait(self.client.compute(tasks(missing), retries=RETRIES), progress)
            stats = [self.work.stats(stage, k) for k in range(n)]
            self._told(stage, progress)
            progress.keep(**{name: sum(one[name] for one in stats) for name in _counts(stats)})
        return stats

    def _told(self, stage: str, progress: Progress) -> None:
        """How many rows and bytes were exchanged."""
        notes = self.work.notes(stage)
        if notes:
            progress.keep(moved=sum(one["rows"] for one in notes), bytes=sum(one["bytes"] for one in notes))

    def _wait(self, futures: list[Any], progress: Progress) -> None:
        from distributed import as_completed

        try:
            for future in as_completed(futures):
                future.result()
                progress.advance()
        finally:
            self.client.cancel([future for future in futures if not future.done()])


def _counts(stats: Sequence[Stats]) -> list[str]:
    return [name for name, value in (stats[0] if stats else {}).items() if type(value) is int]


def empty(meta: dict[str, str]) -> Any:
    """A frame without rows, of these columns and TO."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series([], dtype=kind) for name, kind in {TO: "int32", **meta}.items()})


def _delayed(stage: str, k: int) -> Callable[..., Any]:
    import dask

    return partial(dask.delayed(partial(_finished, stage), pure=False), dask_key_name=f"{stage}-{k}")


def _made(stage: str, make: Make, work: Work, columns: Sequence[str], k: int) -> Any:
    """The rows of piece k, in the order of columns that the shuffle was told of."""
    began = time.thread_time()
    with _naming(stage, k):
        frame = make(work, k)[[TO, *columns]]
    n_bytes = int(frame.memory_usage(index=False).sum())
    cost = {"rows": len(frame), "bytes": n_bytes, "cpu": time.thread_time() - began, "peak": peak_memory()}
    work.note(stage, k, cost)
    return frame


def _finished(stage: str, finish: Callable[..., Stats], work: Work, k: int, *given: Any) -> Stats:
    began = time.thread_time()
    with _naming(stage, k):
        stats = finish(work, k, *given)
    cost = {
        "cpu": time.thread_time() - began,
        "peak": peak_memory(),
        "bytes": work.path(stage, k).stat().st_size,
    }
    return work.finish(stage, k, {**stats, "cost": cost})


class _naming:
    """Want of memory is told with the stage and the partition."""

    def __init__(self, stage: str, k: int) -> None:
        self.where = f"{stage}, partition {k}"

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            raise ClusterError(
                f"{self.where}: not enough memory; give workers more, or cut the table into more partitions"
            ) from None
