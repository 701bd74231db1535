"""Workers killed at random moments, and tables that are hard to spread."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.distributed.tables import (
    Row,
    arrow,
    in_one_process,
    model_for,
    on_workers,
    peak,
    read_labels,
    written,
)
from benchmarks.distributed.training import collection
from benchmarks.tables.made import SHAPES
from clustruct import ssvm
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ClusterError
from clustruct.distributed import DaskExecutor, connected, predict
from clustruct.learning.problems import ClusteringProblem

STAGES = "reading terms keys neighbours pairs asked records scores components-0 inside groups members labels"


class Kill(Callback):
    """Kills a worker some time after a stage began, and what takes its place as often as told."""

    def __init__(self, cluster: Any, stage: str, delay: float, worker: int, times: int = 1) -> None:
        self.nanny = list(cluster.workers.values())[worker]
        self.stage, self.delay, self.times = stage, delay, times
        self.killed: list[int] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._kill)

    def on_open(self, stage: str, total: int | None) -> None:
        if stage == self.stage:
            self.thread.start()

    def _kill(self) -> None:
        # No kill after the end of the run: it would hit the worker of the next run, perhaps while it starts,
        # and a nanny whose process dies while it starts does not start another.
        while len(self.killed) < self.times and not self.ended.wait(self.delay if not self.killed else 0.01):
            process = self.nanny.process
            if process is not None and process.pid and process.pid not in self.killed:
                os.kill(process.pid, signal.SIGKILL)
                self.killed.append(process.pid)

    def end(self) -> None:
        self.ended.set()
        if self.thread.ident:
            self.thread.join()


def kills(runs: int, folder: Path, n_rows: int = 4000, partitions: int = 4, seed: int = 0) -> Row:
    """Each run: SIGKILL to one of two workers at a random moment of a random stage.

    In every fifth run what takes the worker's place is killed too, twice, as it starts. A run
    that ended before its moment came is made again with another draw.
    """
    rng = np.random.default_rng(seed)
    model, table = model_for(folder), arrow(SHAPES["persons"].make(n_rows, 3))
    files, out = written(table, folder / "kills"), folder / "kills-out"
    here, _ = in_one_process(table, model)
    rows: list[Row] = []
    too_late = 0
    while len(rows) < runs:
        stage, delay = str(rng.choice(STAGES.split())), float(rng.uniform(0.0, 0.5))
        times, worker = 3 if len(rows) % 5 == 4 else 1, int(rng.integers(2))
        for left in (out, Path(f"{out}.work")):
            shutil.rmtree(left, ignore_errors=True)
        with connected("local", n_workers=2) as client:
            kill = Kill(client.cluster, stage, delay, worker, times)
            began = time.perf_counter()
            with training_callback(kill):
                predict(files, model, out, client=client, id="id", partitions=partitions)
            wall = time.perf_counter() - began
            kill.end()
        same = bool(np.array_equal(read_labels(out), here))
        found = {"stage": stage, "after s": delay, "killed": len(kill.killed), "same": same}
        print(len(rows) + 1, found, f"{wall:.1f} s", flush=True)
        if kill.killed or not same:
            rows.append(found)
        else:
            too_late += 1
    return {
        "rows": n_rows,
        "runs": runs,
        "killed": sum(row["killed"] > 0 for row in rows),
        "killed more than once": sum(row["killed"] > 1 for row in rows),
        "same answers": sum(row["same"] for row in rows),
        "ended before the kill, not counted": too_late,
        "each": rows,
    }


def skewed(folder: Path, n_rows: int = 20_000, size: int = 5000, memory: str = "2GB") -> Row:
    """One word in every row, and one person with thousands of rows, a chain: it ends, within the limits."""
    model, table = model_for(folder), SHAPES["persons"].make(n_rows, 4)
    columns = {name: np.char.decode(column).astype(object) for name, column in table.columns.items()}
    rows = np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))
    for column in columns.values():
        column[rows] = column[rows[0]] or "x"
    # Each row shares a telephone with the next one and an address of mail with the one before: a chain.
    columns["phone"][rows] = [f"5550{k // 2:06d}" for k in range(size)]
    columns["email"][rows] = [f"chain{(k + 1) // 2}@one.example" for k in range(size)]
    columns["street"] += " everywhere"
    cells = {name: pa.array([cell or None for cell in column.tolist()]) for name, column in columns.items()}
    made = pa.table({"id": np.arange(n_rows), **cells})
    files = written(made, folder / "skewed")
    with connected("local", n_workers=2, memory_limit=memory) as client:
        began = time.perf_counter()
        labels, found, stages = on_workers(files, model, folder / "skewed-out", client, 4)
        wall = time.perf_counter() - began
    here, alone = in_one_process(made, model)
    costs = {stage: {"wall s": cost["wall s"], "CPU s": cost["CPU s"]} for stage, cost in stages.items()}
    return {
        "rows": n_rows,
        "rows of one person": size,
        "largest cluster": int(np.bincount(labels).max()),
        "rounds of components": sum(stage.startswith("components") for stage in stages),
        "same labels": bool(np.array_equal(here, labels)),
        "worker GB": peak(found),
        "memory limit": memory,
        "wall s": wall,
        "one process": alone,
        "stages": costs,
    }


def memory(folder: Path, n_rows: int = 100_000, limit: str = "800MB", smaller: int = 6) -> Row:
    """A partition that a worker cannot hold: how the run ends, and that it ends well with smaller ones."""
    model, table = model_for(folder), arrow(SHAPES["persons"].make(n_rows, 5))
    files, out, told = written(table, folder / "memory"), folder / "memory-out", ""
    with connected("local", n_workers=2, memory_limit=limit) as client:
        began = time.perf_counter()
        try:
            on_workers(files, model, out, client, 1)
        except ClusterError as error:
            told = str(error).partition("; what is done")[0]
        wall = time.perf_counter() - began
    # Other workers: a nanny whose process ends as it starts gives up, so one of the first two may be gone.
    with connected("local", n_workers=2, memory_limit=limit) as client:
        labels, found, _ = on_workers(files, model, out, client, smaller)
    here, alone = in_one_process(table, model)
    return {
        "rows": n_rows,
        "memory limit": limit,
        "one partition": told,
        "wall s until it was told": wall,
        "partitions then": smaller,
        "same labels": bool(np.array_equal(here, labels)),
        "worker GB": peak(found),
        "one process": alone,
    }


def spilled(dask_worker: Any) -> int:
    """Bytes that a worker has put on its disk."""
    return int(dask_worker.data.spilled_total.disk)


def spill(n_sets: int = 160, n_people: int = 40, limit: str = "1.2GB") -> Row:
    """Training whose sets do not fit in the memory of a worker: Dask puts shards on disk."""
    sets, labels = collection(n_sets, n_people)
    options: Row = {"C": 50.0, "formulation": "one_slack", "rtol": 0.01, "max_iter": 3}
    here = ssvm.fit(ClusteringProblem(sets, labels, oracle="greedy"), **options)
    with connected("local", n_workers=1, memory_limit=limit) as client:
        executor = DaskExecutor(client, n_shards=8)
        there = ssvm.fit(ClusteringProblem(sets, labels, oracle="greedy"), executor=executor, **options)
        on_disk = sum(client.run(spilled).values())
    return {
        "sets": n_sets,
        "bytes of the sets": float(sum(x.pairs.nbytes for x in sets)),
        "memory limit": limit,
        "bytes on disk": on_disk,
        "same w, bit for bit": bool(np.array_equal(here.w, there.w)),
    }
