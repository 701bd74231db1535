"""Records through the ``clustruct`` command alone: folds 0-4 train, 5-9 test."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from studies.command_line import clustruct
from studies.data import data_file
from studies.records.folds import NAMES
from studies.results import Results

TRAIN, TEST = "fold=0,1,2,3,4", "fold=5,6,7,8,9"


def by_command(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Default settings, first five folds to train, last five to test; --quick: cora."""
    rows = [
        {"data": name, **results.get(name, lambda n=name: _one(n))}
        for name in (NAMES[:1] if quick else NAMES)
    ]
    return [*rows, {"data": "mean", "pairwise F": float(np.mean([row["pairwise F"] for row in rows]))}]


def _one(name: str) -> dict[str, Any]:
    data = data_file(f"entity_resolution/{name}.csv.gz")
    columns = ["--set", "fold", "--id", "record_id", "--cluster", "cluster_id"]
    with tempfile.TemporaryDirectory() as there:
        model = Path(there) / "model"
        fitted = clustruct("fit", data, *columns, "--where", TRAIN, "--model", model)
        mean = clustruct("evaluate", data, "--where", TEST, "--model", model).out["mean"]
    return {
        "pairwise F": 100 * mean["pairwise_f1"],
        "B-cubed F": 100 * mean["b_cubed_f1"],
        "test loss": mean["pairwise_loss"],
        "C": fitted.out["C"],
        "CPU seconds of the fit": fitted.cpu_seconds,
    }


def whole_table(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Learn from five folds as one table, group the whole table, judge the other five folds as one table.

    --quick: cora in place of walmart_amazon.
    """
    name = "cora" if quick else "walmart_amazon"
    return results.get(name, lambda: _whole_table(name))


def _whole_table(name: str) -> list[dict[str, Any]]:
    data = data_file(f"entity_resolution/{name}.csv.gz")
    columns = ["--id", "record_id", "--cluster", "cluster_id"]
    with tempfile.TemporaryDirectory() as there:
        model, groups = Path(there) / "model", Path(there) / "groups.csv"
        steps = {
            "fit": clustruct("fit", data, *columns, "--where", TRAIN, "--model", model),
            "predict": clustruct("predict", data, "--model", model, "--out", groups),
            "evaluate": clustruct("evaluate", data, "--where", TEST, "--model", model),
        }
    rows: list[dict[str, Any]] = [
        {"step": name, "seconds": ran.seconds, "CPU seconds": ran.cpu_seconds, "MiB": ran.mebibytes}
        for name, ran in steps.items()
    ]
    found = steps["evaluate"].out
    rows[-1] |= {
        "pairwise F": 100 * found["mean"]["pairwise_f1"],
        "B-cubed F": 100 * found["mean"]["b_cubed_f1"],
        **_blocking(found.get("blocking")),
    }
    return rows


def _blocking(found: dict[str, Any] | None) -> dict[str, Any]:
    return {"recall of blocking": 100 * found["recall"], "pairs": found["pairs"]} if found else {}
