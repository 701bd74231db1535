"""Points by HDBSCAN, which needs no labels: ``python -m benchmarks.compare.by_hdbscan FOLDER``.

``min_cluster_size`` is the one (of four) with the best adjusted Rand index on the labelled sets.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import hdbscan
import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.compare.files import SEEDS, Answers, Sets, folder, read_sets

SIZES = (3, 5, 10, 15)


def clusters(X: np.ndarray, size: int) -> np.ndarray:
    """Labels, -1 for what is noise to it."""
    return np.asarray(hdbscan.HDBSCAN(min_cluster_size=size).fit_predict(X))


def chosen(train: Sets, new: Sets) -> list[Any]:
    """The size by labelled sets, then the new ones."""

    def mean(size: int) -> float:
        return float(np.mean([adjusted_rand_score(y[y >= 0], clusters(X, size)[y >= 0]) for X, y in train]))

    best = max(SIZES, key=mean)
    return [clusters(X, best) for X, _ in new]


def main() -> None:
    where = folder()
    kept = Answers(where, "hdbscan", version("hdbscan"))
    for seed in SEEDS:
        for task in ("directions", "moons"):
            sets = read_sets(where, task, seed)
            kept.add(task, "as it is, size by labelled sets", seed, lambda s=sets: chosen(*s))  # type: ignore[misc]


if __name__ == "__main__":
    main()
