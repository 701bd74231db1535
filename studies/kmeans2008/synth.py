"""Synth under noise, like Table 4.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.baselines import PairKMeans, UntrainedKMeans
from clustruct.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from studies.kmeans2008.protocol import Methods, as_dict
from studies.nested_cv import nested_leave_one_out
from studies.results import Results

METHODS: Methods = {
    "Iterative": (SupervisedKMeans(oracle="iterative"), [0.01, 0.1, 1.0]),
    "Spectral": (SupervisedKMeans(oracle="spectral", max_iter=200), [0.01, 0.1, 1.0]),
    "Centred": (SupervisedKMeans(oracle="centred", max_iter=200), [0.01, 0.1, 1.0]),
    "Pair": (PairKMeans(), [1e-4, 1e-3, 1e-2]),
    "None": (UntrainedKMeans(), None),
}


def synth(results: Results, quick: bool, *, noise: float) -> list[dict[str, Any]]:
    """Five seeds of five sets; a row per method: the mean loss, and that of each predictor."""
    columns: dict[str, list[dict[str, Any]]] = {}
    size = {"n_sets": 3, "n_clusters": 2, "cluster_size": 5} if quick else {}
    for seed in range(1 if quick else 5):
        X, y = make_synth(noise=noise, random_state=seed, **size)
        for name, (estimator, grid_of_C) in METHODS.items():
            keep = lambda key, make, name=name, seed=seed: results.get(f"{name}, seed {seed}, {key}", make)  # noqa: E731
            rows = nested_leave_one_out(estimator, X, y, C_grid=grid_of_C, keep=keep)
            columns.setdefault(name, []).extend(as_dict(row) for row in rows)
    return [{"method": name, "noise": noise, **_means(rows)} for name, rows in columns.items()]


def _means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    by = {p: float(np.mean([row["outer"][p] for row in rows])) for p in rows[0]["outer"]}
    seconds = float(np.mean([row["seconds"] for row in rows]))
    return {"loss": float(np.mean([row["loss"] for row in rows])), "by predictor": by, "seconds": seconds}
