"""Tables made up here: the tools side by side, one row of figures for each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import persons, products
from benchmarks.tables.errors import Flags
from benchmarks.tables.files import read_groups
from benchmarks.tables.measure import CommandFailed
from benchmarks.tables.scores import Labels, touching
from benchmarks.tables.table import Table
from benchmarks.tables.tools import Job, Ran, run

SHAPES: dict[str, persons.Persons | products.Products] = {**persons.SHAPES, **products.SHAPES}
# dedupe holds all scores of a component, and compares in Python.
MOST_ROWS = {"dedupe": 20_000}


def compare(
    shape: str, n_rows: int, clusters: Iterable[int], tools: Iterable[str], job: Job, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Make the table, and let each tool group it with each number of labelled clusters."""
    table = SHAPES[shape].make(n_rows, seed)
    for wanted in clusters:
        labelled = table.labelled(wanted, seed)
        job = replace(job, table=job.folder / f"{shape}-{n_rows}-{wanted}.csv", shape=shape)
        table.write(job.table, labelled)
        about = {"table": shape, "rows": n_rows, "labelled": wanted}
        for tool in tools:
            yield {**about, "tool": tool, **_row(tool, job, table, labelled)}


def _row(tool: str, job: Job, table: Table, labelled: Flags) -> dict[str, Any]:
    if len(table) > MOST_ROWS.get(tool, len(table)):
        return {"remark": "too many rows for it"}
    try:
        return figures(run(tool, job), table.entity, labelled)
    except CommandFailed as failed:
        print(f"failed: {failed}", file=sys.stderr)
        return {"remark": "failed"}


def figures(ran: Ran, entity: Labels, labelled: Flags) -> dict[str, Any]:
    """Scores over the pairs that do not lie within the labelled part, and what each step took."""
    found: dict[str, Any] = {}
    if ran.groups is not None:
        counts = touching(entity, read_groups(ran.groups, len(entity)), ~np.asarray(labelled))
        found |= {"P": counts.precision, "R": counts.recall, "F": counts.f1}
    for step, cost in ran.steps.items():
        found |= {f"{step} CPU s": cost.cpu, f"{step} wall s": cost.wall, f"{step} GB": cost.gigabytes}
    found |= {"CPU s": ran.total.cpu, "GB": ran.total.gigabytes, **ran.told}
    return found if ran.groups is not None else {**found, "remark": "out of time"}


def write(shape: str, n_rows: int, path: Path, seed: int = 0) -> None:
    """The table with all its entities, as a file."""
    SHAPES[shape].make(n_rows, seed).write(path)
