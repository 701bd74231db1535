"""Confidence in each cluster: the score lost by its best other shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.inference.correlation import greedy, objective
from clustruct.partitions import canonical_labels

from ._scores import (
    Scores,
    Similarities,
    best_elsewhere,
    cluster_sums,
    item_sums,
    own_sums,
    symmetric_scores,
)

Kind = Literal["merge", "take out", "split", "none"]
# A sparse graph of so few items is clustered faster as a dense one.
SMALL = 500


@dataclass(frozen=True)
class ClusterMove:
    """The best other shape found for one cluster.

    cluster :    its canonical number
    size :       how many items it has
    confidence : score lost by the move; negative where it would gain, infinite where there is none
    kind :       "merge" with the cluster `other`, "take out" its weakest item, "split" it, or "none"
    other :      the cluster it would be merged with, else -1
    parts :      the items of the cluster after the move, in parts (one part where nothing is cut)
    """

    cluster: int
    size: int
    confidence: float
    kind: Kind
    other: int
    parts: tuple[tuple[int, ...], ...]

    def applied_to(self, labels: LabelsLike) -> Ints:
        """The clustering after the move."""
        y = canonical_labels(labels)
        new = y.copy()
        if self.kind == "merge":
            new[y == self.cluster] = self.other
        for number, part in enumerate(self.parts[1:]):
            new[list(part)] = len(y) + number
        return canonical_labels(new)


def cluster_confidence(K: Similarities, labels: LabelsLike) -> list[ClusterMove]:
    """Score lost by the best alternative of each cluster, under correlation clustering's objective.

    The alternatives of a cluster are: a merge with another cluster (loses minus the sum of K between
    them); its weakest item taken out (loses the sum of K between it and the rest); and a split found by
    greedy re-clustering of its items, once freely and once with the least similar pair kept apart. The
    loss given is that of a real move, recomputed; a split that loses still less may exist, since to
    find the best one is as hard as clustering itself.

    In a sparse K two clusters without a listed pair between them cannot be merged.

    Cost O(m^2) dense or O(edges log edges) sparse, and a greedy clustering of each cluster.

    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> [(move.kind, move.confidence) for move in cluster_confidence(K, [0, 0, 1])]
    [('merge', 0.0), ('merge', 0.0)]
    """
    W = symmetric_scores(K)
    y = canonical_labels(labels, n_items=W.shape[0])
    sums = item_sums(W, y)
    support = own_sums(sums, y)
    k = int(y.max()) + 1
    between, partner = best_elsewhere(cluster_sums(sums, y), np.arange(k))
    order = np.argsort(y, kind="stable")
    W = W[order][:, order]  # each cluster is a block
    stops = np.cumsum(np.bincount(y))
    moves = []
    for c, (start, stop) in enumerate(zip(stops - np.bincount(y), stops, strict=True)):
        items = order[start:stop]
        merge = ClusterMove(
            c, len(items), 0.0 - float(between[c]), "merge", int(partner[c]), (_tuple(items),)
        )
        if partner[c] < 0:
            merge = ClusterMove(c, len(items), np.inf, "none", -1, (_tuple(items),))
        cuts = [_without_weakest(c, items, support[items])] if len(items) > 1 else []
        if len(items) > 2:
            cuts += _splits(W[start:stop, start:stop], c, items)
        moves.append(min([merge, *cuts], key=lambda move: move.confidence))
    return moves


def _without_weakest(c: int, items: Ints, support: Floats) -> ClusterMove:
    weakest = int(support.argmin())
    parts = (_tuple(np.delete(items, weakest)), (int(items[weakest]),))
    return ClusterMove(c, len(items), float(support[weakest]), "take out", -1, parts)


def _splits(inside: Scores, c: int, items: Ints) -> list[ClusterMove]:
    """Greedy re-clusterings of one cluster that cut it."""
    if not isinstance(inside, np.ndarray) and len(items) <= SMALL:
        inside = inside.toarray()
    whole = inside.sum() / 2.0
    found = []
    for labels in (greedy(inside), greedy(_kept_apart(inside))):
        if labels.max() > 0:
            parts = tuple(_tuple(items[labels == p]) for p in range(int(labels.max()) + 1))
            lost = float(whole) - objective(inside, labels)
            found.append(ClusterMove(c, len(items), lost, "split", -1, parts))
    return found


def _kept_apart(inside: Scores) -> Scores:
    """The scores with the least similar pair (the least similar listed one) made one that never joins."""
    penalty = 1.0 + abs(inside).sum()
    if not isinstance(inside, np.ndarray):
        entries = inside.tocoo()
        if not entries.nnz:
            return inside
        at = int(entries.data.argmin())
        a, b = (int(places[at]) for places in entries.coords)
        bar = sparse.csr_array(([penalty, penalty], ([a, b], [b, a])), shape=inside.shape)
        return inside - bar
    fenced = inside.copy()
    np.fill_diagonal(fenced, np.inf)
    a, b = (int(place) for place in np.unravel_index(int(fenced.argmin()), fenced.shape))
    fenced[a, b] = fenced[b, a] = -penalty
    np.fill_diagonal(fenced, 0.0)
    return fenced


def _tuple(items: Ints) -> tuple[int, ...]:
    return tuple(int(a) for a in items)
