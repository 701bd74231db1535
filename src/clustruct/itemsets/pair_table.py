"""psi of many pairs at once, one row each."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from clustruct._typing import Ints

from .item_set import ItemSet
from .pair_algebra import AllPairs, Matrix, SomePairs


def pair_table(x: ItemSet, pairs: Ints) -> Matrix:
    """psi_ab of the pairs (p x 2): node products and pair features side by side, zero where not listed.

    Sparse where a part of it is.

    >>> x = ItemSet(nodes=[[1.0], [2.0], [4.0]], pairs=[[5.0], [6.0], [7.0]])
    >>> pair_table(x, np.array([[0, 2], [2, 1]]))
    array([[4., 6.],
           [8., 7.]])
    """
    a, b = pairs[:, 0], pairs[:, 1]
    parts: list[Matrix] = []
    if x.nodes is not None:
        parts.append(x.nodes[a] * x.nodes[b])
    if x.pairs is not None:
        known = AllPairs(x.n_items) if x.pair_index is None else SomePairs(x.n_items, x.pair_index)
        parts.append(_picked(x.pairs, known.rows(np.minimum(a, b), np.maximum(a, b))))
    if any(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.concatenate(parts, axis=1)


def _picked(A: Matrix, rows: Ints) -> Matrix:
    """The rows named, zero rows for -1."""
    found = np.flatnonzero(rows >= 0)
    if isinstance(A, sparse.csr_array):
        pick = sparse.csr_array((np.ones(found.size), (found, rows[found])), shape=(rows.size, A.shape[0]))
        return sparse.csr_array(pick @ A)
    out = np.zeros((rows.size, A.shape[1]))
    out[found] = A[rows[found]]
    return out
