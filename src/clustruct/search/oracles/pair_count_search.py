"""The most violated partition for a loss of pair counts (pairwise F), where pairs are listed.

    maximise over partitions y:   H(y) = Delta(a, P) + S(y) - S(y_i)

a true pairs and P judged pairs, among those listed, are together in y; S is the sum of their scores (margin
scaling, slack norm 1). Delta is not linear in pairs, but its tangent at any (a, P) is: a true pair put
together takes one slope from it, a false one adds the other. So the tangent's coefficients are added to the
scores, their sum is maximised by greedy merging, and the true H of the answer is looked at. Delta is convex
in a and concave in b = P - a: no tangent is a bound, and the best answer of several is kept. Moves of items
and joins of clusters on H itself improve it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores
from clustruct.losses import PairCountLoss, PairCounts
from clustruct.search.correlation import exclusive

from .base import PLAIN
from .example_loss import ExampleLoss
from .violation_search import Search

# Passes of moves and joins after a quick search, and at most of a thorough one (some ten are made).
QUICK_PASSES, MOST_PASSES = 2, 300
# Tangents in a row, each at the answer of the last.
MOST_TANGENTS = 4
# A thorough search climbs from all answers of up to so many pairs, and from the best few of more. On 40,000
# listed pairs H of the quick answer was short of the best of nine climbs by 0.05 at most, of some 90.
FEW_PAIRS, FEW_CLIMBS = 5000, 3


class PairCountSearch(Search):
    """One separation problem on p listed pairs; O(p log p) in practice, compiled.

    `greedy` is quick: two tangents and a few passes. `local_search` is thorough: climbs to the end from the
    answers of several tangents, from the truth and from the last answer. Neither is ever below the truth and
    ``start``, the last answer.
    """

    def __init__(self, scores: PairScores, loss: ExampleLoss, start: Ints | None = None) -> None:
        # Imported here: numba takes a second to load.
        from clustruct.search._kernels import pair_counts
        from clustruct.search._kernels.matrix import canonical

        assert loss.judged_pairs is not None
        assert isinstance(loss.loss, PairCountLoss)
        assert scores.values is not None
        assert len(scores.values) == len(loss.judged_pairs.true)
        self._kernels, self._canonical = pair_counts, canonical
        self.counting, self.judged = loss.loss, loss.judged_pairs
        square = float(loss.loss.beta**2)
        self.form = (square, square * self.judged.n_true)
        self.pairs = (self.judged.true, self.judged.weight, np.ascontiguousarray(scores.values))
        self.start = self.judged.truth if start is None else start
        super().__init__(loss, PLAIN, float(np.abs(scores.values).sum()))

    def score(self, labels: Ints) -> float:
        return float(self._totals(labels)[2])

    def value(self, labels: Ints) -> float:
        """H(labels)."""
        a, P, S = self._totals(labels)
        return float(self._kernels.delta(a, P, self.form)) + float(S) - self.truth_score

    def greedy(self) -> Ints:
        """Quick: the tangent at the last answer, that at what it leads to, and a few passes."""
        first = self.at_tangent(self.start)
        best = max(first, self.at_tangent(first), key=self.value)
        return self._best([self._climb(best, QUICK_PASSES)])

    def hill_climb(self, labels: Ints) -> Ints:
        """Move items and join clusters while H rises."""
        return self._climb(labels, MOST_PASSES)

    def local_search(self) -> Ints:
        """Thorough: climbs from the answers of several tangents and from all that is known."""
        alone = np.arange(self.judged.truth.size, dtype=np.int64)
        known = [self.judged.truth, self.start, alone]
        starts = _distinct([y for first in known for y in (first, *self._tangents(first))])
        starts = sorted(starts, key=self.value, reverse=True)
        few = None if len(self.judged.true) <= FEW_PAIRS else FEW_CLIMBS
        best = self._best([self.hill_climb(y) for y in starts[:few]])
        further = self.hill_climb(self.at_tangent(best))
        return max(best, further, key=self.value)

    def _tangents(self, labels: Ints) -> list[Ints]:
        """The answer of the tangent at a partition, that of the tangent there, and so on while H rises."""
        found = [self.at_tangent(labels)]
        for _ in range(MOST_TANGENTS - 1):
            following = self.at_tangent(found[-1])
            if not self.value(following) > self.value(found[-1]) + self.tolerance:
                break
            found.append(following)
        return found

    def at_tangent(self, labels: Ints) -> Ints:
        """The greedy answer for the scores and the tangent of Delta at a partition."""
        a, P, _ = self._totals(labels)
        lost, added = self.counting.slopes(PairCounts(float(a), float(P), self.judged.n_true))
        true, weight, values = self.pairs
        # A true pair counts in a and, as every judged one, in P.
        scores = values + added * weight - (lost + added) * true
        found = self._kernels.greedy(self.judged.graph, self.judged.sides, scores)
        return np.asarray(self._canonical(found))

    def _climb(self, labels: Ints, passes: int) -> Ints:
        of, pairs = (self.judged.graph, self.judged.sides), (self.pairs, self.form)
        return np.asarray(self._canonical(self._kernels.climb(*of, *pairs, labels, self.tolerance, passes)))

    def _totals(self, labels: Ints) -> Floats:
        return np.asarray(self._kernels.totals(labels, self.judged.sides, self.pairs))

    def _best(self, found: list[Ints]) -> Ints:
        """The best of these, the truth and the last answer."""
        return max([*found, self.judged.truth, self.start], key=self.value)


def _distinct(partitions: list[Ints]) -> list[Ints]:
    """Each once, in their order (labels are canonical)."""
    return list({y.tobytes(): y for y in partitions}.values())


class ExclusiveSearch(PairCountSearch):
    """The same where no cluster has two items of one source: what is linear is maximised by matching, exactly
    where there are two sources.

    Training then meets the partitions that prediction can give: without that it fears the false pairs which a
    matching never makes, and finds too few (abt_buy: recall 83 instead of 92).
    """

    def __init__(self, scores: PairScores, loss: ExampleLoss, start: Ints | None = None) -> None:
        self._scores = scores
        super().__init__(scores, loss, start)

    def at_tangent(self, labels: Ints) -> Ints:
        """The matching for the scores and the tangent of Delta at a partition."""
        a, P, _ = self._totals(labels)
        lost, added = self.counting.slopes(PairCounts(float(a), float(P), self.judged.n_true))
        true, weight, values = self.pairs
        scores = replace(self._scores, values=values + added * weight - (lost + added) * true)
        return exclusive(scores, scores.sources, thorough=False)

    def _climb(self, labels: Ints, passes: int) -> Ints:
        """Tangent after tangent while H rises: single moves would put items of one source together."""
        best = labels
        for _ in range(min(passes, 10)):
            following = self.at_tangent(best)
            if not self.value(following) > self.value(best) + self.tolerance:
                break
            best = following
        return best
