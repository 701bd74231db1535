"""A table of persons grouped by one process and by two workers: the same labels, the cost of each stage."""

from __future__ import annotations

import heapq
import json
import os
import resource
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import clustruct
from benchmarks.tables.made import SHAPES
from benchmarks.tables.table import Table as MadeTable
from clustruct import Recipe, Table
from clustruct.core.callbacks import Callback, Cost, training_callback
from clustruct.distributed import Grouped, connected, predict
from clustruct.pipeline import group, score_set

Row = dict[str, Any]
# The model is learned once, from a table of so many rows with so many labelled clusters.
LEARNED_FROM, LABELLED = 20_000, 400
WARM = 22_000


def model_for(folder: Path) -> Any:
    """The model of all runs, kept in the folder."""
    path = folder / "persons.model"
    if not path.exists():
        table = SHAPES["persons"].make(LEARNED_FROM, 1)
        labelled = table.labelled(LABELLED, 1)
        shown = [int(e) if known else None for e, known in zip(table.entity, labelled, strict=True)]
        raw = Table.from_frame(arrow(table), id="id")
        folder.mkdir(parents=True, exist_ok=True)
        clustruct.save(path, Recipe().fit([Table(raw.items, labels=shown)]).pipeline_)
    return clustruct.load(path)


def arrow(table: MadeTable) -> pa.Table:
    """The fields of a table, without its entities."""
    cells = {
        name: pa.array([cell or None for cell in c.tolist()], pa.string())
        for name, c in table.columns.items()
    }
    return pa.table({"id": np.arange(len(table)), **cells})


def written(table: pa.Table, folder: Path, files: int = 4) -> str:
    """The table in files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = -(-len(table) // files)
    for k in range(files):
        pq.write_table(table.slice(k * size, size), folder / f"part-{k:03d}.parquet")
    return str(folder / "part-*.parquet")


def read_labels(folder: Path) -> Any:
    """The labels that were written, in order."""
    parts = [pq.read_table(path, columns=["cluster"]) for path in sorted(folder.glob("*.parquet"))]
    return pa.concat_tables(parts)["cluster"].to_numpy()


def in_one_process(table: pa.Table, model: Any) -> tuple[Any, Row]:
    """Labels, and what they took."""
    started, cpu = time.perf_counter(), time.process_time()
    labels = group(model, score_set(model, Table.from_frame(table, id="id"))).labels
    took = {"wall s": time.perf_counter() - started, "CPU s": time.process_time() - cpu}
    return labels, {**took, "GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


class WorkerCost(Callback):
    """CPU seconds of all workers and wall seconds, by stage."""

    def __init__(self, client: Any) -> None:
        self.client, self.found, self.began = client, dict[str, Row](), (0.0, 0.0)

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), sum(self.client.run(time.process_time).values())

    def on_open(self, stage: str, total: int | None) -> None:
        self.began = self._now()

    def on_close(self, cost: Cost) -> None:
        wall, cpu = (now - then for now, then in zip(self._now(), self.began, strict=True))
        self.found[cost.stage] = {"wall s": wall, "CPU s": cpu, **cost.kept}


def on_workers(
    files: str, model: Any, out: Path, client: Any, partitions: int | None = None, resume: bool = False
) -> tuple[Any, Grouped, dict[str, Row]]:
    """Labels, what was made, and the cost of each stage."""
    for folder in (out,) if resume else (out, Path(f"{out}.work")):
        shutil.rmtree(folder, ignore_errors=True)
    costs = WorkerCost(client)
    with training_callback(costs):
        found = predict(files, model, out, client=client, id="id", partitions=partitions)
    return read_labels(out), found, costs.found


def files_of(n_rows: int, folder: Path, seed: int = 0) -> str:
    """A table of persons in files, made once."""
    kept = folder / f"table-{n_rows}-{seed}"
    if kept.exists():
        return str(kept / "part-*.parquet")
    return written(arrow(SHAPES["persons"].make(n_rows, seed)), kept)


def alone(n_rows: int, folder: Path, model: Any) -> tuple[Any, Row]:
    """What one process makes of the table, and what it took: measured once, and kept in the folder."""
    labels, costs = folder / f"alone-{n_rows}.npy", folder / f"alone-{n_rows}.json"
    if not costs.exists():
        table = pq.read_table(folder / f"table-{n_rows}-0")
        in_one_process(table.slice(0, WARM), model)
        load = os.getloadavg()[0]
        here, row = in_one_process(table, model)
        np.save(labels, here)
        costs.write_text(json.dumps({**row, "load of the machine": load}))
    found: Row = json.loads(costs.read_text())
    return np.load(labels), found


def peak(found: Grouped) -> float:
    """The most gigabytes that a worker has held."""
    parts = [*found.exchanged.values(), [one["cost"] for stats in found.stages.values() for one in stats]]
    return max(one["peak"] or 0 for stats in parts for one in stats) / 2**30


@contextmanager
def two_workers(folder: Path, memory: str) -> Iterator[Any]:
    """A client of two workers, on which all is imported and compiled; smaller tables keep all candidates."""
    with connected("local", n_workers=2, memory_limit=memory) as client:
        on_workers(files_of(WARM, folder), model_for(folder), folder / "warm-out", client, 2)
        yield client


def compare(
    n_rows: int, folder: Path, client: Any, memory: str, partitions: int | None = None, resume: bool = False
) -> Row:
    """One process and two workers, on one table."""
    model, files = model_for(folder), files_of(n_rows, folder)
    here, one = alone(n_rows, folder, model)
    load = os.getloadavg()[0]
    began, cpu = time.perf_counter(), sum(client.run(time.process_time).values())
    labels, found, stages = on_workers(files, model, folder / f"out-{n_rows}", client, partitions, resume)
    wall = time.perf_counter() - began
    cpu = sum(client.run(time.process_time).values()) - cpu
    there = {"wall s": wall, "CPU s": cpu, "GB": peak(found), "memory limit": memory}
    return {
        "rows": n_rows,
        "partitions": len(found.stages["reading"]),
        "same labels": bool(np.array_equal(here, labels)),
        "clusters": int(here.max()) + 1,
        "one process": one,
        "two workers": {**there, "load of the machine": load, "taken up": resume},
        "stages": by_stage(stages, found),
    }


def by_stage(stages: Mapping[str, Row], found: Grouped) -> dict[str, Row]:
    """CPU, rows and bytes exchanged, bytes written and peak of each stage."""
    out = {}
    for stage, cost in stages.items():
        made: Sequence[Row] = found.exchanged.get(stage, ())
        done = [one["cost"] for one in found.stages[stage]]
        out[stage] = {
            **cost,
            "make CPU s": sum(one["cpu"] for one in made),
            "finish CPU s": sum(one["cpu"] for one in done),
            "longest way CPU s": of_longest(made) + of_longest(done),
            "bytes moved": sum(one["bytes"] for one in made),
            "bytes written": sum(one["bytes"] for one in done),
            "peak GB": max((one["peak"] or 0 for one in [*made, *done]), default=0) / 2**30,
        }
    return out


def of_longest(pieces: Sequence[Row], workers: int = 2) -> float:
    """CPU seconds until workers of their own core each are done with pieces, which they take in order.

    >>> of_longest([{"cpu": 3.0}, {"cpu": 1.0}, {"cpu": 1.0}, {"cpu": 2.0}])
    4.0
    """
    ends = [0.0] * workers
    for one in pieces:
        heapq.heapreplace(ends, ends[0] + one["cpu"])
    return max(ends)
