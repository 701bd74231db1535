"""Stages on a cluster: pieces of work, or an exchange of rows between partitions."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.callbacks import Work, peak_memory, working
from clustruct.core.exceptions import ClusterError

from .cluster import Client, answering, as_completed
from .workdir import TO, Stats, WorkDirectory, read_rows, write_rows

# How often a piece of work that failed by a fault of its machine is tried again.
RETRIES = 2
# Up to so many pieces exchange rows by files; more by Dask's shuffle.
MOST_FILES = 256
# Makes rows (`rows_to`) of piece k of what is there; ends a stage with the rows of piece k.
Make = Callable[[WorkDirectory, int], Any]
Finish = Callable[[WorkDirectory, int, Any], Stats]


@dataclass(frozen=True)
class StageRunner:
    """A cluster at work in a directory."""

    client: Client
    work: WorkDirectory

    def each(self, stage: str, make: Callable[[WorkDirectory, int], Stats], n: int) -> list[Stats]:
        """Make the pieces of a stage, each by itself; those that are there are not made again."""
        call = partial(_finish_piece, stage, make)
        return self._run(stage, n, [self._task(stage, k, call) for k in self._missing(stage, n)])

    def each_thing(self, stage: str, keep: Finish, things: Sequence[Any]) -> list[Stats]:
        """Pieces of a stage made of things that are to be computed."""
        n, call = len(things), partial(_finish_piece, stage, keep)
        return self._run(stage, n, [self._task(stage, k, call, things[k]) for k in self._missing(stage, n)])

    def exchange(
        self, stage: str, make: Make, meta: dict[str, Any], finish: Finish, n_from: int, n_to: int
    ) -> list[Stats]:
        """Rows of ``n_from`` pieces go where their column TO says, and ``n_to`` pieces are made of them.

        meta : the types of the columns, without TO, as frames have them
        """
        missing = self._missing(stage, n_to)
        if not missing:
            return self._run(stage, n_to)
        if max(n_from, n_to) > MOST_FILES:
            parts = self._shuffle(stage, make, meta, n_from, n_to)
            call = partial(_finish_piece, stage, partial(_finish_frame, finish))
            return self._run(stage, n_to, [self._task(stage, k, call, parts[k]) for k in missing])
        write, read = partial(_write_piece, stage, make, n_to), partial(_read_piece, finish, stage, n_from)
        unwritten = [k for k in range(n_from) if not self.work.has_rows(stage, k)]
        writing = [self._task(f"{stage}-rows", k, write) for k in unwritten]
        reading = [self._task(stage, k, partial(_finish_piece, stage, read)) for k in missing]
        found = self._run(stage, n_to, writing, reading)
        self.work.drop_exchanged_rows(stage)
        return found

    def _shuffle(self, stage: str, make: Make, meta: dict[str, Any], n_from: int, n_to: int) -> list[Any]:
        import dask.dataframe as dd

        made = partial(_make_frame, stage, make, self.work, meta)
        frame = dd.from_map(made, list(range(n_from)), meta=empty(meta), label=f"{stage}-rows")
        divisions = list(range(n_to + 1))
        moved = frame.set_index(TO, divisions=divisions, shuffle_method="p2p", sort=True)
        return list(moved.to_delayed())

    def _task(self, stage: str, k: int, call: Callable[..., Any], *given: Any) -> Any:
        """A delayed call for piece k, under a name that says what it is for, in this run alone."""
        import dask

        name = f"{stage}-{self.work.token[:8]}-{k}"
        limited = partial(call_with_blas_limit, call)
        return dask.delayed(limited, pure=False)(self.work, k, *given, dask_key_name=name)

    def _missing(self, stage: str, n: int) -> list[int]:
        return [k for k in range(n) if not self.work.is_done(stage, k)]

    def _run(self, stage: str, n: int, *steps: list[Any]) -> list[Stats]:
        """The stats of the n pieces of a stage, after steps of tasks, each of which waits for the last."""
        done = n - len(steps[-1]) if steps else n
        with working(stage, done + sum(map(len, steps))) as progress:
            progress.advance(done)
            for tasks in filter(None, steps):
                with answering(self.client, stage):
                    self._wait(self.client.compute(tasks, retries=RETRIES), progress)
            stats = [self.work.stats(stage, k) for k in range(n)]
            if notes := self.work.notes(stage):  # rows and bytes that were exchanged
                progress.keep(
                    moved=sum(one["rows"] for one in notes), bytes=sum(one["bytes"] for one in notes)
                )
            progress.keep(**{name: sum(one[name] for one in stats) for name in _counts(stats)})
        return stats

    def _wait(self, futures: list[Any], progress: Work) -> None:
        try:
            for future in as_completed(self.client, futures):
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


def _write_piece(stage: str, make: Make, n_to: int, work: WorkDirectory, k: int) -> None:
    """The rows of piece k, written for the others."""
    began = time.thread_time()
    with _piece_of(stage, k):
        table = make(work, k)
        n_bytes = write_rows(work, stage, k, table, n_to)
    _note(work, stage, k, len(table), n_bytes, began)


def _read_piece(finish: Finish, stage: str, n_from: int, work: WorkDirectory, k: int) -> Stats:
    return finish(work, k, read_rows(work, stage, k, n_from))


def _make_frame(stage: str, make: Make, work: WorkDirectory, meta: dict[str, Any], k: int) -> Any:
    """The rows of piece k as a frame, its columns in the order of ``meta``."""
    import pandas as pd

    began = time.thread_time()
    with _piece_of(stage, k):
        table = make(work, k)
        types = {TO: "int32", **meta}
        frame = pd.DataFrame({name: pd.Series(table.column(name), dtype=types[name]) for name in types})
    _note(work, stage, k, len(frame), int(table.nbytes), began)
    return frame


def _finish_frame(finish: Finish, work: WorkDirectory, k: int, frame: Any) -> Stats:
    import pyarrow as pa

    return finish(work, k, pa.Table.from_pandas(frame, preserve_index=False))


def _note(work: WorkDirectory, stage: str, k: int, rows: int, n_bytes: int, began: float) -> None:
    work.note(stage, k, {"rows": rows, "bytes": n_bytes, **_spent(began)})


def _spent(began: float) -> Stats:
    """What a piece of work took since then."""
    return {"cpu": time.thread_time() - began, "peak": peak_memory()}


def _finish_piece(
    stage: str, finish: Callable[..., Stats], work: WorkDirectory, k: int, *given: Any
) -> Stats:
    began = time.thread_time()
    with _piece_of(stage, k):
        stats = finish(work, k, *given)
    cost = {**_spent(began), "bytes": work.path(stage, k).stat().st_size}
    return work.finish(stage, k, {**stats, "cost": cost})


@contextmanager
def _piece_of(stage: str, k: int) -> Iterator[None]:
    """A piece of work on a worker: an error for want of memory names the stage and the partition."""
    keep_freed_memory()
    try:
        yield
    except MemoryError:
        raise ClusterError(
            f"{stage}, partition {k}: not enough memory; give workers more, or cut the table into more "
            "partitions"
        ) from None


# Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536, so that memory they free goes back to the
# system at once. Then every large array of NumPy is new memory, page by page: scoring pairs took 4.2 CPU s
# instead of 3.3. So workers keep up to 64 MB of what they free, in the work on tables. Not in training:
# there shards that went to disk are freed, and a worker whose memory does not shrink by that is paused for
# good. Numbers of glibc's mallopt, and bytes: what is kept at the end of the heap, and from where on an
# array has memory of its own (the largest that glibc allows).
TRIM, KEPT = -1, 64 << 20
OWN, LARGE = -3, 32 << 20


@cache
def keep_freed_memory() -> None:
    """Once for each process; nothing where the C library is not glibc."""
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(TRIM, KEPT)
        library.mallopt(OWN, LARGE)
