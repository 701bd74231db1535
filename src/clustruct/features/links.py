"""Pair features for linked and co-cited items, as for web pages (Finley 2009, section 4.5.1)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct._typing import Bools, Ints
from clustruct.itemsets import ItemSet, MatrixLike

__all__ = ["LinkPairs", "link_pairs", "links"]


class LinkPairs(NamedTuple):
    """Pairs a < b that are linked (in either direction) or co-cited (some item links to both), or both."""

    pairs: Ints
    linked: Bools
    co_cited: Bools


def links(
    edges: ArrayLike,
    nodes: MatrixLike,
    *,
    products: bool = True,
    indicator: float = 1.0,
    ids: Sequence[Hashable] | None = None,
) -> ItemSet:
    """An item set of nodes with two regions of pair features::

        psi_ab = [ x_a * x_b ; L_ab [x_a * x_b ; indicator] ; M_ab [x_a * x_b ; indicator] ]

    L_ab = 1 where one of the two links to the other, M_ab = 1 where some item links to both, else 0.

    Parameters
    ----------
    edges : (e, 2) integers, each row (source, target). Items are 0..m-1; sources with other numbers are
        citing items outside the set. Repeated edges and links to oneself do nothing.
    nodes : (m, N_n) array or sparse matrix, the x_a
    products : whether the regions have the products x_a * x_b, or the indicator alone
    indicator : value of the indicator feature (beside unit rows x_a a value below 1 leaves the words a say)
    ids : names of the items

    Only pairs that are linked or co-cited have a row, and of each row only what is not zero is stored.
    A page with d links makes d (d - 1) / 2 co-cited pairs.

    >>> x = links([[0, 1], [9, 1], [9, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    >>> x.pair_index.tolist()
    [[0, 1], [1, 2]]
    >>> x.pairs.toarray()
    array([[ 3.,  8.,  1.,  0.,  0.,  0.],
           [ 0.,  0.,  0., 15.,  0.,  1.]])
    """
    X = sparse.csr_array(nodes, dtype=np.float64)
    found = link_pairs(edges, X.shape[0])
    a, b = found.pairs.T
    regions = []
    for member in (found.linked, found.co_cited):
        mask = member.astype(np.float64)
        if products:
            rows = sparse.csr_array(sparse.diags_array(mask) @ (X[a] * X[b]))
            rows.eliminate_zeros()
            regions.append(rows)
        regions.append(sparse.csr_array(indicator * mask[:, None]))
    pairs = sparse.csr_array(sparse.hstack(regions, format="csr"))
    return ItemSet(nodes, pairs, pair_index=found.pairs, ids=ids)


def link_pairs(edges: ArrayLike, n_items: int) -> LinkPairs:
    """The linked and the co-cited pairs of an edge list, sorted. Cost: the pairs found.

    >>> found = link_pairs([[0, 1], [0, 2], [1, 0]], 3)
    >>> found.pairs.tolist(), found.linked.tolist(), found.co_cited.tolist()
    ([[0, 1], [0, 2], [1, 2]], [True, True, False], [False, False, True])
    """
    given = _check_edges(edges, n_items)
    inside = ((given >= 0) & (given < n_items)).all(axis=1)
    direct = _adjacency(given[inside], n_items, n_items)
    linked = _upper(direct + direct.T)
    _, sources = np.unique(given[:, 0], return_inverse=True)
    citing = _adjacency(np.column_stack([sources, given[:, 1]]), len(given) + 1, n_items)
    co_cited = _upper(citing.T @ citing)
    either = sparse.coo_array(linked + co_cited)
    index = np.column_stack([either.row, either.col]).astype(np.int64)
    index = index[np.lexsort((index[:, 1], index[:, 0]))]
    return LinkPairs(index, _members(linked, index), _members(co_cited, index))


def _check_edges(edges: ArrayLike, n_items: int) -> Ints:
    given = np.asarray(edges)
    if given.size == 0:
        given = np.zeros((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"edges must be an (e, 2) integer array, got {given.dtype} {given.shape}")
    outside = np.flatnonzero((given[:, 1] < 0) | (given[:, 1] >= n_items))
    if outside.size:
        row = int(outside[0])
        raise ValueError(f"edges: row {row} has the target {given[row, 1]}, not an item in 0..{n_items - 1}")
    distinct = given[given[:, 0] != given[:, 1]]
    return distinct.astype(np.int64)


def _adjacency(edges: Ints, rows: int, columns: int) -> sparse.csr_array:
    """1 for each edge, however often it is given."""
    A = sparse.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(rows, columns))
    A.data[:] = 1.0
    return A


def _upper(A: sparse.sparray) -> sparse.csr_array:
    """The pairs a < b with an entry, as ones."""
    upper = sparse.csr_array(sparse.triu(A, 1))
    upper.data[:] = 1.0
    return upper


def _members(graph: sparse.csr_array, index: Ints) -> Bools:
    keys, n = np.asarray(graph.tocoo().coords).T, graph.shape[1]
    return np.isin(index[:, 0] * n + index[:, 1], keys[:, 0].astype(np.int64) * n + keys[:, 1])
