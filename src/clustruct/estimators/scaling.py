"""Feature scales, so that C means the same for every data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.itemsets import ItemSet

Vector = NDArray[np.float64]


def feature_scale(sets: Sequence[ItemSet]) -> Vector:
    """The root mean square of each pair feature over the pairs of all sets, sets counting alike.

    Node products of dense nodes are scaled one by one; those of sparse nodes by one number, since a
    word that is rare must not be blown up by being rare. A feature that is zero everywhere has scale 1.
    """
    squares = np.mean([_mean_squares(x) for x in sets], axis=0)
    nodes = sets[0].n_node_features
    if nodes and sparse.issparse(sets[0].nodes):
        squares[:nodes] = squares[:nodes].sum()
    return np.where(squares > 0.0, np.sqrt(np.maximum(squares, 1e-300)), 1.0)


def _mean_squares(x: ItemSet) -> Vector:
    """Mean of psi_ab^2 over the pairs a < b of one set; for node products (sum x^2)^2 - sum x^4 over 2."""
    pairs = max(x.n_items * (x.n_items - 1) / 2, 1)
    parts = []
    if x.nodes is not None:
        X2 = x.nodes.power(2) if sparse.issparse(x.nodes) else x.nodes**2
        fourth = X2.power(2) if sparse.issparse(X2) else X2**2
        total, own = (np.asarray(A.sum(axis=0)).ravel() for A in (X2, fourth))
        parts.append(np.maximum(total**2 - own, 0.0) / 2)
    if x.pairs is not None:
        P2 = x.pairs.power(2) if sparse.issparse(x.pairs) else x.pairs**2
        parts.append(np.asarray(P2.sum(axis=0)).ravel())
    return np.concatenate(parts) / pairs
