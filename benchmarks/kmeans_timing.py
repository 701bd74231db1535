"""The timing curves of section 4.5.7 and of eigenvectors: `python -m benchmarks.kmeans_timing [--repeats 3]`.

CPU seconds of a training on Synth while n, k, N or m varies, the exponent of each curve (slope of log time
on log size), plots and numbers under out/. ``eigen`` alone times k leading eigenvectors against full eigh.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning

from benchmarks.study import OUT, load, save
from clustruct import ssvm
from clustruct.datasets import make_synth
from clustruct.inference import spectral
from clustruct.problems import ClusteringProblem

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


def training_seconds(options: dict[str, Any], oracle: str, C: float, limit: int, repeats: int) -> float:
    """Median CPU seconds of a training."""
    seconds = []
    for seed in range(repeats):
        X, y = make_synth(**options, random_state=seed)
        problem = ClusteringProblem(X, y, oracle=oracle)
        started = time.process_time()
        ssvm.fit(problem, C, rtol=0.01, max_iter=limit)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds))


def curves(repeats: int, oracles: list[str], wanted: list[str], C: float, limit: int) -> None:
    """The curves wanted for each oracle; those of earlier runs stay in the plot."""
    results: dict[str, Any] = load("kmeans-timing")
    for oracle in oracles:
        training_seconds({}, oracle, C, limit, 1)  # compile
        for name, curve in ((n, CURVES[n]) for n in wanted):
            values = curve["values"]
            seconds = [training_seconds(curve["make"](v), oracle, C, limit, repeats) for v in values]
            slope = float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
            results[f"{oracle} {name}"] = {"values": values, "seconds": seconds, "exponent": slope}
            print(
                oracle,
                name,
                dict(zip(values, np.round(seconds, 2), strict=True)),
                f"exponent {slope:.2f}",
                flush=True,
            )
            save("kmeans-timing", results)
    _plot(results)


def _plot(results: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(16, 3.5))
    for axis, (name, curve) in zip(axes, CURVES.items(), strict=True):
        for oracle in ("iterative", "spectral"):
            found = results.get(f"{oracle} {name}")
            if found is None:
                continue
            axis.plot(
                found["values"], found["seconds"], "o-", label=f"{oracle}, exponent {found['exponent']:.2f}"
            )
        axis.set_xlabel(f"{curve['label']} ({name})")
        axis.set_ylabel("CPU seconds")
        axis.legend()
    figure.tight_layout()
    figure.savefig(OUT / "kmeans-timing.png", dpi=100)


def eigen(m: int = 1000, k: int = 6) -> None:
    """k leading eigenvectors against full eigh, for a similarity with clusters and for pure noise."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(m, m))
    noise = (noise + noise.T) / 2
    groups = (rng.integers(0, k, m)[:, None] == np.arange(k)) * 1.0
    results = {}
    for name, K in {"clusters": groups @ groups.T + noise, "noise": noise}.items():
        full, (_, vectors) = _fastest(lambda K=K: np.linalg.eigh(K))
        part, relaxed = _fastest(lambda K=K: spectral.relax(K, k))
        angle = float(subspace_angles(relaxed.Y, vectors[:, -k:]).max())
        results[name] = {"ratio": full / part, "angle": angle}
        print(
            f"m={m} k={k} {name}: full eigh takes {full / part:.1f} times as long; angle {angle:.1e}",
            flush=True,
        )
    save("kmeans-eigen", results)


def _fastest(call: Any, repeats: int = 5) -> tuple[float, Any]:
    best, answer = np.inf, None
    for _ in range(repeats):
        started = time.process_time()
        answer = call()
        best = min(best, time.process_time() - started)
    return best, answer


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "eigen"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--oracles", nargs="+", default=["iterative", "spectral"])
    parser.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES))
    parser.add_argument("--C", type=float, default=1e4)
    parser.add_argument("--max-iter", type=int, default=1000)
    given = parser.parse_args()
    eigen()
    if given.what == "all":
        curves(given.repeats, given.oracles, given.curves, given.C, given.max_iter)


if __name__ == "__main__":
    main()
