"""Confidence in each item, and in each cluster: the score lost by its best other place or shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.inference.correlation import greedy, objective
from clustruct.partitions import canonical_labels, indicator

from .similarities import Objective, Scores, Similarities, symmetric_scores

ALONE = -1
Kind = Literal["merge", "take out", "split", "none"]
# A sparse graph of so few items is clustered faster as a dense one.
SMALL = 500


@dataclass(frozen=True)
class ItemConfidence:
    """The best other place of each item, and what it costs.

    Attributes
    ----------
    confidence : array of float
        Score lost by moving the item there; negative where the move would gain, infinite where there is
        no other place.
    alternative : array of int
        The cluster it would move to (canonical number), -1 for a cluster of its own; its own cluster
        where there is no other place.
    support : array of float
        Sum of the similarities to the rest of its cluster.
    probability : array of float, optional
        That the item is in the right cluster; None for a model that has no probabilities.
    """

    confidence: Floats
    alternative: Ints
    support: Floats
    probability: Floats | None = None

    def order(self) -> Ints:
        """Item numbers, the least confident first; by probability where it is known."""
        by = self.confidence if self.probability is None else self.probability
        return np.argsort(by, kind="stable")


def item_confidence(
    K: Similarities,
    labels: LabelsLike,
    objective: Objective = "correlation",
    sources: Ints | None = None,
) -> ItemConfidence:
    """Score lost by the best alternative move of each item, to another cluster or to one of its own.

    With S_ac the sum of K_ab over the other items b of cluster c, an item of cluster c loses

        S_ac - max(0, max over d of S_ad)                       ("correlation")

    where 0 stands for a cluster of its own (no choice for an item that is alone). With objective
    "kmeans" the score is trace(Y'KY), the number of clusters stays, and the item moves to another
    cluster or not at all; with "links" S_ac is the highest K_ab, since one link is enough.

    Parameters
    ----------
    K : array or sparse matrix
        Symmetric matrix or sparse signed graph. In a sparse graph an item can only move to clusters with
        which it has a listed pair: blocking has ruled out the others.
    labels : array-like
        The clustering, one label per item.
    objective : "correlation", "links", or "kmeans" (dense K with its diagonal)
        `objective_of(model)` tells.
    sources : array of int, optional
        The number of each item's source, where items of one source never share a cluster: a cluster that
        has one of the item's source is no place for it (`ItemSet.sources`).

    Returns
    -------
    ItemConfidence
        For each item the score lost, and where it would go.

    Notes
    -----
    Cost O(m^2) dense, O(edges log edges) sparse.

    Examples
    --------
    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> found = item_confidence(K, [0, 0, 1])
    >>> found.confidence.tolist(), found.alternative.tolist()
    ([3.0, 2.0, 0.0], [-1, 1, 0])
    """
    if objective == "kmeans":
        return _kmeans_confidence(K, labels)
    if objective not in ("correlation", "links"):
        raise ValueError(f"objective must be 'correlation', 'links' or 'kmeans', not {objective!r}")
    W, y, sums, support = _sums(K, labels)
    if objective == "links":
        sums, support = _strongest(W, y)
    if sources is not None:
        of_item = _of_sources(sources)
        sums = _open(sums, of_item, indicator(y).T @ of_item)
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
    _, y, sums, support = _sums(K, labels)
    n = np.bincount(y).astype(np.float64)
    within = np.bincount(y, weights=support + diagonal)
    leaving = (within[y] - 2.0 * support - diagonal) / np.maximum(n[y] - 1.0, 1.0) - (within / n)[y]
    joining = (within + 2.0 * sums + diagonal[:, None]) / (n + 1.0) - within / n
    gain, cluster = best_elsewhere(joining, y)
    # The last item of a cluster stays: the number of clusters is given.
    gain = np.where(n[y] > 1.0, gain + leaving, -np.inf)
    return ItemConfidence(-gain, np.where(np.isneginf(gain), y, cluster), support)


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
    W, y, sums, support = _sums(K, labels)
    sizes = np.bincount(y)
    # T_cd = sum of K_ab over a in c and b in d; the diagonal counts each pair inside c twice.
    merged = _array(indicator(y).T @ sums)
    if sources is not None:
        of_cluster = indicator(y).T @ _of_sources(sources)
        merged = _open(merged, of_cluster, of_cluster)
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


def _sums(K: Similarities, labels: LabelsLike) -> tuple[Scores, Ints, Scores, Floats]:
    """K checked; the labels y in canonical form; S_ac for all clusters c (m x k, dense or CSR as K is), the
    sum of K_ab over the items b of c other than a; and S_ac for c the cluster of a.
    """
    W = symmetric_scores(K)
    y = canonical_labels(labels, n_items=W.shape[0])
    sums = _array(W @ indicator(y))
    return W, y, sums, np.asarray(sums[np.arange(len(y)), y], dtype=np.float64).ravel()


def _strongest(W: Scores, y: Ints) -> tuple[Scores, Floats]:
    """The highest K_ab over the items b of each cluster other than a, and over those of a's own (0: none)."""
    m, k = len(y), int(y.max()) + 1
    a, b = np.nonzero(~np.eye(m, dtype=bool)) if isinstance(W, np.ndarray) else W.tocoo().coords
    values = W[a, b] if isinstance(W, np.ndarray) else W.tocoo().data
    cells, which = np.unique(a * k + y[b], return_inverse=True)
    highest = np.full(len(cells), -np.inf)
    np.maximum.at(highest, which, values)
    rows, columns = np.divmod(cells, k)
    own = np.zeros(m)
    mine = columns == y[rows]
    own[rows[mine]] = highest[mine]
    return sparse.csr_array((highest, (rows, columns)), shape=(m, k)), own


def _of_sources(sources: Ints) -> Any:
    """One row for each item, a one in the column of its source."""
    return indicator(canonical_labels(sources))


def _open(sums: Scores, rows: Any, columns: Any) -> Scores:
    """The entries whose row and column (items of sources, in sparse matrices) have no source in common."""
    if isinstance(sums, np.ndarray):
        return np.where((rows @ columns.T).toarray() > 0.0, -np.inf, sums)
    entries = sums.tocoo()
    r, c = entries.coords
    free = np.asarray(rows[r].multiply(columns[c]).sum(axis=1)).ravel() == 0.0
    return sparse.csr_array((entries.data[free], (r[free], c[free])), shape=sums.shape)


def _array(sums: Scores) -> Scores:
    return sums if isinstance(sums, np.ndarray) else sums.tocsr()


def best_elsewhere(sums: Scores, own: Ints) -> tuple[Floats, Ints]:
    """The largest entry of each row outside column own[row], and its column; -inf and -1 where none is.

    Of a sparse matrix only stored entries count: a pair that is not listed is no candidate.
    """
    n = sums.shape[0]
    if isinstance(sums, np.ndarray):
        rest = np.array(sums, dtype=np.float64)
        rest[np.arange(n), own] = -np.inf
        best = rest.argmax(axis=1)
        values = rest[np.arange(n), best]
        return values, np.where(np.isneginf(values), -1, best)
    entries = sums.tocoo()
    rows, columns = entries.coords
    other = columns != own[rows]
    rows, columns, data = rows[other], columns[other], entries.data[other]
    order = np.lexsort((columns, -data, rows))
    found, first = np.unique(rows[order], return_index=True)
    values, best = np.full(n, -np.inf), np.full(n, -1, np.int64)
    values[found], best[found] = data[order][first], columns[order][first]
    return values, best
