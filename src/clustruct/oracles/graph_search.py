"""Greedy and local search for the most violated partition where pairs are listed: nothing of size m x m.

    maximise over partitions y:   H(y) = rule.violation(Delta(y_i, y), gain),   gain = S(y) - S(y_i)
    S(y) = sum over listed pairs {a, b}, y_a = y_b, of K_ab

Only clusters with a listed pair between them are merged, and items move only to clusters that they have a
listed pair with, or to one of their own: as in prediction, which never puts strangers together. The searches
undergenerate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from clustruct._typing import Ints
from clustruct.itemsets import PairScores
from clustruct.losses import CountForm
from clustruct.partitions import canonical_labels
from clustruct.slack_rule import SlackRule

from .base import ExampleLoss, together
from .violation_search import Search


class GraphLoss:
    """Delta of a partition under search, whose clusters have names; ``labels`` belong to the search.

    No table of clusters by true clusters is made. A *change* is a number that says what a step does to the
    loss, whatever happens elsewhere. This one is a loss of the listed pairs, Delta = sum_r c_r (e_r -
    e_r(y_i)): changes are sums of the coefficients c (``costs``). ``by_cluster``: changes depend on what the
    clusters hold (not only on the listed pairs between them). ``stale``: other steps make them out of date.
    """

    by_cluster = False
    stale = False

    def __init__(self, loss: ExampleLoss, labels: list[int]) -> None:
        self.loss, self.labels = loss, labels
        self.value = loss(np.array(labels, dtype=np.int64))

    def merge_change(self, c: int, d: int, costs: float) -> float:
        """The change when c and d merge; ``costs``: the coefficients of the pairs between them, summed."""
        return costs

    def after_merge(self, change: float) -> float:
        """Delta after a merge of that change."""
        return max(0.0, self.value + change)

    def merge(self, c: int, d: int, change: float) -> None:
        """Cluster d becomes part of c. Called before the labels change."""
        self.value = self.after_merge(change)

    def after_move(self, item: int, target: int, costs: float) -> float:
        """Delta after the item moved to the cluster; ``costs``: to it, minus to its own."""
        return max(0.0, self.value + costs)

    def move(self, item: int, target: int, value: float) -> None:
        """The item moves, which makes Delta ``value``. Called before the labels change."""
        self.value = value


class CountGraphLoss(GraphLoss):
    """A loss of counts (`CountForm`): a change is that of Q. A cluster holds its few counts alone."""

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
        now = np.array(self.labels, dtype=np.int64)
        return float(self.loss(np.where(now == d, c, now))) - self.value

    def after_move(self, item: int, target: int, costs: float) -> float:
        trial = np.array(self.labels, dtype=np.int64)
        trial[item] = target
        return float(self.loss(trial))


def graph_loss(loss: ExampleLoss, labels: list[int]) -> GraphLoss:
    """The state of a loss at these labels."""
    if loss.by_pairs:
        return GraphLoss(loss, labels)
    return WholeGraphLoss(loss, labels) if loss.form is None else CountGraphLoss(loss, labels, loss.form)


# What a pair of clusters, or an item and a cluster, have between them: score, loss coefficients.
Sums = tuple[float, float]


class GraphSearch(Search):
    """One separation problem on p listed pairs.

    Cost of `greedy` in Python: O(p log p) for losses of pairs and of counts (pairwise, MITRE), times the
    number of different effects that a merge can have on the loss, which is small; for any other loss one
    evaluation for each listed pair, and some more for each merge. A pass of `hill_climb` looks at every
    listed pair twice.

    >>> from clustruct.losses import PairwiseLoss
    >>> scores = PairScores(3, index=np.array([[0, 1], [1, 2]]), values=np.array([0.2, 0.5]))
    >>> loss = ExampleLoss(PairwiseLoss(), np.array([0, 0, 1]), scores.index)
    >>> GraphSearch(scores, loss, SlackRule("slack")).greedy()
    array([0, 1, 1])
    """

    def __init__(self, scores: PairScores, loss: ExampleLoss, rule: SlackRule) -> None:
        assert scores.index is not None
        assert scores.values is not None
        self.index, self.values, self.m = scores.index, scores.values, scores.n_items
        super().__init__(loss, rule, float(np.abs(self.values).sum()))
        costs = loss.coefficients if loss.by_pairs else None
        self.costs = np.zeros(len(self.values)) if costs is None else costs

    def score(self, labels: Ints) -> float:
        return float(self.values @ together(labels, self.index))

    def greedy(self) -> Ints:
        """Algorithm 4 over listed pairs: from singletons, merge the clusters that raise H most, until none
        does.
        """
        labels = list(range(self.m))
        self._merge(labels)
        return canonical_labels(np.array(labels, dtype=np.int64))

    def hill_climb(self, labels: Ints) -> Ints:
        """Move items while H rises; when none moves merge clusters while H rises; until neither does."""
        found = labels.tolist()
        near = self._neighbours()
        while True:
            self._move(found, near)
            if not self._merge(found):
                return canonical_labels(np.array(found, dtype=np.int64))

    def _merge(self, labels: list[int]) -> bool:
        """Greedy merges from a partition, in place. Whether there was any."""
        state = graph_loss(self.loss, labels)
        gain = self.score(np.array(labels)) - self.truth_score
        merges = _Merges(self, state, labels)
        any_made = False
        while (best := merges.best(gain)) is not None:
            H, c, d = best
            if not self.rule.violation(state.value, gain) + self.tolerance < H:
                break
            gain += merges.make(c, d)
            any_made = True
        merges.relabel()
        return any_made

    def _move(self, labels: list[int], near: list[list[tuple[int, float, float]]]) -> None:
        """Passes over the items, each to where H is highest, in place, until a pass moves none."""
        state = graph_loss(self.loss, labels)
        gain = self.score(np.array(labels)) - self.truth_score
        sizes = np.bincount(labels, minlength=self.m).tolist()
        free = [c for c in range(self.m - 1, -1, -1) if sizes[c] == 0]
        moved = True
        while moved:
            moved = False
            for item in range(self.m):
                step = self._best_move(item, state, near[item], gain, free if sizes[labels[item]] > 1 else [])
                if step is None:
                    continue
                target, gain, value = step
                state.move(item, target, value)
                source, labels[item], moved = labels[item], target, True
                sizes[source], sizes[target] = sizes[source] - 1, sizes[target] + 1
                if free and free[-1] == target:
                    free.pop()
                if sizes[source] == 0:
                    free.append(source)

    def _best_move(
        self, item: int, state: GraphLoss, near: list[tuple[int, float, float]], gain: float, free: list[int]
    ) -> tuple[int, float, float] | None:
        """Target, gain and Delta of the move that raises H most, or None."""
        sums: dict[int, Sums] = {free[-1]: (0.0, 0.0)} if free else {}
        for b, score, cost in near:
            s, l = sums.get(state.labels[b], (0.0, 0.0))
            sums[state.labels[b]] = s + score, l + cost
        left, saved = sums.pop(state.labels[item], (0.0, 0.0))
        best, step = self.rule.violation(state.value, gain) + self.tolerance, None
        for target, (s, l) in sums.items():
            after = state.after_move(item, target, l - saved)
            H = self.rule.violation(after, gain + s - left)
            if best < H:
                best, step = H, (target, gain + s - left, after)
        return step

    def _neighbours(self) -> list[list[tuple[int, float, float]]]:
        near: list[list[tuple[int, float, float]]] = [[] for _ in range(self.m)]
        for a, b, score, cost in self.pairs():
            near[a].append((b, score, cost))
            near[b].append((a, score, cost))
        return near

    def pairs(self) -> Iterator[tuple[int, int, float, float]]:
        """The two items of each listed pair, its score, and its coefficient in the loss."""
        a, b = self.index.T
        return zip(a.tolist(), b.tolist(), self.values.tolist(), self.costs.tolist(), strict=True)


class _Merges:
    """The merges that are possible, the best first among those with the same effect on the loss.

    H grows with the score for any loss, so that of all merges with one change only the one of highest score
    matters.
    """

    def __init__(self, search: GraphSearch, state: GraphLoss, labels: list[int]) -> None:
        self.search, self.state, self.labels = search, state, labels
        self.into: dict[int, int] = {}
        self.between: list[dict[int, Sums]] = [{} for _ in labels]
        for a, b, score, cost in search.pairs():
            if labels[a] != labels[b]:
                self._join(labels[a], labels[b], (score, cost))
        self.changes: dict[tuple[int, int], float] = {}
        self.heaps: dict[float, list[tuple[float, int, int]]] = {}
        for c, others in enumerate(self.between):
            for d in others:
                if c < d:
                    self._offer(c, d)

    def _join(self, c: int, d: int, more: Sums) -> None:
        s, l = self.between[c].get(d, (0.0, 0.0))
        self.between[c][d] = self.between[d][c] = s + more[0], l + more[1]

    def best(self, gain: float) -> tuple[float, int, int] | None:
        """H after the best merge, and its two clusters."""
        while (found := self._top(gain)) is not None:
            _, c, d = found
            if not self.state.stale or not self._refresh(c, d):
                return found
        return None

    def _top(self, gain: float) -> tuple[float, int, int] | None:
        best: tuple[float, int, int] | None = None
        for key in list(self.heaps):
            heap = self.heaps[key]
            while heap and not self._holds(key, heap[0]):
                heappop(heap)
            if not heap:
                del self.heaps[key]
                continue
            score, c, d = heap[0]
            after = self.state.after_merge(self.changes[c, d])
            H = self.search.rule.violation(after, gain - score)
            if best is None or best[0] < H:
                best = H, c, d
        return best

    def _holds(self, key: float, entry: tuple[float, int, int]) -> bool:
        """Whether a heap's entry is still what its two clusters have between them."""
        score, c, d = entry
        change = self.changes.get((c, d))
        return change is not None and round(change, 10) == key and self.between[c][d][0] == -score

    def _refresh(self, c: int, d: int) -> bool:
        """Work the change of a merge out anew. Whether it was out of date."""
        before = self.changes[c, d]
        self._offer(c, d)
        return abs(self.changes[c, d] - before) > 1e-9

    def _offer(self, c: int, d: int) -> None:
        c, d = min(c, d), max(c, d)
        score, cost = self.between[c][d]
        self.changes[c, d] = change = self.state.merge_change(c, d, cost)
        # Changes that differ by rounding alone share a heap.
        heappush(self.heaps.setdefault(round(change, 10), []), (-score, c, d))

    def make(self, c: int, d: int) -> float:
        """Merge two clusters, the one with fewer neighbours into the other. What the score gains."""
        score, change = self.between[c][d][0], self.changes[c, d]
        if len(self.between[c]) < len(self.between[d]):
            c, d = d, c
        self.state.merge(c, d, change)
        self.into[d] = c
        poured, self.between[d] = self.between[d], {}
        for e, sums in poured.items():
            del self.between[e][d]
            del self.changes[min(d, e), max(d, e)]
            if e != c:
                self._join(c, e, sums)
        for e in self.between[c] if self.state.by_cluster else [e for e in poured if e != c]:
            self._offer(c, e)
        if self.state.stale:
            self.relabel()
        return score

    def relabel(self) -> None:
        """Give the items the names of the clusters that theirs were merged into."""
        for a, c in enumerate(self.labels):
            while c in self.into:
                c = self.into[c]
            self.labels[a] = c
