"""The tasks by clustruct, default settings but for what is named.

``python -m benchmarks.compare.by_clustruct FOLDER``
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import clustruct
from benchmarks.compare.files import FIELDS, SEEDS, Answers, Sets, folder, read_rows, read_sets
from clustruct import ItemSet, Recipe, SupervisedAgglomerative, SupervisedKMeans, Table
from clustruct.data import with_distances


def records(where: Path, seed: int) -> list[Any]:
    """Learn inside the table, from the labels that are there."""
    rows = read_rows(where, seed)
    items = [{f: row[f] or None for f in FIELDS} for row in rows]
    model = Recipe().fit([Table(items, labels=[row["label"] or None for row in rows])])
    return [model.predict([Table(items)])[0]]


def kmeans(train: Sets, new: Sets) -> list[Any]:
    """k-means with a learned metric, k given."""
    model = SupervisedKMeans(n_clusters=4, kernel_learning=True, predictor="iterative")
    model.fit(*zip(*train, strict=True))
    return [model.predict(X) for X, _ in new]


def distances(X: np.ndarray) -> ItemSet:
    """Pairs by how far apart they are."""
    a, b = np.triu_indices(len(X), 1)
    apart = np.linalg.norm(X[a] - X[b], axis=1)
    return ItemSet(pairs=np.column_stack([apart, np.ones(len(a))]))


def links(train: Sets, new: Sets) -> list[Any]:
    """Single link; a stray is a group of its own."""
    labels = [np.where(y < 0, 2 + np.arange(len(y)), y) for _, y in train]
    model = SupervisedAgglomerative(linkage="single").fit([distances(X) for X, _ in train], labels)
    return [model.predict(distances(X)) for X, _ in new]


def correlation(train: Sets, new: Sets) -> list[Any]:
    """Correlation clustering of differences, feature by feature; k is found."""
    sets = [with_distances(X) for X, _ in train]
    model = clustruct.SupervisedCorrelationClustering().fit(sets, [y for _, y in train])
    return [model.predict(with_distances(X)) for X, _ in new]


def main() -> None:
    where = folder()
    kept = Answers(where, "clustruct", clustruct.__version__)
    for seed in SEEDS:
        kept.add("records", "60 groups labelled", seed, lambda s=seed: records(where, s))  # type: ignore[misc]
        sets = read_sets(where, "directions", seed)
        kept.add("directions", "k-means, learned metric", seed, lambda s=sets: kmeans(*s))  # type: ignore[misc]
        kept.add("directions", "correlation, k found", seed, lambda s=sets: correlation(*s))  # type: ignore[misc]
        sets = read_sets(where, "moons", seed)
        kept.add("moons", "single link, learned", seed, lambda s=sets: links(*s))  # type: ignore[misc]


if __name__ == "__main__":
    main()
