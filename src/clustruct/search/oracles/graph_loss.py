"""The loss of a partition under search where pairs are listed: what a merge or a move does to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustruct.losses import CountForm, PairCountLoss, PairCounts, TableForm
from clustruct.losses.cluster_tables import Sums

from .example_loss import ExampleLoss, together


class GraphLoss:
    """Delta of a partition under search, whose clusters have names; ``labels`` belong to the search.

    No table of clusters by true clusters is made. A *change* is a number (or two) that says what a step does
    to the loss, whatever happens elsewhere. This one is a loss of the listed pairs, Delta = sum_r c_r (e_r -
    e_r(y_i)): changes are sums of the coefficients c (``costs``). ``by_cluster``: changes depend on what the
    clusters hold (not only on the listed pairs between them). ``stale``: other steps make them out of date.
    """

    by_cluster = False
    stale = False

    def __init__(self, loss: ExampleLoss, labels: list[int]) -> None:
        self.loss, self.labels = loss, labels
        self.value = loss(np.array(labels, dtype=np.int64))

    def merge_change(self, c: int, d: int, costs: complex) -> Any:
        """The change when c and d merge; ``costs``: the coefficients of the pairs between them, summed."""
        return costs

    def key(self, change: Any) -> Any:
        """Equal for changes that differ by rounding alone."""
        return round(change, 10)

    def after_merge(self, change: Any) -> float:
        """Delta after a merge of that change."""
        return max(0.0, self.value + change)

    def merge(self, c: int, d: int, change: Any) -> None:
        """Cluster d becomes part of c. Called before the labels change."""
        self.value = self.after_merge(change)

    def out_of_date(self, c: int) -> Iterable[int]:
        """Clusters whose changes are not what they were, after a merge into c (where ``by_cluster``)."""
        return (c,)

    def after_move(self, item: int, target: int, costs: complex) -> float:
        """Delta after the item moved to the cluster; ``costs``: to it, minus to its own."""
        return max(0.0, self.value + costs.real)

    def move(self, item: int, target: int, costs: complex, value: float) -> None:
        """The item moves, which makes Delta ``value``. Called before the labels change."""
        self.value = value


class PairCountGraphLoss(GraphLoss):
    """A loss of the counts of listed pairs: a change is a + i P, the true and the judged pairs that a step
    puts together, as one complex number.
    """

    def __init__(self, loss: ExampleLoss, labels: list[int]) -> None:
        super().__init__(loss, labels)
        assert isinstance(loss.loss, PairCountLoss)
        assert loss.judged_pairs is not None
        assert loss.index is not None
        self.counting = loss.loss
        now = loss.judged_pairs.counts(together(np.array(labels, dtype=np.int64), loss.index))
        self.now, self.n_true = complex(now.both, now.predicted), now.true

    def key(self, change: complex) -> tuple[float, float]:
        return round(change.real, 10), round(change.imag, 10)

    def after_merge(self, change: complex) -> float:
        both, predicted = self.now.real + change.real, self.now.imag + change.imag
        return max(0.0, self.counting.of_counts(PairCounts(both, predicted, self.n_true)))

    def merge(self, c: int, d: int, change: complex) -> None:
        self.now += change
        self.value = self.after_merge(0.0)

    def after_move(self, item: int, target: int, costs: complex) -> float:
        return self.after_merge(costs)

    def move(self, item: int, target: int, costs: complex, value: float) -> None:
        self.now += costs
        self.value = value


class CountGraphLoss(GraphLoss):
    """A loss of counts (`CountForm`): a change is that of Q and P. A cluster holds its few counts alone.

    Only items whose label is known are counted; the others are strangers.
    """

    by_cluster = True

    def __init__(self, loss: ExampleLoss, labels: list[int], form: CountForm) -> None:
        super().__init__(loss, labels)
        self.form, self.truth = form, loss.truth.tolist()
        self.known = [True] * len(labels) if loss.known is None else loss.known.tolist()
        self.counts: list[Counter[int]] = [Counter() for _ in labels]
        self.strangers = [0] * len(labels)
        for c, t, known in zip(labels, self.truth, self.known, strict=True):
            if known:
                self.counts[c][t] += 1
            else:
                self.strangers[c] += 1
        self.sizes = [counts.total() for counts in self.counts]
        self.k = sum(size > 0 for size in map(int.__add__, self.sizes, self.strangers))
        cells = np.array([n for counts in self.counts for n in counts.values()], dtype=np.int64)
        sizes = (np.array(n, dtype=np.int64) for n in (self.sizes, self.strangers))
        self.Q, self.P = form.statistics(cells, *sizes)

    def merge_change(self, c: int, d: int, costs: complex) -> tuple[float, float]:
        few, many = sorted((self.counts[c], self.counts[d]), key=len)
        shared = [n * many[t] for t, n in few.items() if t in many]
        form = self.form
        inside = form.shared_pair_weight * sum(shared) - form.cell_weight * len(shared)
        P = self.sizes[c] * self.sizes[d] + form.background_weight * (
            self.sizes[c] * self.strangers[d] + self.strangers[c] * self.sizes[d]
        )
        return form.pair_weight * P + inside, P

    def key(self, change: tuple[float, float]) -> tuple[float, float]:
        # Where P is not in the denominator, merges of one change of Q are alike.
        return round(change[0], 10), round(change[1], 10) if self.form.denominator[2] else 0.0

    def after_merge(self, change: tuple[float, float]) -> float:
        return self._value(self.Q + change[0], self.P + change[1], self.k - 1)

    def merge(self, c: int, d: int, change: tuple[float, float]) -> None:
        self.Q, self.P, self.k = self.Q + change[0], self.P + change[1], self.k - 1
        self.value = self._value(self.Q, self.P, self.k)
        self.counts[c].update(self.counts[d])
        for sizes in (self.sizes, self.strangers):
            sizes[c], sizes[d] = sizes[c] + sizes[d], 0
        self.counts[d] = Counter()

    def after_move(self, item: int, target: int, costs: complex) -> float:
        return self._value(*self._after_move(item, target))

    def move(self, item: int, target: int, costs: complex, value: float) -> None:
        self.Q, self.P, self.k = self._after_move(item, target)
        self.value = value
        t, source = self.truth[item], self.labels[item]
        sizes = self.sizes if self.known[item] else self.strangers
        sizes[source] -= 1
        sizes[target] += 1
        if not self.known[item]:
            return
        self.counts[source][t] -= 1
        if not self.counts[source][t]:
            del self.counts[source][t]
        self.counts[target][t] += 1

    def _after_move(self, item: int, target: int) -> tuple[float, float, int]:
        form, source = self.form, self.labels[item]
        if self.known[item]:
            t = self.truth[item]
            own, there = self.counts[source][t] - 1, self.counts[target].get(t, 0)
            P = self.sizes[target] - self.sizes[source] + 1.0
            P += form.background_weight * (self.strangers[target] - self.strangers[source])
            inside = form.shared_pair_weight * (there - own) + form.cell_weight * ((there == 0) - (own == 0))
        else:
            P, inside = form.background_weight * (self.sizes[target] - self.sizes[source]), 0.0
        Q = self.Q + form.pair_weight * P + inside
        return Q, self.P + P, self.k + (self._size(target) == 0) - (self._size(source) == 1)

    def _size(self, c: int) -> int:
        return self.sizes[c] + self.strangers[c]

    def _value(self, Q: float, P: float, k: int) -> float:
        """`CountForm.value` for plain numbers."""
        a_0, a_Q, a_k = self.form.numerator
        b_0, b_k, b_P = self.form.denominator
        below = b_0 + b_k * k + b_P * P
        return max(0.0, (a_0 + a_Q * Q + a_k * k) / below) if below else 0.0


class TableGraphLoss(GraphLoss):
    """An additive loss of the table (`TableForm`): a change is that of P and R."""

    by_cluster = True

    def __init__(self, loss: ExampleLoss, labels: list[int], form: TableForm) -> None:
        super().__init__(loss, labels)
        self.form, self.truth = form, loss.truth.tolist()
        self.cell, self.divisor = form.cell.tolist(), form.divisor.tolist()
        self.lonely = (form.true_sizes == 1.0).tolist()
        self.counts: list[Counter[int]] = [Counter() for _ in labels]
        for c, t in zip(labels, self.truth, strict=True):
            self.counts[c][t] += 1
        self.parts = [self._part(counts) for counts in self.counts]
        self.P, self.R = (sum(part[i] for part in self.parts) for i in (0, 1))
        self.value = self._value(0.0, 0.0)

    def _part(self, counts: Counter[int]) -> tuple[float, float]:
        """p and r of a cluster."""
        A = B = 0.0
        size = alone = 0
        for t, n in counts.items():
            size += n
            alone += n * self.lonely[t]
            A += self.cell[n]
            B += self.cell[n] / self.divisor[t]
        p, r = self.form.parts(Sums(*(np.asarray(v, np.float64) for v in (size, A, B, alone))))
        return float(p), float(r)

    def _changes(self, removed: Sequence[int], added: Sequence[Counter[int]]) -> tuple[float, float]:
        """What P and R change by when these clusters go and clusters of these counts come."""
        parts, old = [self._part(counts) for counts in added], [self.parts[c] for c in removed]
        P, R = (sum(part[i] for part in parts) - sum(part[i] for part in old) for i in (0, 1))
        return P, R

    def merge_change(self, c: int, d: int, costs: complex) -> tuple[float, float]:
        return self._changes((c, d), [self.counts[c] + self.counts[d]])

    def key(self, change: tuple[float, float]) -> tuple[float, float]:
        return round(change[0], 10), round(change[1], 10)

    def after_merge(self, change: tuple[float, float]) -> float:
        return self._value(*change)

    def merge(self, c: int, d: int, change: tuple[float, float]) -> None:
        self._book({c: self.counts[c] + self.counts[d], d: Counter()})

    def after_move(self, item: int, target: int, costs: complex) -> float:
        after = self._after_move(item, target)
        return self._value(*self._changes([*after], [*after.values()]))

    def move(self, item: int, target: int, costs: complex, value: float) -> None:
        self._book(self._after_move(item, target))

    def _after_move(self, item: int, target: int) -> dict[int, Counter[int]]:
        source, one = self.labels[item], Counter({self.truth[item]: 1})
        return {source: self.counts[source] - one, target: self.counts[target] + one}

    def _book(self, after: dict[int, Counter[int]]) -> None:
        P, R = self._changes([*after], [*after.values()])
        self.P, self.R = self.P + P, self.R + R
        for c, counts in after.items():
            self.counts[c], self.parts[c] = counts, self._part(counts)
        self.value = self._value(0.0, 0.0)

    def _value(self, P: float, R: float) -> float:
        return float(self.form.value(self.P + P, self.R + R))


class MatchedGraphLoss(GraphLoss):
    """A CEAF loss: a change is that of V, the weight of the best matching with true clusters.

    V adds up over *parts*: clusters that hang together by true clusters that they share. A step is matched
    anew within the parts of its clusters, and makes only changes of steps that touch these out of date.
    """

    by_cluster = True

    def __init__(self, loss: ExampleLoss, labels: list[int], form: TableForm) -> None:
        super().__init__(loss, labels)
        self.form, self.truth, self.true_sizes = form, loss.truth.tolist(), form.true_sizes.tolist()
        self.by_size = form.kind == "ceaf_entity"
        self.counts: list[Counter[int]] = [Counter() for _ in labels]
        self.holders: list[set[int]] = [set() for _ in self.true_sizes]
        for c, t in zip(labels, self.truth, strict=True):
            self.counts[c][t] += 1
            self.holders[t].add(c)
        self.k = sum(map(bool, self.counts))
        # Of each cluster its part: clusters that are matched by themselves, and the weight of their matching.
        self.parts: dict[int, tuple[set[int], float]] = {}
        self.V = self._weight_of_parts(range(len(labels)))

    def merge_change(self, c: int, d: int, costs: complex) -> float:
        return self._change({c: self.counts[c] + self.counts[d], d: Counter()})

    def after_merge(self, change: float) -> float:
        return self._value(self.V + change, self.k - 1)

    def merge(self, c: int, d: int, change: float) -> None:
        self._book({c: self.counts[c] + self.counts[d], d: Counter()})

    def after_move(self, item: int, target: int, costs: complex) -> float:
        after = self._after_move(item, target)
        return self._value(self.V + self._change(after), self.k + self._more_clusters(after))

    def move(self, item: int, target: int, costs: complex, value: float) -> None:
        self._book(self._after_move(item, target))

    def out_of_date(self, c: int) -> Iterable[int]:
        return self._part(c)[0]

    def _after_move(self, item: int, target: int) -> dict[int, Counter[int]]:
        source, one = self.labels[item], Counter({self.truth[item]: 1})
        return {source: self.counts[source] - one, target: self.counts[target] + one}

    def _more_clusters(self, after: dict[int, Counter[int]]) -> int:
        return sum(bool(counts) - bool(self.counts[c]) for c, counts in after.items())

    def _change(self, after: dict[int, Counter[int]]) -> float:
        """What V changes by when these clusters have these counts."""
        near = set().union(*(self._part(c)[0] for c in after))
        weight = self._weight([after[e] if e in after else self.counts[e] for e in near])
        return weight - self._weight_of_parts(after)

    def _book(self, after: dict[int, Counter[int]]) -> None:
        self.V, self.k = self.V + self._change(after), self.k + self._more_clusters(after)
        for e in set().union(*(self._part(c)[0] for c in after)):
            del self.parts[e]
        for c, counts in after.items():
            for t in self.counts[c]:
                self.holders[t].discard(c)
            for t in counts:
                self.holders[t].add(c)
            self.counts[c] = counts
        self.value = self._value(self.V, self.k)

    def _weight_of_parts(self, clusters: Iterable[int]) -> float:
        """The matched weight of the parts that have these clusters, each counted once."""
        return sum({min(part): weight for part, weight in map(self._part, clusters)}.values())

    def _part(self, c: int) -> tuple[set[int], float]:
        """The part that a cluster belongs to, kept until a step touches it."""
        if c not in self.parts:
            clusters = self._hanging_together(c)
            part = clusters, self._weight([self.counts[e] for e in clusters])
            self.parts.update(dict.fromkeys(clusters, part))
        return self.parts[c]

    def _hanging_together(self, c: int) -> set[int]:
        clusters, seen, left = {c}, set[int](), [c]
        while left:
            for t in self.counts[left.pop()]:
                if t not in seen:
                    seen.add(t)
                    left.extend(self.holders[t] - clusters)
                    clusters |= self.holders[t]
        return clusters

    def _weight(self, clusters: Iterable[Counter[int]]) -> float:
        """The best matching of clusters with these counts."""
        rows = [self._likeness(counts) for counts in clusters if counts]
        columns = {t: j for j, t in enumerate(sorted(set().union(*rows)))}
        if min(len(rows), len(columns)) <= 1:
            return max((v for row in rows for v in row.values()), default=0.0)
        weights = np.zeros((len(rows), len(columns)))
        for i, row in enumerate(rows):
            weights[i, [columns[t] for t in row]] = [*row.values()]
        return float(weights[linear_sum_assignment(weights, maximize=True)].sum())

    def _likeness(self, counts: Counter[int]) -> dict[int, float]:
        """What a cluster's match with each true cluster that it meets weighs."""
        if not self.by_size:
            return {t: float(n) for t, n in counts.items()}
        size = counts.total()
        return {t: 2.0 * n / (size + self.true_sizes[t]) for t, n in counts.items()}

    def _value(self, V: float, k: int) -> float:
        share = 2.0 * V / (k + len(self.true_sizes)) if self.by_size else V / self.form.m
        return max(0.0, 100.0 * (1.0 - share))


class WholeGraphLoss(GraphLoss):
    """Any loss, evaluated from scratch for each candidate: a change is the difference to Delta now."""

    stale = True

    def merge_change(self, c: int, d: int, costs: complex) -> float:
        now = np.array(self.labels, dtype=np.int64)
        return float(self.loss(np.where(now == d, c, now))) - self.value

    def after_move(self, item: int, target: int, costs: complex) -> float:
        trial = np.array(self.labels, dtype=np.int64)
        trial[item] = target
        return float(self.loss(trial))


def graph_loss(loss: ExampleLoss, labels: list[int]) -> GraphLoss:
    """The state of a loss at these labels."""
    if loss.by_pairs:
        return GraphLoss(loss, labels) if loss.judged_pairs is None else PairCountGraphLoss(loss, labels)
    if loss.table is not None and loss.table.is_additive:
        return TableGraphLoss(loss, labels, loss.table)
    if loss.table is not None:
        return MatchedGraphLoss(loss, labels, loss.table)
    return WholeGraphLoss(loss, labels) if loss.form is None else CountGraphLoss(loss, labels, loss.form)
