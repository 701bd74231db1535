"""The timing curves of section 4.5.7 (Figures 4.1 to 4.4).

CPU seconds of a training on Synth while n, k, N or m varies, and the exponent of each curve (the slope of log
time on log size).
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clustruct import ssvm
from clustruct.data.datasets import make_synth
from clustruct.learning.problems import ClusteringProblem
from studies.results import Results

# The basic set is one of the sizes of each curve: 5 sets, 5 clusters, 750 features, 100 items.
CURVES: dict[str, dict[str, Any]] = {
    "n": {"label": "sets", "values": [2, 5, 10, 20], "make": lambda v: {"n_sets": v}},
    "k": {
        "label": "clusters",
        "values": [2, 5, 10],
        "make": lambda v: {"n_clusters": v, "cluster_size": 100 // v, "region_size": 1500 // (v * (v + 1))},
    },
    "N": {"label": "features", "values": [375, 750, 1500, 3000], "make": lambda v: {"region_size": v // 15}},
    "m": {"label": "items", "values": [50, 100, 150, 200], "make": lambda v: {"cluster_size": v // 5}},
}
BASIC = {"n_sets": 5, "n_clusters": 5, "cluster_size": 20, "region_size": 50}
C, LIMIT = 1e4, 1000


def training(options: dict[str, Any], oracle: str, limit: int, seed: int) -> dict[str, Any]:
    """CPU seconds of a training, its rounds, and what was left of the gap."""
    X, y = make_synth(**options, random_state=seed)
    problem = ClusteringProblem(X, y, oracle=oracle)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = ssvm.fit(problem, C, rtol=0.01, max_iter=limit)
    seconds = time.process_time() - started
    return {"seconds": seconds, "rounds": found.n_iter, "gap": found.gap / found.objective}


def curves(results: Results, quick: bool, *, repeats: int = 20) -> list[dict[str, Any]]:
    """The four curves for each oracle; --quick: two points, one training of ten rounds each."""
    rows, repeats = [], 1 if quick else repeats
    for oracle in ("iterative", "spectral"):
        training({"n_sets": 2, "cluster_size": 4}, oracle, 10, 0)  # compiles
        for name, curve in CURVES.items():
            values = curve["values"][:2] if quick else curve["values"]
            points = [_point(results, quick, oracle, {**BASIC, **curve["make"](v)}, repeats) for v in values]
            seconds = [point["seconds"] for point in points]
            slope = float(np.polyfit(np.log(values), np.log(np.maximum(seconds, 1e-6)), 1)[0])
            row = {"oracle": oracle, "varied": name, "values": values, "exponent": slope, "repeats": repeats}
            rows.append(row | {key: [point[key] for point in points] for key in points[0]})
    return rows


def _point(
    results: Results, quick: bool, oracle: str, options: dict[str, Any], repeats: int
) -> dict[str, float]:
    """Medians over the repeats, each of which is kept; and the largest gap left."""
    words = ", ".join(f"{key} {value}" for key, value in options.items())
    found = [
        results.get(
            f"{oracle}, {words}, seed {seed}",
            lambda seed=seed: training(options, oracle, 10 if quick else LIMIT, seed),
        )
        for seed in range(repeats)
    ]
    medians = {key: float(np.median([one[key] for one in found])) for key in ("seconds", "rounds")}
    return medians | {"gap": max(one["gap"] for one in found)}
