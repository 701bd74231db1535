"""One large labelled set, whole or cut by whole clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.learning.model_selection import split_by_clusters
from studies import tasks
from studies.results import Results


def one_large_set(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Five folds of cora as one labelled set; five folds to test. --quick: cut by two, C = 1."""
    task = tasks.records("cora", most=10_000)
    whole = tasks.records_as_one_set("cora", range(5))
    test = task.take(list(range(5, 10)))
    C: Any = 1.0 if quick else "cv"
    return [
        {"training sets": parts, **results.get(str(parts), lambda n=parts: _cut(whole, test, n, C))}
        for parts in ((2,) if quick else (1, 2, 5, 10, 20))
    ]


def _cut(whole: tasks.Task, test: Any, parts: int, C: Any) -> dict[str, Any]:
    cut = split_by_clusters(whole.labels[0], parts)
    X = [whole.sets[0].subset(p) for p in cut]
    y = [whole.labels[0][p] for p in cut]
    model = SupervisedCorrelationClustering(C).fit(X, y)
    losses = model.set_losses(*test)
    return {
        "items each": float(np.mean([len(p) for p in cut])),
        "C": model.C_,
        "test loss": float(losses.mean()),
    }
