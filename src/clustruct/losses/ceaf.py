"""The CEAF losses: 1 - F of predicted clusters matched one to one with true ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from clustruct.core.partitions import contingency
from clustruct.core.storage import DataclassState
from clustruct.core.typing import Floats, Ints, LabelsLike

from .base import LossState, register
from .cluster_tables import TableForm, TableLoss


def best_matching(weights: Floats | sparse.sparray) -> float:
    """Total weight of the best one-to-one map of rows to columns, weights not negative (Hungarian method).

    Each connected part of the table is matched alone: tables of many thousand clusters never become dense.

    >>> best_matching(np.array([[3.0, 2.0], [2.0, 0.0]]))
    4.0
    """
    table = sparse.coo_array(weights)
    rows, columns = table.coords
    ends = (rows, table.shape[0] + columns)
    graph = sparse.coo_array((np.ones(len(rows)), ends), shape=(sum(table.shape), sum(table.shape)))
    part = connected_components(graph, directed=False)[1][rows]
    order = np.argsort(part, kind="stable")
    stops = np.flatnonzero(np.diff(part[order], append=-1)) + 1
    total = 0.0
    for start, stop in pairwise([0, *stops.tolist()]):
        chosen = order[start:stop]
        total += _match_part(rows[chosen], columns[chosen], table.data[chosen])
    return total


def _match_part(rows: Ints, columns: Ints, weights: Floats) -> float:
    if len(weights) == 1:
        return float(weights[0])
    i, j = np.unique(rows, return_inverse=True)[1], np.unique(columns, return_inverse=True)[1]
    dense = np.zeros((i.max() + 1, j.max() + 1))
    dense[i, j] = weights
    return float(dense[linear_sum_assignment(dense, maximize=True)].sum())


class _MatchedLoss(TableLoss):
    """A loss by the best one-to-one map of clusters."""

    @abstractmethod
    def of_table(self, counts: Ints | sparse.sparray) -> float:
        """Delta from n_ct, predicted clusters as rows."""

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        return self.of_table(contingency(y_true, y_pred).T)

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> MatchedState:
        return MatchedState(self, y_true, labels)


@register("ceaf_mention")
@dataclass(frozen=True)
class CEAFMentionLoss(DataclassState, _MatchedLoss):
    """Delta(y, ybar) = 100 (1 - V / m),   V = max over one-to-one maps g of sum_t n_{t, g(t)}.

    The share of items outside matched clusters (CEAF with phi_3, Luo 2005). Cost O(k^3), as for
    `CEAFEntityLoss`.

    Examples
    --------
    >>> CEAFMentionLoss()([0, 0, 1, 1], [0, 0, 0, 1])
    25.0
    """

    def of_table(self, counts: Ints | sparse.sparray) -> float:
        m = float(counts.sum())
        return max(0.0, 100.0 * (1.0 - best_matching(counts) / m)) if m else 0.0

    def table_form(self, y_true: LabelsLike) -> TableForm:
        return TableForm.of("ceaf_mention", y_true)


@register("ceaf_entity")
@dataclass(frozen=True)
class CEAFEntityLoss(DataclassState, _MatchedLoss):
    """Delta(y, ybar) = 100 (1 - 2 V / (k + k_true)),   V = max_g sum_t 2 n_{t, g(t)} / (|t| + |g(t)|).

    1 - F of clusters found, each as far as it is like the one it is matched with (CEAF with phi_4, Luo 2005).

    Examples
    --------
    >>> round(CEAFEntityLoss()([0, 0, 1, 1], [0, 0, 0, 0]), 2)
    55.56
    """

    def of_table(self, counts: Ints | sparse.sparray) -> float:
        table = sparse.coo_array(counts)
        if not table.nnz:
            return 0.0
        (c, t), n = table.coords, table.data.astype(np.float64)
        sizes, true_sizes = np.bincount(c, weights=n), np.bincount(t, weights=n)
        like = sparse.coo_array((2.0 * n / (sizes[c] + true_sizes[t]), (c, t)), shape=table.shape)
        k = np.count_nonzero(sizes) + np.count_nonzero(true_sizes)
        return float(max(0.0, 100.0 * (1.0 - 2.0 * best_matching(like) / k)))

    def table_form(self, y_true: LabelsLike) -> TableForm:
        return TableForm.of("ceaf_entity", y_true)


class MatchedState(LossState):
    """The state of a CEAF loss: each candidate is matched from scratch. Compiled searches match few."""

    def __init__(self, loss: _MatchedLoss, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.loss = loss

    @property
    def value(self) -> float:
        return self.loss.of_table(self.counts)

    def merge_values(self) -> Floats:
        k = self.n_clusters
        values = np.full((k, k), self.value)
        for c, d in combinations(range(k), 2):
            joined = np.delete(self.counts, d, axis=0)
            joined[c] += self.counts[d]
            values[c, d] = values[d, c] = self.loss.of_table(joined)
        return values

    def move_values(self, item: int) -> Floats:
        source, t = int(self.labels[item]), int(self.truth[item])
        without = np.vstack([self.counts, np.zeros_like(self.counts[:1])])
        without[source, t] -= 1
        values = np.full(self.n_clusters + 1, self.value)
        for c in range(self.n_clusters + 1):
            if c != source:
                without[c, t] += 1
                values[c] = self.loss.of_table(without)
                without[c, t] -= 1
        return values
