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
from clustruct.datasets import make_synth
from clustruct.problems import ClusteringProblem
from studies.results import Results

CURVES: dict[str, dict[str, Any]] = {
    "n": {"label": "sets", "values": [5, 10, 20, 40], "make": lambda v: {"n_sets": v}},
    "k": {
        "label": "clusters",
        "values": [2, 4, 5, 10],
        "make": lambda v: {"n_clusters": v, "cluster_size": 100 // v},
    },
    "N": {"label": "features", "values": [750, 1500, 3000, 6000], "make": lambda v: {"region_size": v // 15}},
    "m": {"label": "items", "values": [50, 100, 200, 400], "make": lambda v: {"cluster_size": v // 5}},
}
C, LIMIT, REPEATS = 1e4, 1000, 20


def training_seconds(options: dict[str, Any], oracle: str, limit: int, repeats: int) -> float:
    """Median CPU seconds of a training."""
    seconds = []
    for seed in range(repeats):
        X, y = make_synth(**options, random_state=seed)
        problem = ClusteringProblem(X, y, oracle=oracle)
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ssvm.fit(problem, C, rtol=0.01, max_iter=limit)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds))


def curves(results: Results, quick: bool) -> list[dict[str, Any]]:
    """The four curves for each oracle; --quick: two points, one training of ten rounds each."""
    rows, limit = [], 10 if quick else LIMIT
    for oracle in ("iterative", "spectral"):
        training_seconds({"n_sets": 2, "cluster_size": 4}, oracle, limit, 1)  # compiles
        for name, curve in CURVES.items():
            values = curve["values"][:2] if quick else curve["values"]
            seconds = [
                results.get(
                    f"{oracle}, {name} = {v}",
                    lambda v=v, o=oracle, m=curve["make"]: training_seconds(
                        m(v), o, limit, 1 if quick else REPEATS
                    ),
                )
                for v in values
            ]
            slope = float(np.polyfit(np.log(values), np.log(np.maximum(seconds, 1e-6)), 1)[0])
            rows.append(
                {"oracle": oracle, "varied": name, "values": values, "seconds": seconds, "exponent": slope}
            )
    return rows
