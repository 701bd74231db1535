"""Synth under noise, like Table 4.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.data.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.estimators.baselines import PairKMeans, UntrainedKMeans
from studies.kmeans2008.protocol import Methods, as_dict
from studies.nested_cv import nested_leave_one_out
from studies.results import Results

# Table 4.2. With these C the problem is that of the paper, in its units.
GRID = [1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]
TRAINED = {"rescale": False, "max_iter": 1000}
METHODS: Methods = {
    "Iterative": (SupervisedKMeans(oracle="iterative", **TRAINED), GRID),
    "Spectral": (SupervisedKMeans(oracle="spectral", **TRAINED), GRID),
    "Centred": (SupervisedKMeans(oracle="centred", **TRAINED), GRID),
    "Pair": (PairKMeans(), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
    "None": (UntrainedKMeans(), None),
}
# One draw, as in the paper, and two more.
SEEDS = range(3)


def synth(results: Results, quick: bool, *, noise: float) -> list[dict[str, Any]]:
    """Draws of five sets; a row per method: the mean loss, and that of each predictor."""
    columns: dict[str, list[dict[str, Any]]] = {}
    size = {"n_sets": 3, "n_clusters": 2, "cluster_size": 5} if quick else {}
    for seed in SEEDS[:1] if quick else SEEDS:
        X, y = make_synth(noise=noise, random_state=seed, **size)
        for name, (estimator, grid_of_C) in METHODS.items():
            keep = lambda key, make, name=name, seed=seed: results.get(f"{name}, seed {seed}, {key}", make)  # noqa: E731
            rows = nested_leave_one_out(estimator, X, y, C_grid=grid_of_C, keep=keep)
            columns.setdefault(name, []).extend(as_dict(row) for row in rows)
    return [{"method": name, "noise": noise, **_means(rows)} for name, rows in columns.items()]


def _means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    allowed = [p for p in rows[0]["outer"] if all(p in row["outer"] for row in rows)]
    by = {p: float(np.mean([row["outer"][p] for row in rows])) for p in allowed}
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    return {
        "loss": float(np.mean([row["loss"] for row in rows])),
        "losses": [row["loss"] for row in rows],
        "chosen": sorted({(row["predictor"], row["C"]) for row in rows}, key=str),
        "by predictor": by,
        "seconds": float(np.mean([row["seconds"] for row in rows])),
        "gap": max(gaps, default=None),
    }
