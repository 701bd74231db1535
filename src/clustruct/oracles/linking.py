"""Clusters from links between items, one by one: the predictors of pair classifiers (dissertation 1.3)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clustruct._typing import Ints
from clustruct.pair_scores import PairScores
from clustruct.partitions import canonical_labels

from .base import Predictor, register


@register
class Components(Predictor):
    """All pairs with a positive score are joined.

    >>> Components().predict(PairScores(3, index=np.array([[0, 2]]), values=np.array([1.0])))
    array([0, 1, 0])
    """

    name = "components"
    objective = "correlation"

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return canonical_labels(connected_components(_links(scores), directed=False)[1])


@register
class NearestMate(Predictor):
    """Each item joins the nearest earlier item with a positive score; clusters are the chains (1.3.2).

    >>> K = np.array([[0.0, -1.0, 2.0], [-1.0, 0.0, -1.0], [2.0, -1.0, 0.0]])
    >>> NearestMate().predict(PairScores.from_matrix(K))
    array([0, 1, 0])
    """

    name = "nearest_mate"
    objective = "correlation"

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        earlier, later = _links(scores).nonzero()
        mate = np.arange(scores.n_items, dtype=np.int64)
        known = np.full(scores.n_items, -1, dtype=np.int64)
        np.maximum.at(known, later, earlier)
        for item in np.flatnonzero(known >= 0):  # a mate is earlier, so its own chain is known
            mate[item] = mate[known[item]]
        return canonical_labels(mate)


def _links(scores: PairScores) -> sparse.csr_array:
    """The pairs a < b with a positive score."""
    upper = scores.graph() if scores.matrix is None else sparse.triu(sparse.csr_array(scores.matrix > 0.0), 1)
    return sparse.csr_array(upper > 0.0)
