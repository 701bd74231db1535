"""Correlation clustering of sets that list their pairs: the others are taken as apart, and not counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.itemsets import ItemSet
from clustruct.losses import PairwiseLoss

Vector = NDArray[np.float64]


def lists_pairs(x: ItemSet) -> bool:
    """Whether most pairs of a set have no features at all."""
    return x.nodes is None and x.pair_index is not None


class ListedPairs:
    """The pairwise loss over the p listed pairs of a set: 100/p (false merges + false splits among them).

    Over all pairs a search that sees the loss would put strangers together for the loss alone, at no score.
    """

    def __init__(self, x: ItemSet, labels: Any, loss: PairwiseLoss) -> None:
        assert x.pair_index is not None
        self.i, self.j = x.pair_index.T
        self.m, self.n_pairs = x.n_items, max(len(self.i), 1)
        self.together = labels[self.i] == labels[self.j]
        self.costs, self.unit = loss, 100.0 / self.n_pairs
        cost = np.where(self.together, -loss.split_cost, loss.merge_cost)
        self.coefficients = self.unit * cost

    def loss(self, y: Any) -> float:
        """The loss of a clustering: counts, so that the truth has exactly none."""
        joined = y[self.i] == y[self.j]
        merges = int(np.count_nonzero(joined & ~self.together))
        splits = int(np.count_nonzero(self.together & ~joined))
        return self.unit * (self.costs.merge_cost * merges + self.costs.split_cost * splits)

    def graph(self, scores: Vector) -> Any:
        """The scores as one triangle of a sparse signed graph."""
        return sparse.csr_array((scores, (self.i, self.j)), shape=(self.m, self.m))
