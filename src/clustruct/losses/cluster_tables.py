"""Losses of the table n_ct = |c n t| that add up over predicted clusters, which compiled searches can follow.

    P = sum_c p(c),  R = sum_c r(c),  Delta = f(P, R)

A cluster c of s items is known by three sums over the true clusters t that it meets:

    A = sum_t a(n_ct),   B = sum_t a(n_ct) / g_t,   o = items of c that are alone in the truth

kind            a(n)      g_t       p(c)                            r(c)
"b_cubed"       n^2       |t|       A / s                           B
"lea"           n (n-1)   |t| - 1   A / (s - 1), o where s = 1      B, B + o where s = 1
"information"   n log n   none      A                               s log s

f is 100 (1 - F) of precision P / m and recall R / m for the first two, and for the third
100 (sum_t |t| log |t| + R - 2 P) / (m log m). An item that comes or goes changes the sums by one cell, a
merge by the cells that two clusters share: O(1) and O(k_true).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.partitions import canonical_labels
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Floats, Ints, LabelsLike

from .base import Loss, LossState, register

TableKind = Literal["b_cubed", "lea", "information", "ceaf_mention", "ceaf_entity"]
# As compiled searches number them; those from the fourth on match clusters one to one.
TABLE_KINDS: tuple[TableKind, ...] = ("b_cubed", "lea", "information", "ceaf_mention", "ceaf_entity")


class Sums(NamedTuple):
    """s, A, B and o of clusters (or of one)."""

    size: Floats
    A: Floats
    B: Floats
    alone: Floats


@dataclass(frozen=True)
class TableForm:
    """A loss of the table for one truth: its kind, a(0), ..., a(m), and of each true cluster g_t and |t|."""

    kind: TableKind
    cell: Floats
    divisor: Floats
    true_sizes: Floats

    @classmethod
    def of(cls, kind: TableKind, y_true: LabelsLike) -> TableForm:
        sizes = np.bincount(canonical_labels(y_true, name="y_true")).astype(np.float64)
        n = np.arange(int(sizes.sum()) + 1, dtype=np.float64)
        if kind == "b_cubed":
            return cls(kind, n**2, sizes, sizes)
        if kind == "lea":
            return cls(kind, n * (n - 1.0), np.maximum(sizes - 1.0, 1.0), sizes)
        if kind == "information":
            return cls(kind, _n_log_n(n), np.full(len(sizes), np.inf), sizes)
        return cls(kind, n, np.ones(len(sizes)), sizes)

    @property
    def is_additive(self) -> bool:
        return not self.kind.startswith("ceaf")

    @property
    def m(self) -> float:
        return float(len(self.cell) - 1)

    @property
    def constant(self) -> float:
        return float(_n_log_n(self.true_sizes).sum())

    def sums(self, counts: Ints) -> Sums:
        """s, A, B and o of clusters with these counts (the last axis is that of true clusters)."""
        cells = self.cell[counts]
        lonely = counts[..., self.true_sizes == 1.0].sum(axis=-1)
        size = counts.sum(axis=-1).astype(np.float64)
        return Sums(size, cells.sum(axis=-1), (cells / self.divisor).sum(axis=-1), lonely.astype(np.float64))

    def parts(self, sums: Sums) -> tuple[Floats, Floats]:
        """p(c) and r(c); 0 for no items."""
        s, A, B, alone = sums
        if self.kind == "b_cubed":
            return A / np.maximum(s, 1.0), B
        if self.kind == "lea":
            single = s == 1.0
            return np.where(single, alone, A / np.maximum(s - 1.0, 1.0)), B + np.where(single, alone, 0.0)
        return A, _n_log_n(s)

    def value(self, P: ArrayLike, R: ArrayLike) -> Floats:
        """Delta of the totals (scalars or arrays of one shape)."""
        P, R = np.asarray(P, np.float64), np.asarray(R, np.float64)
        if self.kind == "information":
            most = self.m * np.log(max(self.m, 2.0))
            return np.maximum(100.0 * (self.constant + R - 2.0 * P) / most, 0.0)
        both = self.m * (P + R)
        F = np.where(both > 0.0, 2.0 * P * R / np.where(both > 0.0, both, 1.0), 0.0 if self.m else 1.0)
        return np.maximum(100.0 * (1.0 - F), 0.0)


def _n_log_n(n: Floats) -> Floats:
    return np.asarray(n * np.log(np.maximum(n, 1.0)))


class TableLoss(Loss):
    """A loss of the table of clusters by true clusters that compiled searches know by its kind."""

    @abstractmethod
    def table_form(self, y_true: LabelsLike) -> TableForm:
        """The form of the loss for this truth."""


class AdditiveLoss(TableLoss):
    """A table loss that adds up over predicted clusters."""

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        form = self.table_form(y_true)
        truth = canonical_labels(y_true, name="y_true")
        pred = canonical_labels(y_pred, n_items=truth.size, name="y_pred")
        return _value(form, truth, pred)

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> TableState:
        return TableState(self.table_form(y_true), y_true, labels)


def _value(form: TableForm, truth: Ints, pred: Ints) -> float:
    """Delta from the occupied cells alone: O(m log m) however many clusters there are."""
    k = int(pred.max(initial=-1)) + 1
    cells, n = np.unique(truth * max(k, 1) + pred, return_counts=True)
    t, c = cells // max(k, 1), cells % max(k, 1)
    size = np.bincount(pred, minlength=k).astype(np.float64)
    alone = np.bincount(pred, weights=(form.true_sizes[truth] == 1.0).astype(np.float64), minlength=k)
    A = np.bincount(c, weights=form.cell[n], minlength=k)
    B = np.bincount(c, weights=form.cell[n] / form.divisor[t], minlength=k)
    if form.kind == "information":  # exactly 0 for the truth
        shares = np.log(n / form.true_sizes[t]) + np.log(n / size[c])
        most = form.m * float(np.log(max(form.m, 2.0)))
        return max(0.0, -100.0 * float((n * shares).sum()) / most)
    return float(
        form.value(
            *(
                part.sum()
                for part in form.parts(Sums(*(np.asarray(v, np.float64) for v in (size, A, B, alone))))
            )
        )
    )


class TableState(LossState):
    """The state of an additive table loss. merge_values O(k^2 k_true), move_values O(k)."""

    def __init__(self, form: TableForm, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.form = form
        self._update()

    @property
    def value(self) -> float:
        return float(self.form.value(self.p.sum(), self.r.sum()))

    def merge_values(self) -> Floats:
        rows = [self._join_values(c) for c in range(self.n_clusters)]
        P, R = (
            own.sum() - own[:, None] - own + np.array([row[part] for row in rows])
            for part, own in enumerate((self.p, self.r))
        )
        values = self.form.value(P, R)
        np.fill_diagonal(values, self.value)
        return values

    def _join_values(self, c: int) -> tuple[Floats, Floats]:
        """p and r of the unions of c with each cluster; of c itself those of no items."""
        others = np.where(np.arange(self.n_clusters)[:, None] == c, 0, self.counts + self.counts[c])
        return self.form.parts(self.form.sums(others))

    def move_values(self, item: int) -> Floats:
        source, t = int(self.labels[item]), int(self.truth[item])
        counts = np.vstack([self.counts, np.zeros_like(self.counts[:1])])
        counts[source, t] -= 1
        p, r = self.form.parts(self.form.sums(counts))
        counts[:, t] += 1
        joined = self.form.parts(self.form.sums(counts))
        values = self.form.value(p.sum() - p + joined[0], r.sum() - r + joined[1])
        values[source] = self.value
        return values

    def _update(self) -> None:
        self.p, self.r = self.form.parts(self.form.sums(self.counts))


@register("b_cubed")
@dataclass(frozen=True)
class BCubedLoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (1 - 2PR/(P+R)),   R = 1/m sum_ct n_ct^2 / |t|,  P = 1/m sum_ct n_ct^2 / |c|.

    Of each item, the share of its true cluster that is found with it, and the share of its predicted cluster
    that is right (Bagga and Baldwin 1998). Cost O(m log m).

    Examples
    --------
    >>> round(BCubedLoss()([0, 0, 1, 1], [0, 0, 0, 0]), 2)
    33.33
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        return TableForm.of("b_cubed", y_true)


@register("lea")
@dataclass(frozen=True)
class LEALoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (1 - 2PR/(P+R)),   R = 1/m sum_t |t| sum_c link(n_ct) / link(|t|), P the reverse.

    link(n) = n (n - 1) / 2; a cluster of one item has one link, found where the item is alone on the other
    side, too (Moosavi and Strube 2016). Cost O(m log m).

    Examples
    --------
    >>> round(LEALoss()([0, 0, 0, 1], [0, 0, 1, 2]), 6)
    40.0
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        return TableForm.of("lea", y_true)


@register("variation_of_information")
@dataclass(frozen=True)
class VariationOfInformationLoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (H(y | ybar) + H(ybar | y)) / log m,   0 for one item.

    A metric on partitions (Meila 2007); log m is its largest value. Cost O(m log m).

    Examples
    --------
    >>> VariationOfInformationLoss()([0, 0, 1, 1], [0, 0, 0, 0])
    50.0
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        # m VI = sum_t |t| log |t| + sum_c |c| log |c| - 2 sum_ct n_ct log n_ct
        return TableForm.of("information", y_true)
