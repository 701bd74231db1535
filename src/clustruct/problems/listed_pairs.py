"""Correlation clustering of sets that list their pairs: the others are taken as apart, and not counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats
from clustruct.itemsets import ItemSet
from clustruct.losses import PairwiseLoss


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
        unit = 100.0 / self.n_pairs
        self.merge_cost, self.split_cost = unit * loss.merge_cost, unit * loss.split_cost
        self.coefficients = np.where(self.together, -self.split_cost, self.merge_cost)

    def loss(self, y: Any) -> float:
        """The loss of a clustering."""
        found = y[self.i] == y[self.j]
        merges, splits = np.count_nonzero(found & ~self.together), np.count_nonzero(self.together & ~found)
        return float(self.merge_cost * merges + self.split_cost * splits)

    def graph(self, scores: Floats) -> Any:
        """The scores as one triangle of a sparse signed graph."""
        return sparse.csr_array((scores, (self.i, self.j)), shape=(self.m, self.m))
