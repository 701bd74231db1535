"""Which Universum helps: every source, and each category of U_rest alone, at default settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.metrics import matched_accuracy
from clustruct.universum.cccp import cccp
from clustruct.universum.problem import MarginProblem, natural_scale
from clustruct.universum.sources import select_between
from studies.results import Results
from studies.universum2011.corpora import Corpus, load
from studies.universum2011.methods import chosen_universum
from studies.universum2011.tables import Starts

WEIGHTS = (0.1, 1.0, 10.0)


def by_source(results: Results, quick: bool, *, name: str, seeds: int) -> list[dict[str, Any]]:
    """Accuracy from the principal start and the mean over k-means starts, for three values of C_universum."""
    corpus, rows = load(name, quick), []
    make = Starts(corpus, 1 if quick else seeds, principal=True)
    kinds = ["none", "rest", "select", "rand", "mean", "between", "deep"]
    for source in [*kinds, *np.unique(corpus.rest_categories).tolist()]:
        for weight in WEIGHTS if source != "none" else (0.0,):
            key = f"{source}, C_u = {weight:g}"
            found = results.get(key, lambda s=source, w=weight: _accuracies(corpus, s, w, make()))
            row = {"source": source, "C_u": f"{weight:g}", "principal": found[0]}
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
