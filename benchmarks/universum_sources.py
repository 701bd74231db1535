"""Which Universum helps: every source, and each category of U_rest alone, at default settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.mrf_tables import Store
from benchmarks.universum_corpora import OUT, Corpus, load
from benchmarks.universum_methods import chosen_universum
from benchmarks.universum_tables import Starts
from clustruct.metrics import matched_accuracy
from clustruct.universum.cccp import cccp
from clustruct.universum.problem import MarginProblem, natural_scale
from clustruct.universum.sources import select_between

WEIGHTS = (0.1, 1.0, 10.0)


def by_source(name: str, seeds: int) -> list[dict[str, Any]]:
    """Accuracy from the principal start and the mean over k-means starts, for three values of C_universum."""
    corpus, store, rows = load(name), Store(OUT / "parts"), []
    make = Starts(corpus, seeds, principal=True)
    kinds = ["none", "rest", "select", "rand", "mean", "between", "deep"]
    for source in [*kinds, *np.unique(corpus.rest_categories).tolist()]:
        for weight in WEIGHTS if source != "none" else (0.0,):
            key = f"{name}-source-{source}-{weight:g}-{seeds}"
            found = store.get(key, lambda s=source, w=weight: _accuracies(corpus, s, w, make()))
            row = {"corpus": name, "source": source, "C_u": weight, "principal": found[0]}
            rows.append({**row, "k-means starts": float(np.mean(found[1:]))})
    return rows


def _accuracies(corpus: Corpus, source: str, weight: float, starts: list[Any]) -> list[float]:
    factor = natural_scale(corpus.X)
    X, found = corpus.X * factor, []
    for labels in starts:
        U = _documents(corpus, source, X, factor, labels)
        result = cccp(MarginProblem(X, corpus.k, 8.0, 0.1, U, weight), labels)
        found.append(100.0 * matched_accuracy(corpus.y, result.labels))
    return found


def _documents(corpus: Corpus, source: str, X: Any, factor: float, labels: Any) -> Any:
    """The Universum, scaled.

    "between" and "deep" are the 30 % of U_rest nearest to, and farthest from, the borders that the same start
    ends in without Universum.
    """
    if source == "none":
        return None
    if source in ("between", "deep"):
        W = cccp(MarginProblem(X, corpus.k, 8.0, 0.1), labels).W
        rest = factor * corpus.rest
        if source == "between":
            return select_between(W, rest).rows
        return np.delete(rest, select_between(W, rest, 0.7).numbers, axis=0)
    if source in corpus.rest_categories:
        return factor * corpus.rest[corpus.rest_categories == source]
    return factor * chosen_universum(corpus, source)
