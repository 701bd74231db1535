"""The pairwise loss Delta_P, the share of wrong pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.partitions import canonical_labels, co_membership
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Ints, LabelsLike

from .base import LinearLoss, PairWeights, register
from .counts import CountForm, CountLoss


@register("pairwise")
@dataclass(frozen=True)
class PairwiseLoss(DataclassState, CountLoss, LinearLoss):
    """Delta_P(y, ybar) = 100/T (merge_cost |false merges| + split_cost |false splits|), T = m(m-1)/2.

    A false merge is a pair together in the prediction and apart in the truth, a false split the
    reverse. With both costs 1 this is 100 (1 - Rand index); costs above 1 can pass 100. One item: 0.
    Finley 2009, eq. (3.11), relaxed (3.19). Cost O(m log m).

    Parameters
    ----------
    merge_cost : float, default=1.0
        What a false merge counts.
    split_cost : float, default=1.0
        What a false split counts.

    Examples
    --------
    >>> PairwiseLoss()([0, 0, 1, 1], [0, 0, 0, 1])
    50.0
    >>> PairwiseLoss(merge_cost=2.0)([0, 0, 1], [0, 0, 0]) == 400 / 3
    True
    """

    merge_cost: float = 1.0
    split_cost: float = 1.0

    def __post_init__(self) -> None:
        for name in ("merge_cost", "split_cost"):
            cost = getattr(self, name)
            if not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"{name} must be a finite number of at least 0, got {cost!r}")

    def relaxed(self, y_true: LabelsLike, e: ArrayLike) -> float:
        """100/T sum_{a<b} cost_ab |1[a, b together in y] - e_ab| for edge degrees e in [0, 1].

        >>> PairwiseLoss().relaxed([0, 0], [0.25])
        75.0
        """
        weights = self.pair_weights(y_true)
        degrees = np.asarray(e, dtype=np.float64)
        if degrees.shape != weights.coefficients.shape:
            raise ValueError(f"e has shape {degrees.shape}; expected {weights.coefficients.shape}")
        if not ((degrees >= 0) & (degrees <= 1)).all():
            pair = int(np.argmin((degrees >= 0) & (degrees <= 1)))
            raise ValueError(f"e: entry {pair} is {degrees[pair]}, outside 0..1")
        return max(0.0, weights.constant + float(weights.coefficients @ degrees))

    def pair_weights(self, y_true: LabelsLike, pairs: Ints | None = None) -> PairWeights:
        """Delta = constant + sum_{a<b} c_ab e_ab; c = +100/T merge_cost apart, -100/T split_cost together.

        Added to K these coefficients give the loss-augmented matrix of Algorithm 4 and OP 11. Of listed
        ``pairs`` (T x 2) only these are counted: over all pairs a search that sees the loss would put
        strangers together for the loss alone, at no score.

        >>> PairwiseLoss().pair_weights([0, 0, 1]).coefficients.round(2).tolist()
        [-33.33, 33.33, 33.33]
        """
        y = canonical_labels(y_true, name="y_true")
        together = co_membership(y) if pairs is None else y[pairs[:, 0]] == y[pairs[:, 1]]
        if together.size == 0:
            return PairWeights(0.0, np.zeros(0))
        unit = 100.0 / together.size
        coefficients = np.where(together, -self.split_cost * unit, self.merge_cost * unit)
        return PairWeights(unit * self.split_cost * float(np.count_nonzero(together)), coefficients)

    def count_form(self, y_true: LabelsLike) -> CountForm:
        """Q = merge_cost (together in ybar) - (merge_cost + split_cost) (together in both)."""
        y = canonical_labels(y_true, name="y_true")
        sizes = np.bincount(y)
        unit = 100.0 / max(y.size * (y.size - 1) // 2, 1)
        in_truth = float((sizes * (sizes - 1) // 2).sum())
        return CountForm(
            numerator=(unit * self.split_cost * in_truth, unit, 0.0),
            denominator=(1.0, 0.0, 0.0),
            pair_weight=float(self.merge_cost),
            shared_pair_weight=-float(self.merge_cost + self.split_cost),
            cell_weight=0.0,
        )
