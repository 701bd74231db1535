"""Checked similarities, and their sums between items and clusters."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct._typing import Floats, Ints
from clustruct.inference.correlation.signed_graph import signed_graph
from clustruct.partitions import indicator

# A symmetric matrix of similarities: dense, or of the listed pairs alone.
Similarities: TypeAlias = ArrayLike | sparse.sparray
# The same, checked: a float array, or CSR; exactly symmetric, zero diagonal.
Scores: TypeAlias = Floats | sparse.csr_array


def symmetric_scores(K: Similarities) -> Scores:
    """K checked, exactly symmetric and with zero diagonal; dense stays dense, sparse becomes CSR."""
    graph = signed_graph(K).with_cannot_links(0.0)
    if graph.dense is not None:
        return graph.dense
    assert graph.csr is not None
    indptr, indices, data = graph.csr
    return sparse.csr_array((data, indices, indptr), shape=(graph.n_nodes, graph.n_nodes))


def item_sums(W: Scores, y: Ints) -> Scores:
    """S_ac = sum of K_ab over the items b of cluster c other than a (m x k, dense or CSR as W is)."""
    sums = W @ indicator(y)
    return sums.tocsr() if sparse.issparse(sums) else np.asarray(sums)


def cluster_sums(sums: Scores, y: Ints) -> Scores:
    """T_cd = sum of K_ab over a in c and b in d; the diagonal counts each pair inside c twice."""
    total = indicator(y).T @ sums
    return total.tocsr() if sparse.issparse(total) else np.asarray(total)


def own_sums(sums: Scores, y: Ints) -> Floats:
    """S_ac for c the cluster of a: what a gets from the rest of its cluster."""
    return np.asarray(sums[np.arange(len(y)), y], dtype=np.float64).ravel()


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
