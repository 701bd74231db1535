"""What the Universum does where the start that ends with the lowest objective is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.metrics import matched_accuracy
from clustruct.universum.cccp import cccp
from clustruct.universum.problem import MarginProblem, kmeans_labels, natural_scale
from studies.results import Results
from studies.universum2011.corpora import load
from studies.universum2011.methods import chosen_universum

# Pools of starts are drawn this often.
DRAWS = 500
SETTINGS = (("none", 0.0), ("rest", 0.1), ("rest", 1.0), ("select", 1.0))


def starts(
    results: Results, quick: bool, *, name: str, count: int = 40, C: float = 8.0
) -> list[dict[str, Any]]:
    """So many k-means starts; mean accuracy of one, and of the lowest objective among 5, 10 and 20."""
    corpus = load(name, quick)
    seeds = range(8 if quick else count)
    runs = [results.get(f"start {seed}", lambda s=seed: _one(corpus, s, C)) for seed in seeds]
    rng, rows = np.random.default_rng(0), []
    for source, weight in SETTINGS:
        found = np.array([run[f"{source}-{weight:g}"] for run in runs])
        row = {"Universum": source, "C_u": f"{weight:g}", "one": float(found[:, 0].mean())}
        for size in (5, 10, 20):
            if size <= len(found):
                pools = [rng.choice(len(found), size, replace=False) for _ in range(DRAWS)]
                best = [found[pool[np.argmin(found[pool, 1])], 0] for pool in pools]
                row[f"best of {size}"] = float(np.mean(best))
        rows.append(row)
    return rows


def _one(corpus: Any, seed: int, C: float) -> dict[str, list[float]]:
    """Accuracy and objective of every setting from one k-means start."""
    factor = natural_scale(corpus.X)
    X = corpus.X * factor
    labels, found = kmeans_labels(X, corpus.k, np.random.RandomState(seed)), {}
    for source, weight in SETTINGS:
        U = None if source == "none" else factor * chosen_universum(corpus, source)
        result = cccp(MarginProblem(X, corpus.k, C, 0.1, U, weight), labels)
        accuracy = 100.0 * matched_accuracy(corpus.y, result.labels)
        found[f"{source}-{weight:g}"] = [accuracy, result.objective]
    return found
