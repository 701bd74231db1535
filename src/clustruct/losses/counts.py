"""Losses that depend on counts alone, which compiled searches can evaluate.

    Delta = max(0, (a_0 + a_Q Q + a_k k) / (b_0 + b_k k + b_P P)),   0 where the denominator is 0
    P = pairs together in ybar
    Q = p * P + q * (pairs together in both) + z * (occupied cells)

k is the number of predicted clusters; a cell (c, t) is occupied when predicted cluster c and true cluster t
share an item. A merge of c and d changes P by s_c s_d and Q by p s_c s_d + q sum_t n_ct n_dt
- z |{t : n_ct, n_dt > 0}|, a move of one item both by counts of two clusters only. Pairwise, MITRE and
pairwise F losses are all of this form.

Where not every label is known, P counts the judged pairs: s_c is then the number of known items of a cluster,
u_c that of the others, and a cluster has s_c (s_c - 1) / 2 + v s_c u_c judged pairs (v: `background_weight`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.partitions import canonical_labels, co_membership, contingency
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Bools, Floats, Ints, LabelsLike

from .base import LinearLoss, Loss, LossState, PairWeights, register


@dataclass(frozen=True)
class CountForm:
    """The coefficients of a count loss for one truth: (a_0, a_Q, a_k), (b_0, b_k, b_P), p, q, z and v.

    Attributes
    ----------
    numerator : tuple of float, float, float
        The coefficients (a_0, a_Q, a_k).
    denominator : tuple of float, float, float
        The coefficients (b_0, b_k, b_P).
    pair_weight : float
        The coefficient p of pairs that are together in the prediction.
    shared_pair_weight : float
        The coefficient q of pairs that are together in both.
    cell_weight : float
        The coefficient z of cells that are occupied.
    background_weight : float, default=1.0
        The coefficient v of pairs with an item whose label is not known.
    """

    numerator: tuple[float, float, float]
    denominator: tuple[float, float, float]
    pair_weight: float
    shared_pair_weight: float
    cell_weight: float
    background_weight: float = 1.0

    def statistics(self, counts: Ints, sizes: Ints, strangers: Ints | int = 0) -> tuple[float, float]:
        """Q and P from the cells n_ct, the sizes s_c and the numbers u_c of items without a label."""
        P = float((sizes * (sizes - 1) // 2).sum())
        if not isinstance(strangers, int):
            P += self.background_weight * float((sizes * strangers).sum())
        in_both = float((counts * (counts - 1) // 2).sum())
        cells = float(np.count_nonzero(counts))
        return self.pair_weight * P + self.shared_pair_weight * in_both + self.cell_weight * cells, P

    def value(self, Q: ArrayLike, P: ArrayLike, k: ArrayLike) -> Floats:
        """Delta for statistics Q and P and numbers of clusters k (scalars or arrays of one shape)."""
        a_0, a_Q, a_k = self.numerator
        b_0, b_k, b_P = self.denominator
        below = np.asarray(b_0 + b_k * np.asarray(k, dtype=np.float64))
        if b_P:
            below = below + b_P * np.asarray(P, dtype=np.float64)
        above = a_0 + a_Q * np.asarray(Q, dtype=np.float64) + a_k * np.asarray(k)
        safe = np.where(below == 0.0, 1.0, below)
        return np.where(below == 0.0, 0.0, np.maximum(above / safe, 0.0))


class CountLoss(Loss):
    """A loss that depends on counts alone, so that compiled searches can evaluate it."""

    @abstractmethod
    def count_form(self, y_true: LabelsLike) -> CountForm:
        """The coefficients of the loss for this truth."""

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        form, table = self.count_form(y_true), contingency(y_true, y_pred)
        sizes = np.asarray(table.sum(axis=0), dtype=np.int64)
        Q, P = form.statistics(np.asarray(table.data, dtype=np.int64), sizes)
        return float(form.value(Q, P, sizes.size))

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> CountState:
        return CountState(self.count_form(y_true), y_true, labels)


class PartialLoss(Loss):
    """A loss that can do with the labels of some items: a pair is judged when one of its items has a label;
    in the truth each of the others is alone.
    """

    @abstractmethod
    def partial(self, y_true: Ints, y_pred: Ints, known: Bools) -> float:
        """The loss of `y_pred` over the judged pairs; `known` says which labels are known."""

    @abstractmethod
    def partial_form(self, y_true: Ints, known: Bools) -> CountForm: ...


class CountState(LossState):
    """The state of a count loss. merge_values O(k^2 k_true), move_values O(k), a step O(m + k k_true)."""

    def __init__(self, form: CountForm, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.form = form
        self._update()

    @property
    def value(self) -> float:
        return float(self.form.value(self.Q, self.P, self.n_clusters))

    def merge_values(self) -> Floats:
        form, n, occupied = self.form, self.counts, (self.counts > 0).astype(np.int64)
        joined = np.outer(self.sizes, self.sizes)
        pairs = form.pair_weight * joined + form.shared_pair_weight * (n @ n.T)
        changes = pairs - form.cell_weight * (occupied @ occupied.T)
        values = form.value(self.Q + changes, self.P + joined, self.n_clusters - 1)
        np.fill_diagonal(values, self.value)
        return values

    def move_values(self, item: int) -> Floats:
        k, source = self.n_clusters, int(self.labels[item])
        after = np.full(k + 1, k - int(self.sizes[source] == 1))
        after[k] += 1
        P = self.P + np.append(self.sizes, 0) - (self.sizes[source] - 1)
        values = self.form.value(self.Q + self._move_changes(item), P, after)
        values[source] = self.value
        return values

    def _move_changes(self, item: int) -> Floats:
        form, s, n, source = self.form, self.sizes, self.counts[:, self.truth[item]], self.labels[item]
        joined = form.pair_weight * s + form.shared_pair_weight * n + form.cell_weight * (n == 0)
        pairs = form.pair_weight * (s[source] - 1) + form.shared_pair_weight * (n[source] - 1)
        return np.append(joined, form.cell_weight) - (pairs + form.cell_weight * (n[source] == 1))

    def _update(self) -> None:
        self.Q, self.P = self.form.statistics(self.counts, self.sizes)


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

    def degree_loss(self, y_true: LabelsLike, e: ArrayLike) -> float:
        """100/T sum_{a<b} cost_ab |1[a, b together in y] - e_ab| for edge degrees e in [0, 1]."""
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

        Added to K these give the loss-augmented matrix of Algorithm 4 and OP 11. Of listed ``pairs`` only
        these count: else a search that sees the loss would put strangers together for the loss alone.
        """
        y = canonical_labels(y_true, name="y_true")
        together = co_membership(y) if pairs is None else y[pairs[:, 0]] == y[pairs[:, 1]]
        if together.size == 0:
            return PairWeights(0.0, np.zeros(0))
        unit = 100.0 / together.size
        coefficients = np.where(together, -self.split_cost * unit, self.merge_cost * unit)
        return PairWeights(unit * self.split_cost * float(np.count_nonzero(together)), coefficients)

    def count_form(self, y_true: LabelsLike) -> CountForm:
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


@register("mitre")
@dataclass(frozen=True)
class MitreLoss(DataclassState, CountLoss):
    """Delta_M(y, ybar) = 100 (1 - 2PR/(P+R)), and 100 where P + R = 0.

    R = sum_c (|c| - number of ybar clusters that c meets) / sum_c (|c| - 1) over the clusters c of y, R = 1
    where the denominator is 0; P with y and ybar exchanged. Vilain et al. 1995; Finley 2009, eq. (3.13), as
    the complement of F. Both numerators are m - Z, Z the number of occupied cells, so F = 2 (m - Z) / (2m -
    k_true - k).

    Examples
    --------
    >>> round(MitreLoss()([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]), 2)
    33.33
    """

    def count_form(self, y_true: LabelsLike) -> CountForm:
        """Delta = 100 (2Z - k_true - k) / (2m - k_true - k)."""
        y = canonical_labels(y_true, name="y_true")
        k_true = float(y.max()) + 1.0 if y.size else 0.0
        return CountForm(
            numerator=(-100.0 * k_true, 200.0, -100.0),
            denominator=(2.0 * y.size - k_true, -1.0, 0.0),
            pair_weight=0.0,
            shared_pair_weight=0.0,
            cell_weight=1.0,
        )
