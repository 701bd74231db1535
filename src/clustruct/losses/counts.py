"""Losses that depend on counts alone, evaluated step by step.

    Delta = max(0, (a_0 + a_Q Q + a_k k) / (b_0 + b_k k)),   0 where the denominator is 0
    Q = p * (pairs together in ybar) + q * (pairs together in both) + z * (occupied cells)

k is the number of predicted clusters; a cell (c, t) is occupied when predicted cluster c and true cluster t
share an item. A merge of c and d changes Q by p s_c s_d + q sum_t n_ct n_dt - z |{t : n_ct, n_dt > 0}|,
a move of one item by counts of two clusters only. Pairwise and MITRE losses are both of this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.partitions import contingency

from .base import Loss, LossState


@dataclass(frozen=True)
class CountForm:
    """The coefficients of a count loss for one true partition: (a_0, a_Q, a_k), (b_0, b_k), (p, q, z)."""

    numerator: tuple[float, float, float]
    denominator: tuple[float, float]
    pair_weight: float
    shared_pair_weight: float
    cell_weight: float

    def statistic(self, counts: Ints, sizes: Ints) -> float:
        """Q, from the occupied cells n_ct (in any shape; empty ones do no harm) and the sizes s_c."""
        together = float((sizes * (sizes - 1) // 2).sum())
        in_both = float((counts * (counts - 1) // 2).sum())
        cells = float(np.count_nonzero(counts))
        return self.pair_weight * together + self.shared_pair_weight * in_both + self.cell_weight * cells

    def value(self, Q: ArrayLike, k: ArrayLike) -> Floats:
        """Delta for statistics Q and numbers of clusters k (scalars or arrays of one shape)."""
        a_0, a_Q, a_k = self.numerator
        b_0, b_k = self.denominator
        below = np.asarray(b_0 + b_k * np.asarray(k, dtype=np.float64))
        above = a_0 + a_Q * np.asarray(Q, dtype=np.float64) + a_k * np.asarray(k)
        safe = np.where(below == 0.0, 1.0, below)
        return np.where(below == 0.0, 0.0, np.maximum(above / safe, 0.0))


@runtime_checkable
class CountLoss(Loss, Protocol):
    """A loss that depends on counts alone, so that compiled searches can evaluate it."""

    def count_form(self, y_true: LabelsLike) -> CountForm:
        """The coefficients of the loss for this truth."""
        ...


def count_loss(form: CountForm, y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Delta from the occupied cells only, O(m log m) however many clusters there are."""
    table = contingency(y_true, y_pred)
    sizes = np.asarray(table.sum(axis=0), dtype=np.int64)
    return float(form.value(form.statistic(np.asarray(table.data, dtype=np.int64), sizes), sizes.size))


class CountState(LossState):
    """The state of a count loss. merge_value O(k_true), move_values O(k), merge O(m + k k_true)."""

    def __init__(self, form: CountForm, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.form = form
        self.statistic = form.statistic(self.counts, self.sizes)

    @property
    def value(self) -> float:
        """Delta(y, labels)."""
        return float(self.form.value(self.statistic, self.n_clusters))

    def merge_value(self, c: int, d: int) -> float:
        """Delta after merging clusters c and d."""
        if c == d:
            return self.value
        return float(self.form.value(self.statistic + self._merge_change(c, d), self.n_clusters - 1))

    def move_value(self, item: int, cluster: int) -> float:
        """Delta after moving the item."""
        return float(self.move_values(item)[cluster])

    def move_values(self, item: int) -> Floats:
        """Delta after moving the item to each cluster, the last a new one. O(k)."""
        k, source = self.n_clusters, int(self.labels[item])
        changes = self._leave_change(item) + self._join_changes(item)
        after = np.full(k + 1, k - int(self.sizes[source] == 1))
        after[k] += 1
        values = np.asarray(self.form.value(self.statistic + changes, after), dtype=np.float64)
        values[source] = self.value
        return values

    def _merge_change(self, c: int, d: int) -> float:
        """Change of Q when c and d merge."""
        form, s, both = self.form, self.sizes, self.counts[c] * self.counts[d]
        shared = form.shared_pair_weight * int(both.sum()) - form.cell_weight * np.count_nonzero(both)
        return float(form.pair_weight * int(s[c] * s[d]) + shared)

    def _join_changes(self, item: int) -> Floats:
        """Change of Q when the item, held apart, joins each cluster or (last) becomes a new one."""
        form, n, s = self.form, self.counts[:, self.truth[item]], self.sizes
        joined = form.pair_weight * s + form.shared_pair_weight * n + form.cell_weight * (n == 0)
        return np.append(joined, form.cell_weight).astype(np.float64)

    def _leave_change(self, item: int) -> float:
        """Change of Q when the item is taken out of its cluster and held apart."""
        source = int(self.labels[item])
        s, n = int(self.sizes[source]), int(self.counts[source, self.truth[item]])
        form = self.form
        gained = form.pair_weight * (s - 1) + form.shared_pair_weight * (n - 1) + form.cell_weight * (n == 1)
        return -float(gained)

    def merge(self, c: int, d: int) -> None:
        """Merge clusters c and d."""
        self._check_cluster(min(c, d), self.n_clusters)
        self._check_cluster(max(c, d), self.n_clusters)
        if c != d:
            self.statistic += self._merge_change(c, d)
        super().merge(c, d)

    def move(self, item: int, cluster: int) -> None:
        """Move the item to the cluster (k: a new one)."""
        self._check_cluster(cluster, self.n_clusters + 1)
        if cluster != self.labels[item]:
            self.statistic += self._leave_change(item) + float(self._join_changes(item)[cluster])
        super().move(item, cluster)
