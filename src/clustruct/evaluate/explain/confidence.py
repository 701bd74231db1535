"""Confidence in each cluster: the score lost by its best other shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from clustruct.core.partitions import canonical_labels, indicator
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.learning.score_confidence import (
    Scores,
    Similarities,
    as_csr,
    best_elsewhere,
    cluster_sums,
    source_indicator,
    without_shared_source,
)
from clustruct.search.correlation import greedy, objective

Kind = Literal["merge", "take out", "split", "none"]
# A sparse graph of so few items is clustered faster as a dense one.
SMALL = 500


@dataclass(frozen=True)
class ClusterMove:
    """The best other shape found for one cluster.

    Attributes
    ----------
    cluster : int
        Its canonical number.
    size : int
        How many items it has.
    confidence : float
        Score lost by the move; negative where it would gain, infinite where there is none.
    kind : "merge" with the cluster `other`, "take out" its weakest item, "split" it
        Or "none".
    other : int
        The cluster it would be merged with, else -1.
    parts : tuple of tuple of int
        The items of the cluster after the move, in parts (one part where nothing is cut).
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


def cluster_confidence(K: Similarities, labels: LabelsLike, sources: Ints | None = None) -> list[ClusterMove]:
    """Score lost by the best alternative of each cluster, under correlation clustering's objective.

    The alternatives of a cluster are: a merge with another cluster (loses minus the sum of K between
    them); its weakest item taken out (loses the sum of K between it and the rest); and a split found by
    greedy re-clustering of its items, once freely and once with the least similar pair kept apart. The
    loss given is that of a real move, recomputed; a split that loses still less may exist, since to
    find the best one is as hard as clustering itself.

    In a sparse K two clusters without a listed pair between them cannot be merged, nor can, where items of
    one of the ``sources`` never share a cluster, two that both have an item of one.

    Cost O(m^2) dense or O(edges log edges) sparse, and a greedy clustering of each cluster.

    Parameters
    ----------
    K : array or sparse matrix
        The similarities of the pairs: dense and symmetric, or a sparse signed graph.
    labels : array-like
        The cluster of each item.
    sources : array of int, optional
        The number of each item's source, where items of one source never share a cluster.

    Returns
    -------
    list of ClusterMove
        One entry for each cluster.

    Examples
    --------
    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> [(move.kind, move.confidence) for move in cluster_confidence(K, [0, 0, 1])]
    [('merge', 0.0), ('merge', 0.0)]
    """
    W, y, sums, support = cluster_sums(K, labels)
    sizes = np.bincount(y)
    # T_cd = sum of K_ab over a in c and b in d; the diagonal counts each pair inside c twice.
    merged = as_csr(indicator(y).T @ sums)
    if sources is not None:
        of_cluster = indicator(y).T @ source_indicator(sources)
        merged = without_shared_source(merged, of_cluster, of_cluster)
    between, partner = best_elsewhere(merged, np.arange(len(sizes)))
    order = np.argsort(y, kind="stable")
    W = W[order][:, order]  # each cluster is a block
    stops = np.cumsum(sizes)
    moves = []
    for c, (start, stop) in enumerate(zip(stops - sizes, stops, strict=True)):
        items = order[start:stop]
        kind: Kind = "none" if partner[c] < 0 else "merge"
        merge = ClusterMove(c, len(items), 0.0 - float(between[c]), kind, int(partner[c]), (_tuple(items),))
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
        if not inside.nnz:
            return inside
        entries = inside.tocoo()
        a, b = np.array(entries.coords)[:, entries.data.argmin()]
        bar = sparse.csr_array(([penalty, penalty], ([a, b], [b, a])), shape=inside.shape)
        return inside - bar
    fenced = inside.copy()
    np.fill_diagonal(fenced, np.inf)
    a, b = np.unravel_index(fenced.argmin(), fenced.shape)
    fenced[a, b] = fenced[b, a] = -penalty
    np.fill_diagonal(fenced, 0.0)
    return fenced


def _tuple(items: Ints) -> tuple[int, ...]:
    return tuple(items.tolist())
