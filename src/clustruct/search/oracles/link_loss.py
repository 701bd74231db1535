"""Losses of links: how far a forest, or the links of ordered items, are from some that make the truth.

    single link:  Delta = s (m - k - sum_{(a,b) in h} l_ab),   l = 1 inside a cluster of the truth, else -1
    left links:   Delta = 100/m (n - sum_{(a,b) in h} l_ab),   l = 1 for a true mate, else -r

m - k links span the k clusters of the truth (where pairs are listed: the k pieces of them that the list
connects), n items have an earlier true mate. Both are 0 exactly for links that make the truth, and linear in
the links: a search on K_ab - s l_ab is exact. s = 100 / (2m - k - 1), and 100 / (m - 1) where k = 1, makes
the largest loss of a forest 100 (Finley 2009, section 6.2; Yu and Joachims 2009).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from clustruct.core.partitions import connected_items
from clustruct.core.typing import Floats, Ints
from clustruct.data import all_pairs
from clustruct.losses import Loss
from clustruct.search.agglomerative import WeightedLinks

from .example_loss import ExampleLoss, Output, together


class LinkLoss(ExampleLoss):
    """The loss of links for one truth. ``judge`` is the loss that partitions are judged by.

    >>> from clustruct.losses import PairwiseLoss
    >>> loss = ForestLoss(PairwiseLoss(), np.array([0, 0, 1]))
    >>> links = [WeightedLinks.plain(3, np.array(pairs)) for pairs in ([[0, 1]], [[0, 2], [1, 2]])]
    >>> loss(links[0]), loss(links[1])
    (0.0, 100.0)
    """

    def __init__(self, judge: Loss, truth: Ints, index: Ints | None = None) -> None:
        super().__init__(judge, truth)
        self._listed = index

    @property
    def unit(self) -> float:
        """s."""
        raise NotImplementedError

    @property
    def n_true(self) -> int:
        """How many right links there can be."""
        raise NotImplementedError

    @property
    def wrong(self) -> float:
        """What a wrong link counts beside a right one."""
        return 1.0

    @cached_property
    def _true_pairs(self) -> Ints:
        index = all_pairs(self.truth.size) if self._listed is None else self._listed
        return index[together(self.truth, index) > 0.0]

    def __call__(self, y: Output) -> float:
        """Delta(y_i, h), 0 where rounding leaves a little of a right h."""
        assert isinstance(y, WeightedLinks)
        right = together(self.truth, y.index)
        return self.unit * max(
            self.n_true - float(right.sum()) + self.wrong * float((1.0 - right).sum()), 0.0
        )

    @cached_property
    def coefficients(self) -> Floats:
        """-s l_ab of each scored pair."""
        index = all_pairs(self.truth.size) if self._listed is None else self._listed
        right = together(self.truth, index)
        return np.asarray(self.unit * (self.wrong * (1.0 - right) - right))


class ForestLoss(LinkLoss):
    """Of forests (single link)."""

    @cached_property
    def n_true(self) -> int:
        """m - k."""
        return self.truth.size - len(np.unique(connected_items(self.truth.size, self._true_pairs)))

    @cached_property
    def unit(self) -> float:
        m, k = self.truth.size, self.truth.size - self.n_true
        return 0.0 if m == 1 else 100.0 / (m - 1 if k == 1 else 2 * m - k - 1)


class LeftLoss(LinkLoss):
    """Of one earlier item, or none, for each item; a wrong one counts r."""

    def __init__(self, judge: Loss, truth: Ints, index: Ints | None = None, r: float = 1.0) -> None:
        super().__init__(judge, truth, index)
        self.r = r

    @property
    def wrong(self) -> float:
        """r."""
        return self.r

    @cached_property
    def n_true(self) -> int:
        """Items with an earlier true mate."""
        return len(np.unique(self._true_pairs[:, 1]))

    @cached_property
    def unit(self) -> float:
        return 100.0 / self.truth.size
