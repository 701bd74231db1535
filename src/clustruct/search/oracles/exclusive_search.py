"""The most violated partition for a loss of pair counts, where no cluster has two items of one source.

    maximise over such partitions y:   H(y) = Delta(a, P) + S(y) - S(y_i)

As `PairCountSearch`, by tangents of Delta; what is linear is maximised by matching, exactly where there are
two sources. Training then meets the partitions that prediction can give: without that it fears the false
pairs which a matching never makes, and finds too few (abt_buy: recall 83 instead of 92).
"""

from __future__ import annotations

from dataclasses import replace

from clustruct.core.typing import Ints
from clustruct.data import PairScores
from clustruct.losses import PairCounts
from clustruct.search.correlation import exclusive

from .example_loss import ExampleLoss
from .pair_count_search import PairCountSearch


class ExclusiveSearch(PairCountSearch):
    """One separation problem on p listed pairs of items with sources.

    >>> import numpy as np
    >>> from clustruct.losses import PairwiseFLoss
    >>> scores = PairScores(3, index=np.array([[0, 2], [1, 2]]), values=np.array([0.2, 0.5]),
    ...                     sources=np.array([0, 0, 1]))
    >>> loss = ExampleLoss(PairwiseFLoss(), np.array([0, 1, 0]), scores.index)
    >>> ExclusiveSearch(scores, loss).greedy()
    array([0, 1, 1])
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
