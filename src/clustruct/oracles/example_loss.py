"""The loss of one example, bound to its truth and to the pairs that are judged."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from clustruct._typing import Bools, Floats, Ints
from clustruct.inference.correlation import EdgeDegrees
from clustruct.losses import CountForm, CountLoss, LinearLoss, Loss, LossState, NormalisedLoss
from clustruct.pair_scores import PairScores
from clustruct.partitions import RelaxedClustering, normalised_indicator


class ExampleLoss:
    """Delta(y_i, .) for one truth y_i: what a search maximises and what the constraint counts are this one
    thing.

    Without ``index`` and ``judged`` it is the loss of the whole clustering. Where pairs are listed, or only
    some of them judged, a loss that is linear in pairs counts the judged ones among them; any other loss
    compares the two partitions as they are, and needs every pair judged.

    >>> from clustruct.losses import PairwiseLoss
    >>> y = np.array([0, 0, 1])
    >>> some = ExampleLoss(PairwiseLoss(), y, index=np.array([[0, 1], [0, 2]]))
    >>> some(np.array([0, 0, 0])), some(y)
    (50.0, 0.0)
    """

    def __init__(
        self, loss: Loss, truth: Ints, index: Ints | None = None, judged: Bools | None = None
    ) -> None:
        self.loss, self.truth, self.judged = loss, truth, judged
        self.by_pairs = isinstance(loss, LinearLoss) and (index is not None or judged is not None)
        if judged is not None and not self.by_pairs:
            raise ValueError(
                f"{loss} compares whole partitions, but not every pair is judged: use 'pairwise'"
            )
        if judged is not None and index is None:
            index = np.column_stack(np.triu_indices(truth.size, 1)).astype(np.int64)
        self.index = index if self.by_pairs else None

    @classmethod
    def of(cls, loss: Loss | ExampleLoss, truth: Ints, scores: PairScores) -> ExampleLoss:
        """A loss bound to the pairs that the scores say are judged."""
        return loss if isinstance(loss, ExampleLoss) else cls(loss, truth, scores.index, scores.judged)

    def __call__(self, y: Ints | EdgeDegrees | RelaxedClustering) -> float:
        """Delta(y_i, y)."""
        if self.index is not None:
            return self._of_pairs(y)
        if isinstance(y, EdgeDegrees):
            assert isinstance(self.loss, LinearLoss)
            return self.loss.relaxed(self.truth, y.degrees)
        if isinstance(y, RelaxedClustering):
            assert isinstance(self.loss, NormalisedLoss)
            return self.loss(self.truth, y)
        return self.loss(self.truth, y)

    def _of_pairs(self, y: Ints | EdgeDegrees | RelaxedClustering) -> float:
        """sum_r c_r (e_r - e_r(y_i)), by counting pairs of equal c: exactly 0 for the truth."""
        assert self.index is not None
        assert not isinstance(y, RelaxedClustering)
        e = y.at(self.index) if isinstance(y, EdgeDegrees) else together(y, self.index)
        distinct, which = self._levels
        counts = np.bincount(which, weights=e - self.together, minlength=len(distinct))
        return max(0.0, sum(c * n for c, n in zip(distinct, counts.tolist(), strict=True)))

    @cached_property
    def _levels(self) -> tuple[list[float], Ints]:
        assert self.coefficients is not None
        distinct, which = np.unique(self.coefficients, return_inverse=True)
        return distinct.tolist(), which

    @cached_property
    def together(self) -> Floats:
        """e_r(y_i) of the listed pairs."""
        assert self.index is not None
        return together(self.truth, self.index)

    @cached_property
    def coefficients(self) -> Floats | None:
        """c_ab of Delta = constant + sum c_ab e_ab, one for each scored pair; None for a loss that is not
        linear.
        """
        if not isinstance(self.loss, LinearLoss):
            return None
        if self.index is None or self.judged is None:
            return self.loss.pair_weights(self.truth, self.index).coefficients
        spread = np.zeros(len(self.index))
        spread[self.judged] = self.loss.pair_weights(self.truth, self.index[self.judged]).coefficients
        return spread

    @cached_property
    def form(self) -> CountForm | None:
        """The coefficients of a loss of the whole partition that depends on counts alone."""
        return self.loss.count_form(self.truth) if isinstance(self.loss, CountLoss) else None

    @cached_property
    def factor(self) -> sparse.csr_array:
        """Y_i, the normalised indicator of the truth."""
        return normalised_indicator(self.truth)

    def start(self, labels: Ints) -> LossState:
        """The loss of the whole partition, as a state from which a search merges and moves."""
        return self.loss.start(self.truth, labels)


def together(y: Ints, index: Ints) -> Floats:
    """e_r = 1 where the two items of a pair share a cluster, else 0."""
    return np.asarray(y[index[:, 0]] == y[index[:, 1]], dtype=np.float64)
