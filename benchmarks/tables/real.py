"""The real tables, each as one table: the clusters of five folds are labelled, the whole table is grouped.

The labels are not used in grouping. Pairs that touch the other five folds count; then the folds change sides.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables.made import figures
from benchmarks.tables.scores import Labels
from benchmarks.tables.table import ENTITY, ID
from benchmarks.tables.tools import Job, run
from studies.data import data_folder

NAMES = ("abt_buy", "amazon_google", "cora", "dblp_acm", "walmart_amazon")
BESIDE = ("movies", "febrl3", "febrl4", "cddb")
HALVES = (range(5), range(5, 10))
NOT_FIELDS = ("record_id", "cluster_id", "fold")
Rows = list[dict[str, str]]


def read(name: str) -> Rows:
    """The rows of a table of CLUSTRUCT_DATA."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("set CLUSTRUCT_DATA to the folder with the third-party data")
    with gzip.open(folder / f"entity_resolution/{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def entities(rows: Rows) -> Labels:
    """The number of each row's cluster."""
    return np.unique([row["cluster_id"] for row in rows], return_inverse=True)[1].astype(np.int64)


def write(rows: Rows, path: Path, labelled: np.ndarray) -> None:
    """id, entity of the labelled rows, and the fields, the source among them; not the fold."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = [name for name in rows[0] if name not in NOT_FIELDS]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([ID, ENTITY, *fields])
        for k, (row, e, known) in enumerate(zip(rows, entities(rows), labelled, strict=True)):
            out.writerow([k, e if known else "", *(row[name] for name in fields)])


def compare(
    names: Iterable[str], tools: Iterable[str], job: Job, similarities: Sequence[str] = ("linear",)
) -> Iterator[dict[str, Any]]:
    """Each tool on each table, both directions; clustruct with each of the similarities."""
    for name in names:
        rows = read(name)
        for tool in tools:
            for title, one in _variants(tool, job, similarities):
                yield {"table": name, "rows": len(rows), "tool": title, **_both(rows, name, tool, one)}


def _variants(tool: str, job: Job, similarities: Sequence[str]) -> Iterator[tuple[str, Job]]:
    """A tool's title and job; the linear similarity is clustruct's own choice and is not in its title."""
    for similarity in similarities if tool == "clustruct" else ("linear",):
        if similarity == "linear":
            yield tool, job
        else:
            more = (*job.fit_options, "--similarity", similarity)
            yield f"{tool}, {similarity}", replace(job, fit_options=more)


def _both(rows: Rows, name: str, tool: str, job: Job) -> dict[str, Any]:
    """The mean F of both directions, each of them, and the means of what they took."""
    found = [_one(rows, name, tool, job, half) for half in HALVES]
    scores = [one["F"] for one in found if "F" in one]
    if len(scores) < len(found):
        return {"remark": "out of time"}
    shared = {key: float(np.mean([one[key] for one in found])) for key in found[0] if key != "F"}
    return {"F": float(np.mean(scores)), "folds 0-4": scores[0], "folds 5-9": scores[1], **shared}


def _one(rows: Rows, name: str, tool: str, job: Job, half: range) -> dict[str, Any]:
    labelled = np.array([int(row["fold"]) in half for row in rows])
    job = replace(job, table=job.folder / f"{name}-{half.start}.csv", shape=name)
    write(rows, job.table, labelled)
    return figures(run(tool, job), entities(rows), labelled)
