"""Confidence in each item by scores alone: what is lost by its best other place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct.core.partitions import canonical_labels, indicator
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.data import PairScores
from clustruct.search.correlation.graph import signed_graph
from clustruct.search.oracles.base import Objective

ALONE = -1
# A symmetric matrix of similarities: dense, or of the listed pairs alone.
Similarities: TypeAlias = ArrayLike | sparse.sparray
# The same, checked: a float array, or CSR; exactly symmetric, zero diagonal.
Scores: TypeAlias = Floats | sparse.csr_array


@dataclass(frozen=True)
class ItemConfidence:
    """The best other place of each item (``alternative``, -1 for a cluster of its own), and what it costs.

    ``confidence`` is the score lost by moving there: negative where the move would gain, infinite where there
    is no other place (then the alternative is its own cluster). ``support`` sums its similarities to the rest
    of its cluster. ``probability``, that it is in the right cluster, is None where the model has none.
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

    Cost O(m^2) dense, O(edges log edges) sparse.

    In a sparse graph an item can only move to clusters with which it has a listed pair: blocking has ruled
    out the others. Items of one of the ``sources`` never share a cluster: a cluster that has one of the
    item's source is no place for it.

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
    W, y, sums, support = cluster_sums(K, labels)
    if objective == "links":
        sums, support = _strongest(W, y)
    if sources is not None:
        of_item = source_indicator(sources)
        sums = without_shared_source(sums, of_item, indicator(y).T @ of_item)
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
    _, y, sums, support = cluster_sums(K, labels)
    n = np.bincount(y).astype(np.float64)
    within = np.bincount(y, weights=support + diagonal)
    leaving = (within[y] - 2.0 * support - diagonal) / np.maximum(n[y] - 1.0, 1.0) - (within / n)[y]
    joining = (within + 2.0 * sums + diagonal[:, None]) / (n + 1.0) - within / n
    gain, cluster = best_elsewhere(joining, y)
    # The last item of a cluster stays: the number of clusters is given.
    gain = np.where(n[y] > 1.0, gain + leaving, -np.inf)
    return ItemConfidence(-gain, np.where(np.isneginf(gain), y, cluster), support)


def cluster_sums(K: Similarities, labels: LabelsLike) -> tuple[Scores, Ints, Scores, Floats]:
    """K checked, the labels in canonical form, S_ac for all clusters (m x k, dense or CSR as K is), and S_ac
    of each item's own cluster.
    """
    W = symmetric_scores(K)
    y = canonical_labels(labels, n_items=W.shape[0])
    sums = as_csr(W @ indicator(y))
    return W, y, sums, np.asarray(sums[np.arange(len(y)), y], dtype=np.float64).ravel()


def _strongest(W: Scores, y: Ints) -> tuple[Scores, Floats]:
    """The highest K_ab over the items b of each cluster, and over those of a's own (0: none)."""
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


def source_indicator(sources: Ints) -> Any:
    return indicator(canonical_labels(sources))


def without_shared_source(sums: Scores, rows: Any, columns: Any) -> Scores:
    """The entries whose row and column have no source in common."""
    if isinstance(sums, np.ndarray):
        return np.where((rows @ columns.T).toarray() > 0.0, -np.inf, sums)
    entries = sums.tocoo()
    r, c = entries.coords
    free = np.asarray(rows[r].multiply(columns[c]).sum(axis=1)).ravel() == 0.0
    return sparse.csr_array((entries.data[free], (r[free], c[free])), shape=sums.shape)


def as_csr(sums: Scores) -> Scores:
    return sums if isinstance(sums, np.ndarray) else sums.tocsr()


def best_elsewhere(sums: Scores, own: Ints) -> tuple[Floats, Ints]:
    """The largest entry of each row outside column own[row], and its column; -inf and -1 where none is. Of a
    sparse matrix only stored entries count.
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


def symmetric_scores(K: Similarities | PairScores) -> Scores:
    """K checked, exactly symmetric and with zero diagonal; dense stays dense, sparse becomes CSR."""
    return signed_graph(K).scores()
