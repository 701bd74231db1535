"""Points by metric-learn and k-means: ``python -m benchmarks.compare.by_metric_learn FOLDER``.

A metric is learned from the labelled sets (rows with classes made different from set to set, or pairs), new
sets are transformed, and scikit-learn's KMeans with k given clusters them. KMeans alone stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import metric_learn
import numpy as np
from sklearn.cluster import KMeans

from benchmarks.compare.files import SEEDS, Answers, Sets, folder, read_sets


def kmeans(X: np.ndarray) -> np.ndarray:
    return np.asarray(KMeans(4, n_init=10, random_state=0).fit_predict(X))


def pairs_of(train: Sets, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """200 pairs of each set, half of them together: 1 and -1."""
    rng, pairs, same = np.random.default_rng(seed), [], []
    for X, y in train:
        a, b = np.triu_indices(len(X), 1)
        for sign, mine in ((1, y[a] == y[b]), (-1, y[a] != y[b])):
            drawn = rng.permutation(np.flatnonzero(mine))[:100]
            pairs.append(np.stack([X[a[drawn]], X[b[drawn]]], axis=1))
            same += [sign] * len(drawn)
    return np.concatenate(pairs), np.array(same)


def rows_of(train: Sets) -> tuple[np.ndarray, np.ndarray]:
    """All rows; groups of different sets are different classes."""
    y = [labels + 100 * k for k, (_, labels) in enumerate(train)]
    return np.concatenate([X for X, _ in train]), np.concatenate(y)


def by_pairs(make: Callable[[], Any], train: Sets, new: Sets, seed: int) -> list[Any]:
    model = make().fit(*pairs_of(train, seed))
    return [kmeans(model.transform(X)) for X, _ in new]


def by_classes(make: Callable[[], Any], train: Sets, new: Sets) -> list[Any]:
    model = make().fit(*rows_of(train))
    return [kmeans(model.transform(X)) for X, _ in new]


def main() -> None:
    where = folder()
    kept = Answers(where, "metric-learn", version("metric-learn"))
    for seed in SEEDS:
        train, new = read_sets(where, "directions", seed)
        work: dict[str, Callable[[], list[Any]]] = {
            "KMeans alone": lambda n=new: [kmeans(X) for X, _ in n],  # type: ignore[misc]
            "ITML + KMeans": lambda t=train, n=new, s=seed: by_pairs(metric_learn.ITML, t, n, s),  # type: ignore[misc]
            "MMC + KMeans": lambda t=train, n=new, s=seed: by_pairs(metric_learn.MMC, t, n, s),  # type: ignore[misc]
            "NCA + KMeans": lambda t=train, n=new: by_classes(metric_learn.NCA, t, n),  # type: ignore[misc]
            "LMNN + KMeans": lambda t=train, n=new: by_classes(metric_learn.LMNN, t, n),  # type: ignore[misc]
        }
        for way, one in work.items():
            try:
                kept.add("directions", way, seed, one)
            except Exception as fault:  # a learner that does not run is a finding
                print(f"{way}: {type(fault).__name__}: {fault}"[:300], flush=True)


if __name__ == "__main__":
    main()
