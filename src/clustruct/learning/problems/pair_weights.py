"""Weights that tell pairs together from pairs apart: where the latent training of links begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct.core.typing import Floats, Ints
from clustruct.data import ItemSet, all_pairs
from clustruct.data.pair_algebra import dense
from clustruct.search.oracles.example_loss import together

# With more features than these (words) the moments would take longer than the training.
MOST_FEATURES = 300
RIDGE = 1e-3


@dataclass(frozen=True)
class PairMoments:
    """Of the pairs of one set, apart (0) and together (1): how many, sums of psi and of psi psi' (None)."""

    counts: Floats
    sums: Floats
    squares: Floats | None

    @classmethod
    def of(cls, x: ItemSet, labels: Ints) -> PairMoments:
        """Cost O(p N^2); O(p N) where there are nodes or many features."""
        total = x.joint_feature_pairs(np.zeros(x.n_items, np.int64))
        same = x.joint_feature_pairs(labels)
        index = x.pair_index if x.is_sparse and x.pair_index is not None else all_pairs(x.n_items)
        right = together(labels, index)
        counts = np.array([len(right) - right.sum(), right.sum()])
        if x.nodes is not None or x.pairs is None or x.n_features > MOST_FEATURES:
            return cls(counts, np.stack([total - same, same]), None)
        kinds = [x.pairs[np.flatnonzero(right == kind)] for kind in (0.0, 1.0)]
        squares = [dense(rows.T @ rows) if sparse.issparse(rows) else rows.T @ rows for rows in kinds]
        return cls(counts, np.stack([total - same, same]), np.stack(squares))


def pair_weights(moments: list[PairMoments], scale: Floats) -> Floats:
    """w of least squares for 1 (together) and -1 (apart), both kinds weighing alike, for psi / scale.

    Where moments lack the squares: the difference of the two means.

    >>> x = ItemSet(pairs=[[1.0, 0.1], [0.0, 0.3], [0.0, 0.2]])
    >>> pair_weights([PairMoments.of(x, np.array([0, 0, 1]))], np.ones(2)).round(1)
    array([ 1.4, -3.8])
    """
    counts = np.sum([part.counts for part in moments], axis=0)
    share = 0.5 / np.maximum(counts, 1.0)
    sums = np.sum([part.sums for part in moments], axis=0) / scale
    target = share[1] * sums[1] - share[0] * sums[0]
    if any(part.squares is None for part in moments):
        return np.asarray(target)
    squares = np.sum([part.squares for part in moments if part.squares is not None], axis=0)
    gram = (share[0] * squares[0] + share[1] * squares[1]) / np.outer(scale, scale)
    ridge = RIDGE * max(float(np.trace(gram)) / len(gram), 1e-12)
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), target))
