"""Confidence in each item: the score lost by its best other place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.partitions import canonical_labels

from ._scores import Similarities, best_elsewhere, item_sums, own_sums, symmetric_scores
from .models import Objective

ALONE = -1


@dataclass(frozen=True)
class ItemConfidence:
    """The best other place of each item, and what it costs.

    confidence :  score lost by moving the item there; negative where the move would gain, infinite
                  where there is no other place
    alternative : the cluster it would move to (canonical number), -1 for a cluster of its own; its
                  own cluster where there is no other place
    support :     sum of the similarities to the rest of its cluster
    """

    confidence: Floats
    alternative: Ints
    support: Floats

    def order(self) -> Ints:
        """Item numbers, the least confident first."""
        return np.argsort(self.confidence, kind="stable")


def item_confidence(
    K: Similarities, labels: LabelsLike, objective: Objective = "correlation"
) -> ItemConfidence:
    """Score lost by the best alternative move of each item, to another cluster or to one of its own.

    With S_ac the sum of K_ab over the other items b of cluster c, an item of cluster c loses

        S_ac - max(0, max over d of S_ad)                       ("correlation")

    where 0 stands for a cluster of its own (no choice for an item that is alone). With objective
    "kmeans" the score is trace(Y'KY), the number of clusters stays, and the item moves to another
    cluster or not at all.

    Parameters
    ----------
    K : symmetric matrix or sparse signed graph. In a sparse graph an item can only move to clusters
        with which it has a listed pair: blocking has ruled out the others.
    labels : the clustering, one label per item
    objective : "correlation", or "kmeans" (dense K with its diagonal); `objective_of(model)` tells

    Cost O(m^2) dense, O(edges log edges) sparse.

    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> found = item_confidence(K, [0, 0, 1])
    >>> found.confidence.tolist(), found.alternative.tolist()
    ([3.0, 2.0, 0.0], [-1, 1, 0])
    """
    if objective == "kmeans":
        return _kmeans_confidence(K, labels)
    if objective != "correlation":
        raise ValueError(f"objective must be 'correlation' or 'kmeans', not {objective!r}")
    W = symmetric_scores(K)
    y = canonical_labels(labels, n_items=W.shape[0])
    sums = item_sums(W, y)
    support = own_sums(sums, y)
    elsewhere, cluster = best_elsewhere(sums, y)
    alone = (np.bincount(y)[y] > 1) & (elsewhere <= 0.0)
    gained = np.where(alone, 0.0, elsewhere)
    place = np.where(alone, ALONE, np.where(cluster < 0, y, cluster))
    return ItemConfidence(support - gained, place, support)


def _kmeans_confidence(K: Similarities, labels: LabelsLike) -> ItemConfidence:
    """Moves between clusters under sum_c T_c / n_c, T_c the sum of K in c with its diagonal."""
    if sparse.issparse(K):
        raise ValueError("confidence under the k-means objective needs a dense similarity matrix")
    diagonal = np.diag(np.asarray(K, dtype=np.float64))
    W = symmetric_scores(K)
    y = canonical_labels(labels, n_items=W.shape[0])
    n = np.bincount(y).astype(np.float64)
    sums = item_sums(W, y)
    support = own_sums(sums, y)
    within = np.bincount(y, weights=support + diagonal)
    leaving = (within[y] - 2.0 * support - diagonal) / np.maximum(n[y] - 1.0, 1.0) - (within / n)[y]
    joining = (within + 2.0 * sums + diagonal[:, None]) / (n + 1.0) - within / n
    gain, cluster = best_elsewhere(joining, y)
    # The last item of a cluster stays: the number of clusters is given.
    gain = np.where(n[y] > 1.0, gain + leaving, -np.inf)
    return ItemConfidence(-gain, np.where(np.isneginf(gain), y, cluster), support)
