"""Stages on a cluster: pieces of work, or an exchange of rows between partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.callbacks import Work, peak_memory, working
from clustruct.core.exceptions import ClusterError

from .allocation import keep_freed_memory
from .cluster import Client, answering, completed
from .exchange import TO, read_rows, write_rows
from .workdir import Stats, WorkDirectory

# How often a piece of work that failed by a fault of its machine is tried again.
RETRIES = 2
# Up to so many pieces tell each other rows by files; more by Dask's shuffle.
MOST_FILES = 256
# Makes rows (`exchange.rows_to`) of piece k of what is there; ends a stage with the rows of piece k.
Make = Callable[[WorkDirectory, int], Any]
Finish = Callable[[WorkDirectory, int, Any], Stats]


@dataclass(frozen=True)
class StageRunner:
    """A cluster at work in a directory."""

    client: Client
    work: WorkDirectory

    def each(self, stage: str, make: Callable[[WorkDirectory, int], Stats], n: int) -> list[Stats]:
        """Make the pieces of a stage, each by itself; those that are there are not made again."""
        call = partial(_finished, stage, make)
        return self._ran(stage, n, [self._task(stage, k, call) for k in self._missing(stage, n)])

    def given(self, stage: str, keep: Finish, things: Sequence[Any]) -> list[Stats]:
        """Pieces of a stage made of things that are to be computed."""
        n, call = len(things), partial(_finished, stage, keep)
        return self._ran(stage, n, [self._task(stage, k, call, things[k]) for k in self._missing(stage, n)])

    def exchange(
        self, stage: str, make: Make, meta: dict[str, Any], finish: Finish, n_from: int, n_to: int
    ) -> list[Stats]:
        """Rows of ``n_from`` pieces go where their column TO says, and ``n_to`` pieces are made of them.

        meta : the types of the columns, without TO, as frames have them
        """
        missing = self._missing(stage, n_to)
        if not missing:
            return self._ran(stage, n_to)
        if max(n_from, n_to) > MOST_FILES:
            parts = self._shuffled(stage, make, meta, n_from, n_to)
            call = partial(_finished, stage, partial(_framed, finish))
            return self._ran(stage, n_to, [self._task(stage, k, call, parts[k]) for k in missing])
        write, read = partial(_written, stage, make, n_to), partial(_read_and, finish, stage, n_from)
        unwritten = [k for k in range(n_from) if not self.work.is_made(stage, k)]
        writing = [self._task(f"{stage}-rows", k, write) for k in unwritten]
        reading = [self._task(stage, k, partial(_finished, stage, read)) for k in missing]
        found = self._ran(stage, n_to, writing, reading)
        self.work.drop_made(stage)
        return found

    def _shuffled(self, stage: str, make: Make, meta: dict[str, Any], n_from: int, n_to: int) -> list[Any]:
        import dask.dataframe as dd

        made = partial(_made, stage, make, self.work, meta)
        frame = dd.from_map(made, list(range(n_from)), meta=empty(meta), label=f"{stage}-rows")
        divisions = list(range(n_to + 1))
        moved = frame.set_index(TO, divisions=divisions, shuffle_method="p2p", sort=True)
        return list(moved.to_delayed())

    def _task(self, stage: str, k: int, call: Callable[..., Any], *given: Any) -> Any:
        """A call for piece k that is put off, under a name that says what it is for, in this run alone."""
        import dask

        name = f"{stage}-{self.work.token[:8]}-{k}"
        limited = partial(call_with_blas_limit, call)
        return dask.delayed(limited, pure=False)(self.work, k, *given, dask_key_name=name)

    def _missing(self, stage: str, n: int) -> list[int]:
        return [k for k in range(n) if not self.work.is_done(stage, k)]

    def _ran(self, stage: str, n: int, *steps: list[Any]) -> list[Stats]:
        """What is said of the n pieces of a stage, after steps of tasks, each of which waits for the last."""
        done = n - len(steps[-1]) if steps else n
        with working(stage, done + sum(map(len, steps))) as progress:
            progress.advance(done)
            for tasks in filter(None, steps):
                with answering(self.client, stage):
                    self._wait(self.client.compute(tasks, retries=RETRIES), progress)
            stats = [self.work.stats(stage, k) for k in range(n)]
            self._told(stage, progress)
            progress.keep(**{name: sum(one[name] for one in stats) for name in _counts(stats)})
        return stats

    def _told(self, stage: str, progress: Work) -> None:
        """How many rows and bytes were exchanged."""
        notes = self.work.notes(stage)
        if notes:
            progress.keep(moved=sum(one["rows"] for one in notes), bytes=sum(one["bytes"] for one in notes))

    def _wait(self, futures: list[Any], progress: Work) -> None:
        try:
            for future in completed(self.client, futures):
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


def _written(stage: str, make: Make, n_to: int, work: WorkDirectory, k: int) -> None:
    """The rows of piece k, written for the others."""
    began = time.thread_time()
    with _naming(stage, k):
        table = make(work, k)
        n_bytes = write_rows(work, stage, k, table, n_to)
    _note(work, stage, k, len(table), n_bytes, began)


def _read_and(finish: Finish, stage: str, n_from: int, work: WorkDirectory, k: int) -> Stats:
    return finish(work, k, read_rows(work, stage, k, n_from))


def _made(stage: str, make: Make, work: WorkDirectory, meta: dict[str, Any], k: int) -> Any:
    """The rows of piece k as a frame, in the order of columns that the shuffle was told of."""
    import pandas as pd

    began = time.thread_time()
    with _naming(stage, k):
        table = make(work, k)
        types = {TO: "int32", **meta}
        frame = pd.DataFrame({name: pd.Series(table.column(name), dtype=types[name]) for name in types})
    _note(work, stage, k, len(frame), int(table.nbytes), began)
    return frame


def _framed(finish: Finish, work: WorkDirectory, k: int, frame: Any) -> Stats:
    import pyarrow as pa

    return finish(work, k, pa.Table.from_pandas(frame, preserve_index=False))


def _note(work: WorkDirectory, stage: str, k: int, rows: int, n_bytes: int, began: float) -> None:
    work.note(stage, k, {"rows": rows, "bytes": n_bytes, **_spent(began)})


def _spent(began: float) -> Stats:
    """What a piece of work took since then."""
    return {"cpu": time.thread_time() - began, "peak": peak_memory()}


def _finished(stage: str, finish: Callable[..., Stats], work: WorkDirectory, k: int, *given: Any) -> Stats:
    began = time.thread_time()
    with _naming(stage, k):
        stats = finish(work, k, *given)
    cost = {**_spent(began), "bytes": work.path(stage, k).stat().st_size}
    return work.finish(stage, k, {**stats, "cost": cost})


class _naming:
    """A piece of work on a worker: want of memory is told with the stage and the partition."""

    def __init__(self, stage: str, k: int) -> None:
        self.where = f"{stage}, partition {k}"

    def __enter__(self) -> None:
        keep_freed_memory()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            raise ClusterError(
                f"{self.where}: not enough memory; give workers more, or cut the table into more partitions"
            ) from None
