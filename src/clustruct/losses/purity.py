"""The mutual purity loss."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct.core.partitions import contingency
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Floats, Ints, LabelsLike

from .base import Loss, LossState, register


@register("purity")
@dataclass(frozen=True)
class MutualPurityLoss(DataclassState, Loss):
    """Delta(y, ybar) = 100 (1 - 2 A B / (A + B)), A and B the two purities.

    A = 1/m sum_{c in y} max_{d in ybar} |c n d|, B the same with y and ybar exchanged (Finley and
    Joachims, talk of 2004). Cost O(m log m).

    Examples
    --------
    >>> round(MutualPurityLoss()([0, 0, 1, 1], [0, 0, 0, 0]), 2)
    33.33
    """

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        table = contingency(y_true, y_pred)
        if table.shape[0] == 0:
            return 0.0
        return float(_loss(_hits(table, 1), _hits(table, 0), int(table.sum())))

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> "PurityState":
        return PurityState(y_true, labels)


def _hits(table: sparse.csr_array, axis: int) -> int:
    """Sum of the largest overlaps along an axis of the sparse table."""
    return int(table.max(axis=axis).toarray().sum())


def _loss(pred_hits: Ints | int, true_hits: Floats | Ints | int, m: int) -> Floats:
    # Both sums of largest overlaps are at least 1, so the harmonic mean is always defined.
    harmonic = 2.0 * pred_hits * true_hits / (pred_hits + true_hits) / m
    return np.asarray(np.maximum(100.0 * (1.0 - harmonic), 0.0), dtype=np.float64)


class PurityState(LossState):
    """The state of the mutual purity loss. `merge_values` keeps max_t (n_ct + n_dt) and sum_t max(best_t,
    n_ct + n_dt), best_t = max_c n_ct; a merge recomputes one row, and the true clusters whose best_t it
    raised.
    """

    def __init__(self, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self._tables: tuple[Floats, Floats] | None = None

    @property
    def value(self) -> float:
        if self.truth.size == 0:
            return 0.0
        return float(_loss(self.counts.max(axis=1).sum(), self.counts.max(axis=0).sum(), self.truth.size))

    def merge_values(self) -> Floats:
        if self._tables is None:
            rows = [self._joined_row(c) for c in range(self.n_clusters)]
            self._tables = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        joined_top, joined_best = self._tables
        top = self.counts.max(axis=1)
        values = _loss(top.sum() - top[:, None] - top + joined_top, joined_best, self.truth.size)
        np.fill_diagonal(values, self.value)
        return values

    def _joined_row(self, c: int) -> tuple[Floats, Floats]:
        joined = self.counts + self.counts[c]
        best = self.counts.max(axis=0)
        hits = np.maximum(joined, best).sum(axis=1)
        return joined.max(axis=1).astype(np.float64), hits.astype(np.float64)

    def merge(self, c: int, d: int) -> None:
        before = self.counts.max(axis=0)
        super().merge(c, d)
        if c == d or self._tables is None:
            return
        kept, removed = min(c, d), max(c, d)
        top, best = (np.delete(np.delete(table, removed, axis=0), removed, axis=1) for table in self._tables)
        after = self.counts.max(axis=0)
        for t in np.flatnonzero(after > before):
            joined = np.add.outer(self.counts[:, t], self.counts[:, t])
            best += np.maximum(joined, after[t]) - np.maximum(joined, before[t])
        top[kept], best[kept] = self._joined_row(kept)
        top[:, kept], best[:, kept] = top[kept], best[kept]
        self._tables = top, best

    def move(self, item: int, cluster: int) -> None:
        super().move(item, cluster)
        self._tables = None

    def move_values(self, item: int) -> Floats:
        source, t = int(self.labels[item]), int(self.truth[item])
        n = np.vstack([self.counts, np.zeros_like(self.counts[:1])])
        n[source, t] -= 1  # held apart, then tried in each row
        top, best = n.max(axis=1), n.max(axis=0)
        pred_hits = top.sum() - top + np.maximum(top, n[:, t] + 1)
        true_hits = best.sum() - best[t] + np.maximum(best[t], n[:, t] + 1)
        values = _loss(pred_hits, true_hits, self.truth.size)
        values[source] = self.value
        return values
