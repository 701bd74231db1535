"""Which rule finds k, by adjusted Rand."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.data.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.evaluate.metrics import adjusted_rand_index
from clustruct.search import spectral
from clustruct.search.spectral import MOST_CLUSTERS, count_clusters
from studies.kmeans2008.news import SOURCES, one_per_group
from studies.results import Results
from studies.tasks import news


def plain_gap(K: np.ndarray) -> int:
    """The largest eigengap of K itself."""
    values = spectral.leading_eigenvectors(K, min(MOST_CLUSTERS + 1, len(K)))[0]
    return int(np.argmax(values[:-1] - values[1:])) + 1


def count_by_objective(K: np.ndarray) -> int:
    """k with the highest relaxed objective: the number of positive eigenvalues."""
    values = spectral.leading_eigenvectors(K, min(MOST_CLUSTERS, len(K)))[0]
    return max(1, int(np.count_nonzero(values > 0.0)))


RULES = {"centred gap": count_clusters, "gap": plain_gap, "objective": count_by_objective}
LEARNED = "centred gap, range of k learned"


def synth_rules(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Synth with 3, 5 and 8 clusters; --quick: 3."""
    rows = []
    for k in (3,) if quick else (3, 5, 8):
        X, y = make_synth(8, k, 100 // k, region_size=20, noise=0.3, random_state=k)
        rows += results.get(f"synth, {k} clusters", lambda X=X, y=y: by_rule(X, y))
    return rows


def news_rules(results: Results, quick: bool) -> list[dict[str, Any]]:
    """The first eight sets of different groups; four train."""
    rows = []
    for source, fields in SOURCES.items():
        task = news(source, fields)
        X, y = task.take(one_per_group(task, 8))
        found = results.get(source, lambda X=X, y=y: by_rule(X, y))
        rows += [{"data": source, **row} for row in found]
    return rows


def by_rule(X: list[Any], y: list[Any]) -> list[dict[str, Any]]:
    """Four sets train, the others are clustered with the k that each rule finds."""
    model = SupervisedKMeans(C=1.0).fit(X[:4], y[:4])
    matrices = model.decision_function(X[4:])
    truth = [len(set(v.tolist())) for v in y[4:]]
    rows = []
    for rule, count in {"k given": None, LEARNED: None, **RULES}.items():
        if rule == LEARNED:
            ks = [count_clusters(K, *model.k_range_) for K in matrices]
        else:
            ks = truth if count is None else [count(K) for K in matrices]
        answers = model.predict(X[4:], n_clusters=[min(k, len(K)) for k, K in zip(ks, matrices, strict=True)])
        scores = [adjusted_rand_index(t, p) for t, p in zip(y[4:], answers, strict=True)]
        rows.append(
            {"rule": rule, "adjusted Rand": float(np.mean(scores)), "k found": _words(ks), "k": _words(truth)}
        )
    return rows


def _words(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
