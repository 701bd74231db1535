"""What each objective makes of the true classes: searches begun from them, beside the usual ones.

Where the usual search ends lower and further from the classes, no better search would find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.mixture import GaussianMixture

from clustruct.papers.universum import UniversumClustering
from studies.results import Results
from studies.universum2011.corpora import Corpus, load
from studies.universum2011.methods import local_scaling, ncut, scores


def from_classes(results: Results, quick: bool, *, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row per collection and method: what is minimised, and the accuracy, found and from the classes."""
    rows = []
    for name in names[:1] if quick else names:
        rows += results.get(name, lambda n=name: _collection(load(n, quick)))
    return rows


def _collection(corpus: Corpus) -> list[dict[str, Any]]:
    y = np.unique(corpus.y, return_inverse=True)[1]
    found = {
        "M2DCU-0": _margin(corpus, y, None),
        "M2DCU, all of U_rest": _margin(corpus, y, corpus.rest),
        "GMM": _mixture(corpus, y),
        "Ncut": _cut(corpus),
    }
    return [{"collection": corpus.name, "method": method, **row} for method, row in found.items()]


def _margin(corpus: Corpus, y: np.ndarray, universum: Any) -> dict[str, Any]:
    usual, begun = (
        UniversumClustering(corpus.k, random_state=0, **start).fit(corpus.X, universum=universum)
        for start in ({}, {"init": y})
    )
    return _row(y, usual.labels_, usual.objective_, begun.labels_, begun.objective_)


def _mixture(corpus: Corpus, y: np.ndarray) -> dict[str, Any]:
    """Minus the mean log-likelihood; five starts."""
    X, member = corpus.X, np.eye(corpus.k)[y]
    sizes = member.sum(axis=0)[:, None]
    means = member.T @ X / sizes
    precisions = 1.0 / (member.T @ X**2 / sizes - means**2 + 1e-6)
    start = {"weights_init": member.mean(axis=0), "means_init": means, "precisions_init": precisions}
    usual, begun = (
        GaussianMixture(corpus.k, covariance_type="diag", random_state=0, **options).fit(X)
        for options in ({"n_init": 5}, start)
    )
    return _row(y, usual.predict(X), -usual.score(X), begun.predict(X), -begun.score(X))


def _cut(corpus: Corpus) -> dict[str, Any]:
    """No search: the clusters' sizes, and the parts that its graph of neighbours falls into."""
    labels, parts = ncut(corpus, 0), connected_components(local_scaling(corpus.X))[1]
    return {
        "accuracy": scores(corpus.y, labels)["accuracy"],
        "sizes": _sizes(labels),
        "parts of the graph": _sizes(parts),
    }


def _row(y: np.ndarray, usual: Any, value: float, begun: Any, value_begun: float) -> dict[str, Any]:
    return {
        "minimised": float(value),
        "accuracy": scores(y, usual)["accuracy"],
        "minimised, from the classes": float(value_begun),
        "accuracy, from the classes": scores(y, begun)["accuracy"],
        "sizes": _sizes(usual),
    }


def _sizes(labels: Any) -> str:
    """Largest first."""
    return ", ".join(str(size) for size in np.sort(np.bincount(labels))[::-1])
