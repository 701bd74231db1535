"""The pairwise F loss: what people who judge by precision and recall of pairs mean."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Bools, Ints, LabelsLike

from .base import Loss, register
from .counts import CountForm, CountLoss, PartialLoss


class PairCounts(NamedTuple):
    """Judged pairs: together in both partitions (a), in the predicted one (P), and in the true one (T)."""

    both: float
    predicted: float
    true: float


class PairCountLoss(Loss):
    """A loss that depends on three counts of judged pairs alone: (1 + beta^2) a / (P + beta^2 T).

    ``transitive`` says whether pairs that are together but not listed count in training on listed pairs.
    """

    beta: float
    background_weight: float
    transitive: bool

    @abstractmethod
    def of_counts(self, counts: PairCounts) -> float:
        """Delta from the counts; exactly 0 where they are equal."""

    @abstractmethod
    def slopes(self, counts: PairCounts) -> tuple[float, float]:
        """Minus the derivative of Delta by a at fixed b = P - a, and that by b."""


@register("pairwise_f")
@dataclass(frozen=True)
class PairwiseFLoss(DataclassState, CountLoss, PairCountLoss, PartialLoss):
    """Delta_F(y, ybar) = 100 (1 - F),   F = (1 + beta^2) a / (P + beta^2 T).

    a pairs are together in both, P in ybar and T in y; 0 where there is no pair in either. Pairs that are
    together by transitivity count as any other. Training on listed pairs counts these alone, as
    `PairwiseLoss` does: a search that sees the loss would glue clusters together by a few weak pairs (mean
    slack above 90).

    Where only some labels are known, pairs of which one item at least is known are judged; those with an
    unknown item are false, and count ``background_weight`` in P: 1/2 gives the ratio of false to true pairs
    of the whole table where the known clusters were drawn at random.

    Parameters
    ----------
    beta : float, default=1.0
        How much more recall counts than precision.
    background_weight : float, default=1.0
        What a false pair with an item of unknown label counts.
    transitive : bool, default=False
        Whether pairs that are not listed count where pairs are listed (slow).

    Examples
    --------
    >>> PairwiseFLoss()([0, 0, 1, 1], [0, 0, 0, 1])
    60.0
    """

    beta: float = 1.0
    background_weight: float = 1.0
    transitive: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta must be a finite number above 0, got {self.beta!r}")
        if not (np.isfinite(self.background_weight) and self.background_weight >= 0):
            raise ValueError(
                f"background_weight must be a finite number of at least 0, got {self.background_weight!r}"
            )

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        truth = canonical_labels(y_true, name="y_true")
        pred = canonical_labels(y_pred, n_items=truth.size, name="y_pred")
        return self.partial(truth, pred, np.ones(truth.size, np.bool_))

    def partial(self, y_true: Ints, y_pred: Ints, known: Bools) -> float:
        return self.of_counts(pair_counts(y_true, y_pred, known, self.background_weight))

    def of_counts(self, counts: PairCounts) -> float:
        a, P, T = counts
        square = self.beta**2
        below = P + square * T
        return 100.0 * ((P - a) + square * (T - a)) / below if below else 0.0

    def slopes(self, counts: PairCounts) -> tuple[float, float]:
        """What one more true pair together takes from Delta, and what one more false one adds to it.

        >>> PairwiseFLoss().slopes(PairCounts(2.0, 2.0, 2.0))
        (25.0, 25.0)
        """
        a, P, T = counts
        square = self.beta**2
        below = P + square * T
        if not below:
            return 0.0, 0.0
        unit = 100.0 * (1.0 + square) / below**2
        return unit * (below - a), unit * a

    def count_form(self, y_true: LabelsLike) -> CountForm:
        y = canonical_labels(y_true, name="y_true")
        return self.partial_form(y, np.ones(y.size, np.bool_))

    def partial_form(self, y_true: Ints, known: Bools) -> CountForm:
        """Delta = 100 (beta^2 T + P - (1 + beta^2) a) / (beta^2 T + P) of the judged pairs."""
        square = float(self.beta**2)
        in_truth = square * _pairs(np.bincount(y_true[known]))
        return CountForm(
            numerator=(100.0 * in_truth, 100.0, 0.0),
            denominator=(in_truth, 0.0, 1.0),
            pair_weight=1.0,
            shared_pair_weight=-(1.0 + square),
            cell_weight=0.0,
            background_weight=float(self.background_weight),
        )


def pair_counts(truth: Ints, pred: Ints, known: Bools, background_weight: float = 1.0) -> PairCounts:
    """a, P and T over the pairs that touch a known item, from labels 0, 1, ...; O(m log m)."""
    t, c = truth[known], pred[known]
    k = int(pred.max(initial=-1)) + 1
    sizes = np.bincount(c, minlength=k)
    strangers = np.bincount(pred, minlength=k) - sizes
    cells = np.unique(t * k + c, return_counts=True)[1]
    P = _pairs(sizes) + background_weight * float(sizes @ strangers)
    return PairCounts(_pairs(cells), P, _pairs(np.bincount(t)))


def _pairs(sizes: Ints) -> float:
    return float((sizes * (sizes - 1)).sum() // 2)
