"""Losses for searches on listed pairs: what a merge or a move would make of Delta, from the clusters
concerned.

No table of clusters by true clusters is made: a cluster holds its few counts alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter

import numpy as np

from clustruct.losses import CountForm

from .example_loss import ExampleLoss


class GraphLoss(ABC):
    """Delta of a partition under search, whose clusters have names; ``labels`` belong to the search.

    A *change* is a number that says what a step does to the loss, whatever happens elsewhere.
    ``by_cluster``: changes depend on what the clusters hold (not only on the listed pairs between them).
    ``stale``: other steps make them out of date.
    """

    by_cluster = False
    stale = False

    def __init__(self, loss: ExampleLoss, labels: list[int]) -> None:
        self.loss, self.labels = loss, labels
        self.value = loss(np.array(labels, dtype=np.int64))

    @abstractmethod
    def merge_change(self, c: int, d: int, costs: float) -> float:
        """The change when c and d merge; ``costs``: the coefficients of the pairs between them, summed."""

    @abstractmethod
    def after_merge(self, change: float) -> float:
        """Delta after a merge of that change."""

    @abstractmethod
    def merge(self, c: int, d: int, change: float) -> None:
        """Cluster d becomes part of c. Called before the labels change."""

    @abstractmethod
    def after_move(self, item: int, target: int, costs: float) -> float:
        """Delta after the item moved to the cluster; ``costs``: to it, minus to its own."""

    def move(self, item: int, target: int, value: float) -> None:
        """The item moves, which makes Delta ``value``. Called before the labels change."""
        self.value = value


class PairGraphLoss(GraphLoss):
    """A loss of the listed pairs, Delta = sum_r c_r (e_r - e_r(y_i)): changes are sums of coefficients."""

    def merge_change(self, c: int, d: int, costs: float) -> float:
        return costs

    def after_merge(self, change: float) -> float:
        return max(0.0, self.value + change)

    def merge(self, c: int, d: int, change: float) -> None:
        self.value = self.after_merge(change)

    def after_move(self, item: int, target: int, costs: float) -> float:
        return max(0.0, self.value + costs)


class CountGraphLoss(GraphLoss):
    """A loss of counts (`CountForm`): a change is that of Q. A merge takes the cells of one cluster."""

    by_cluster = True

    def __init__(self, loss: ExampleLoss, labels: list[int], form: CountForm) -> None:
        super().__init__(loss, labels)
        self.form, self.truth = form, loss.truth.tolist()
        self.counts: list[Counter[int]] = [Counter() for _ in labels]
        for c, t in zip(labels, self.truth, strict=True):
            self.counts[c][t] += 1
        self.sizes = [counts.total() for counts in self.counts]
        self.k = sum(size > 0 for size in self.sizes)
        cells = np.array([n for counts in self.counts for n in counts.values()], dtype=np.int64)
        self.Q = form.statistic(cells, np.array(self.sizes, dtype=np.int64))

    def merge_change(self, c: int, d: int, costs: float) -> float:
        few, many = sorted((self.counts[c], self.counts[d]), key=len)
        shared = [n * many[t] for t, n in few.items() if t in many]
        form = self.form
        inside = form.shared_pair_weight * sum(shared) - form.cell_weight * len(shared)
        return form.pair_weight * self.sizes[c] * self.sizes[d] + inside

    def after_merge(self, change: float) -> float:
        return self._value(self.Q + change, self.k - 1)

    def merge(self, c: int, d: int, change: float) -> None:
        self.Q, self.k = self.Q + change, self.k - 1
        self.value = self._value(self.Q, self.k)
        self.counts[c].update(self.counts[d])
        self.sizes[c] += self.sizes[d]
        self.counts[d], self.sizes[d] = Counter(), 0

    def after_move(self, item: int, target: int, costs: float) -> float:
        return self._value(*self._moved(item, target))

    def move(self, item: int, target: int, value: float) -> None:
        self.Q, self.k = self._moved(item, target)
        self.value = value
        t, source = self.truth[item], self.labels[item]
        self.counts[source][t] -= 1
        if not self.counts[source][t]:
            del self.counts[source][t]
        self.counts[target][t] += 1
        self.sizes[source] -= 1
        self.sizes[target] += 1

    def _moved(self, item: int, target: int) -> tuple[float, int]:
        form, t, source = self.form, self.truth[item], self.labels[item]
        own, there = self.counts[source][t] - 1, self.counts[target].get(t, 0)
        Q = self.Q + form.pair_weight * (self.sizes[target] - self.sizes[source] + 1)
        Q += form.shared_pair_weight * (there - own) + form.cell_weight * ((there == 0) - (own == 0))
        return Q, self.k + (self.sizes[target] == 0) - (self.sizes[source] == 1)

    def _value(self, Q: float, k: int) -> float:
        """`CountForm.value` for plain numbers."""
        a_0, a_Q, a_k = self.form.numerator
        below = self.form.denominator[0] + self.form.denominator[1] * k
        return max(0.0, (a_0 + a_Q * Q + a_k * k) / below) if below else 0.0


class WholeGraphLoss(GraphLoss):
    """Any loss, evaluated from scratch for each candidate: a change is the difference to Delta now."""

    stale = True

    def merge_change(self, c: int, d: int, costs: float) -> float:
        return self._of(np.where(self._labels() == d, c, self._labels())) - self.value

    def after_merge(self, change: float) -> float:
        return max(0.0, self.value + change)

    def merge(self, c: int, d: int, change: float) -> None:
        self.value = self.after_merge(change)

    def after_move(self, item: int, target: int, costs: float) -> float:
        trial = self._labels()
        trial[item] = target
        return self._of(trial)

    def _labels(self) -> np.ndarray:
        return np.array(self.labels, dtype=np.int64)

    def _of(self, labels: np.ndarray) -> float:
        return float(self.loss(labels))


def graph_loss(loss: ExampleLoss, labels: list[int]) -> GraphLoss:
    """The state of a loss at these labels."""
    if loss.by_pairs:
        return PairGraphLoss(loss, labels)
    return WholeGraphLoss(loss, labels) if loss.form is None else CountGraphLoss(loss, labels, loss.form)
