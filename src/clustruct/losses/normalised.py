"""The loss of k-means: how far apart two normalised cluster matrices are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Floats, Ints, LabelsLike

from .base import Loss, LossState, count_table, register


@register("normalised")
@dataclass(frozen=True)
class NormalisedLoss(DataclassState, Loss):
    """Delta_k(Y, Yhat) = 100 (1 - |Y'Yhat|_F^2 / k), k the number of true clusters.

    Y_ac = |c|^(-1/2) for a in c; for partitions |Y'Yhat|_F^2 = sum_{t,c} n_tc^2 / (s_t s_c). The prediction
    may be a `RelaxedClustering`. Both must have k clusters: a prediction with more would be
    favoured (each item alone has loss 0), so it is refused. Finley 2009, eq. (4.17), with its 100.
    Cost O(m + k^2), relaxed O(m k).

    Examples
    --------
    >>> round(NormalisedLoss()([0, 0, 1, 1], [0, 0, 0, 1]), 3)
    33.333
    >>> round(NormalisedLoss()([0, 0, 1, 1], RelaxedClustering(np.eye(4)[:, :2])), 3)
    50.0
    """

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike | RelaxedClustering) -> float:
        truth = canonical_labels(y_true, name="y_true")
        k = int(truth.max()) + 1
        if isinstance(y_pred, RelaxedClustering):
            if y_pred.n_items != truth.size:
                raise ValueError(f"Y has {y_pred.n_items} rows for {truth.size} items")
            _check_same_k(k, y_pred.n_clusters)
            return float(_loss(np.sum((normalised_indicator(truth).T @ y_pred.Y) ** 2), k))
        labels = canonical_labels(y_pred, n_items=truth.size, name="y_pred")
        _check_same_k(k, int(labels.max()) + 1)
        return float(_loss(_agreement(count_table(truth, labels)), k))

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> "NormalisedState":
        return NormalisedState(y_true, labels)


def _check_same_k(k: int, k_pred: int) -> None:
    if k != k_pred:
        raise ValueError(
            f"the normalised loss compares clusterings with the same number of clusters, not {k} "
            f"and {k_pred}: score with another loss where the number is chosen"
        )


def _agreement(counts: Ints) -> float:
    """|Y'Yhat|_F^2 = sum n_tc^2 / (s_t s_c)."""
    sizes, truths = counts.sum(axis=1), counts.sum(axis=0)
    return float(np.sum(counts**2 / np.outer(sizes, truths)))


def _loss(agreement: ArrayLike, k: int) -> Floats:
    # Rounding may leave 1e-14 below zero, or above it for the truth itself.
    values = 100.0 * (1.0 - np.asarray(agreement, dtype=np.float64) / k)
    return np.where(values > 1e-10, values, 0.0)


class NormalisedState(LossState):
    """The state of the normalised loss; k stays the number of true clusters. A move value costs O(k^2)."""

    @property
    def value(self) -> float:
        return float(_loss(_agreement(self.counts), self.counts.shape[1]))

    def merge_values(self) -> Floats:
        sizes, truths = self.counts.sum(axis=1), self.counts.sum(axis=0)
        products = self.counts / truths @ self.counts.T
        own = np.diag(products)
        joined = (own[:, None] + own + 2.0 * products) / (sizes[:, None] + sizes)
        alone = own / sizes
        values = _loss(alone.sum() - alone[:, None] - alone + joined, truths.size)
        np.fill_diagonal(values, self.value)
        return values

    def move_values(self, item: int) -> Floats:
        source, t, k = int(self.labels[item]), int(self.truth[item]), self.counts.shape[1]
        truths = self.counts.sum(axis=0)
        apart = np.vstack([self.counts, np.zeros_like(truths)])
        apart[source, t] -= 1
        joined = apart.copy()
        joined[:, t] += 1
        without, within = _row_agreement(apart, truths), _row_agreement(joined, truths)
        values = _loss(without.sum() - without + within, k)
        values[source] = self.value
        return values


def _row_agreement(counts: Ints, truths: Ints) -> Floats:
    sizes = np.maximum(counts.sum(axis=1), 1)
    return np.asarray((counts**2 / truths).sum(axis=1) / sizes, dtype=np.float64)
