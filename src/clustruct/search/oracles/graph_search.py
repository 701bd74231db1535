"""Greedy and local search for the most violated partition where pairs are listed: nothing of size m x m.

    maximise over partitions y:   H(y) = rule.violation(Delta(y_i, y), gain),   gain = S(y) - S(y_i)
    S(y) = sum over listed pairs {a, b}, y_a = y_b, of K_ab

Only clusters with a listed pair between them are merged, and items move only to clusters that they have a
listed pair with, or to one of their own: as in prediction, which never puts strangers together. The searches
undergenerate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.partitions import canonical_labels, connected_items
from clustruct.core.typing import Ints
from clustruct.data import PairScores
from clustruct.losses.slack_rule import SlackRule

from .example_loss import ExampleLoss, together
from .graph_loss import GraphLoss, graph_loss
from .violation_search import Search, ViolationSearch

# Up to so many items losses of the table are searched on a matrix, by compiled code. Greedy search with CEAF
# on 200 items and 2,400 pairs took 22 s here, where clusters are matched anew for each step, 0.02 s there;
# with losses that add up over clusters 0.4 s and 0.01 s.
MOST_MATCHED, MOST_ADDED = 2000, 500

# What a pair of clusters, or an item and a cluster, have between them: score, loss coefficients (or counts).
Sums = tuple[float, complex]
Near = list[tuple[int, float, complex]]


class GraphSearch(Search):
    """One separation problem on p listed pairs.

    Cost of `greedy` in Python: O(p log p) for losses of pairs and of counts (pairwise, MITRE), times the
    number of different effects that a merge can have on the loss, which is small; for any other loss one
    evaluation for each listed pair, and some more for each merge. A pass of `hill_climb` looks at every
    listed pair twice.
    """

    def __init__(self, scores: PairScores, loss: ExampleLoss, rule: SlackRule) -> None:
        (self.index, self.values), self.m = scores.pairs_and_scores(), scores.n_items
        super().__init__(loss, rule, float(np.abs(self.values).sum()))
        self.costs: NDArray[Any] = np.zeros(len(self.values))
        if loss.judged_pairs is not None:
            self.costs = loss.judged_pairs.true + 1j * loss.judged_pairs.weight
        elif loss.by_pairs and loss.coefficients is not None:
            self.costs = loss.coefficients

    def score(self, labels: Ints) -> float:
        return float(self.values @ together(labels, self.index))

    def all_together(self) -> Ints:
        """Items that listed pairs connect are together."""
        return canonical_labels(connected_items(self.m, self.index))

    @cached_property
    def on_matrix(self) -> ViolationSearch | None:
        """The same search compiled, for losses of the table on few items; None for others."""
        table = self.loss.table
        if table is None or self.m > (MOST_ADDED if table.is_additive else MOST_MATCHED):
            return None
        K, links = np.zeros((self.m, self.m)), np.zeros((self.m, self.m))
        a, b = self.index.T
        K[a, b] = K[b, a] = self.values
        links[a, b] = links[b, a] = 1.0
        return ViolationSearch(K, self.loss, self.rule, links)

    def greedy(self) -> Ints:
        """Algorithm 4 over listed pairs: from singletons, merge the clusters that raise H most, until none
        does.
        """
        if self.on_matrix is not None:
            return self.on_matrix.greedy()
        labels = list(range(self.m))
        self._merge(labels)
        return canonical_labels(np.array(labels, dtype=np.int64))

    def hill_climb(self, labels: Ints) -> Ints:
        """Move items while H rises; when none moves merge clusters while H rises; until neither does."""
        if self.on_matrix is not None:
            return self.on_matrix.hill_climb(labels)
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
        while (best := merges.best_rise(gain)) is not None:
            gain += merges.make(*best)
            any_made = True
        merges.relabel()
        return any_made

    def _move(self, labels: list[int], near: list[Near]) -> None:
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
                target, gain, costs, value = step
                state.move(item, target, costs, value)
                source, labels[item], moved = labels[item], target, True
                sizes[source], sizes[target] = sizes[source] - 1, sizes[target] + 1
                if free and free[-1] == target:
                    free.pop()
                if sizes[source] == 0:
                    free.append(source)

    def _best_move(
        self, item: int, state: GraphLoss, near: Near, gain: float, free: list[int]
    ) -> tuple[int, float, complex, float] | None:
        """Target, gain, costs and Delta of the move that raises H most, or None."""
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
                best, step = H, (target, gain + s - left, l - saved, after)
        return step

    def _neighbours(self) -> list[Near]:
        near: list[Near] = [[] for _ in range(self.m)]
        for a, b, score, cost in self.pairs():
            near[a].append((b, score, cost))
            near[b].append((a, score, cost))
        return near

    def pairs(self) -> Iterator[tuple[int, int, float, complex]]:
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
        self.changes: dict[tuple[int, int], Any] = {}
        self.heaps: dict[Any, list[tuple[float, int, int]]] = {}
        for c, others in enumerate(self.between):
            for d in others:
                if c < d:
                    self._offer(c, d)

    def _join(self, c: int, d: int, more: Sums) -> None:
        s, l = self.between[c].get(d, (0.0, 0.0))
        self.between[c][d] = self.between[d][c] = s + more[0], l + more[1]

    def best_rise(self, gain: float) -> tuple[int, int] | None:
        """The clusters whose merge raises H most, or None where none does.

        Changes that are out of date may hide a merge that raises H: before a search ends all are made anew.
        """
        for _ in range(2 if self.state.stale else 1):
            best, now = self.best(gain), self.search.rule.violation(self.state.value, gain)
            if best is not None and now + self.search.tolerance < best[0]:
                return best[1:]
            if self.state.stale:
                self.offer_all()
        return None

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

    def _holds(self, key: Any, entry: tuple[float, int, int]) -> bool:
        """Whether a heap's entry is still what its two clusters have between them."""
        score, c, d = entry
        change = self.changes.get((c, d))
        return change is not None and self.state.key(change) == key and self.between[c][d][0] == -score

    def _refresh(self, c: int, d: int) -> bool:
        """Work the change of a merge out anew. Whether it was out of date."""
        before = self.changes[c, d]
        self._offer(c, d)
        return abs(self.changes[c, d] - before) > 1e-9

    def _offer(self, c: int, d: int) -> None:
        c, d = min(c, d), max(c, d)
        score, cost = self.between[c][d]
        self.changes[c, d] = change = self.state.merge_change(c, d, cost)
        heappush(self.heaps.setdefault(self.state.key(change), []), (-score, c, d))

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
        poured.pop(c)
        self._offer_again(c, poured)
        if self.state.stale:
            self.relabel()
        return score

    def _offer_again(self, c: int, poured: Iterable[int]) -> None:
        """The merges whose score or change is a new one since c took in a cluster with these neighbours."""
        pairs = {(c, e) for e in poured}
        if self.state.by_cluster:
            pairs = {(min(e, f), max(e, f)) for e in self.state.out_of_date(c) for f in self.between[e]}
        for e, f in pairs:
            self._offer(e, f)

    def offer_all(self) -> None:
        """Work the changes of all merges out anew."""
        for c, d in [*self.changes]:
            self._offer(c, d)

    def relabel(self) -> None:
        """Give the items the names of the clusters that theirs were merged into."""
        for a, c in enumerate(self.labels):
            while c in self.into:
                c = self.into[c]
            self.labels[a] = c
