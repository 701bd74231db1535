"""Searches of agglomerative clustering: Psi sums psi_ab over the links that make a clustering.

The links of the truth are latent (Finley 2009, section 6.2): `LinkOracle.span` finds the best ones for given
scores, and `clustruct.learning.problems.linkage` learns by turns.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from clustruct.core.partitions import connected_items
from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores, all_pairs
from clustruct.losses import Loss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.agglomerative import LINKAGES, WeightedLinks, dense_parts
from clustruct.search.oracles.base import (
    PLAIN,
    SCALED,
    Oracle,
    OracleResult,
    PairCoefficients,
    register,
    separate_by_multipliers,
)
from clustruct.search.oracles.example_loss import ExampleLoss, Output, together
from clustruct.search.oracles.violation_search import tolerance_of


class LinkLoss(ExampleLoss):
    """The loss of links for one truth; partitions are judged by the loss ``judge``.

    single link:  Delta = s (m - k - sum_{(a,b) in h} l_ab),   l = 1 inside a cluster of the truth, else -1
    left links:   Delta = 100/m (n - sum_{(a,b) in h} l_ab),   l = 1 for a true mate, else -r

    m - k links span the k clusters of the truth (the k pieces of them that listed pairs connect), n items
    have an earlier true mate. Both are 0 exactly for links that make the truth, and linear in the links: a
    search on K_ab - s l_ab is exact. s = 100 / (2m - k - 1), and 100 / (m - 1) where k = 1, makes the largest
    loss of a forest 100 (Finley 2009, section 6.2; Yu and Joachims 2009).
    """

    def __init__(self, judge: Loss, truth: Ints, index: Ints | None = None) -> None:
        super().__init__(judge, truth)
        self._listed = index

    @property
    def unit(self) -> float:
        """s."""
        raise NotImplementedError

    @property
    def n_true(self) -> int:
        """How many right links there can be."""
        raise NotImplementedError

    @property
    def wrong(self) -> float:
        """What a wrong link counts beside a right one."""
        return 1.0

    @cached_property
    def _true_pairs(self) -> Ints:
        index = all_pairs(self.truth.size) if self._listed is None else self._listed
        return index[together(self.truth, index) > 0.0]

    def __call__(self, y: Output) -> float:
        """Delta(y_i, h), 0 where rounding leaves a little of a right h."""
        assert isinstance(y, WeightedLinks)
        right = together(self.truth, y.index)
        return self.unit * max(
            self.n_true - float(right.sum()) + self.wrong * float((1.0 - right).sum()), 0.0
        )

    @cached_property
    def coefficients(self) -> Floats:
        """-s l_ab of each scored pair."""
        index = all_pairs(self.truth.size) if self._listed is None else self._listed
        right = together(self.truth, index)
        return np.asarray(self.unit * (self.wrong * (1.0 - right) - right))


class ForestLoss(LinkLoss):
    """Of forests (single link)."""

    @cached_property
    def n_true(self) -> int:
        """m - k."""
        return self.truth.size - len(np.unique(connected_items(self.truth.size, self._true_pairs)))

    @cached_property
    def unit(self) -> float:
        m, k = self.truth.size, self.truth.size - self.n_true
        return 0.0 if m == 1 else 100.0 / (m - 1 if k == 1 else 2 * m - k - 1)


class LeftLoss(LinkLoss):
    """Of one earlier item, or none, for each item; a wrong one counts r."""

    def __init__(self, judge: Loss, truth: Ints, index: Ints | None = None, r: float = 1.0) -> None:
        super().__init__(judge, truth, index)
        self.r = r

    @property
    def wrong(self) -> float:
        """r."""
        return self.r

    @cached_property
    def n_true(self) -> int:
        """Items with an earlier true mate."""
        return len(np.unique(self._true_pairs[:, 1]))

    @cached_property
    def unit(self) -> float:
        return 100.0 / self.truth.size


# Average and complete link hold a number for each of all pairs.
MOST_DENSE = 4000


class LinkOracle(Oracle):
    """A search for links. ``wrong_link`` is r of left links."""

    objective = "links"
    default_loss = PairwiseLoss()
    unjudged = "links need a label for every item: use correlation clustering"
    # Whether Psi is a mean over items (1/m) in the units of the papers.
    per_item: ClassVar[bool] = False

    def __init__(self, *, wrong_link: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.wrong_link = wrong_link

    def is_linear(self, loss: Loss) -> bool:
        return True

    def coefficients(self, y: Output) -> PairCoefficients:
        assert isinstance(y, WeightedLinks)
        return PairCoefficients(links=y)

    def score(self, scores: PairScores, y: Output) -> float:
        assert isinstance(y, WeightedLinks)
        return y.score(scores)

    def link(self, scores: PairScores) -> WeightedLinks:
        """The links that the procedure makes."""
        return LINKAGES[self.name](scores)

    def span(self, scores: PairScores, truth: Ints) -> WeightedLinks:
        """The best links (by the same procedure) that make the truth: h of the latent problem."""
        return LINKAGES[self.name](scores, within=truth)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return self.link(scores).labels


class ExactLinks(LinkOracle):
    """Links with a loss of their own, which is added to the scores: the search is exact."""

    exactness = "exact"
    adds_loss = True

    @abstractmethod
    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> LinkLoss: ...

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if not self.loss_in_oracle:
            return self.result(self.link(scores), loss)
        if rule == SCALED:
            return separate_by_multipliers(self, scores, loss, start)
        assert loss.coefficients is not None
        return self.result(self.link(scores.plus(loss.coefficients)), loss)


@register
class SingleLink(ExactLinks):
    """The forest of highest score: Kruskal's algorithm, stopped at zero (Algorithm 8)."""

    name = "single"

    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> LinkLoss:
        return ForestLoss(loss, truth, index)


@register
class LeftLinks(ExactLinks):
    """The best earlier item for each item, where it scores above zero: for items in an order."""

    name = "left"
    per_item = True

    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> LinkLoss:
        return LeftLoss(loss, truth, index, self.wrong_link)


class GreedyLinks(LinkOracle):
    """Merges chosen greedily by their own score and what the loss gains: any loss of partitions."""

    most_listed = MOST_DENSE
    complete: ClassVar[bool]

    def is_linear(self, loss: Loss) -> bool:
        return False

    def loss_of(self, loss: Loss, truth: Ints, index: Ints | None) -> ExampleLoss:
        found = ExampleLoss(loss, truth, index)
        if found.by_pairs and found.coefficients is None:
            raise ValueError(
                f"{self.name} link cannot train for {loss} where pairs are listed: use 'pairwise'"
            )
        return found

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if not self.loss_in_oracle:
            return self.result(self.link(scores), loss)
        if rule == PLAIN and loss.coefficients is not None:
            found = LINKAGES[self.name](scores, gains=loss.coefficients)
        else:
            found = self._merge_greedily(scores, loss, rule)
        return self._best(scores, loss, rule, found, start)

    def _best(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, *outputs: Output | None
    ) -> OracleResult:
        """Of these outputs (the last answer among them) and the right one the most violated."""
        base = self.score(scores, loss.right)
        tried = [self.result(y, loss) for y in (*outputs, loss.right) if isinstance(y, WeightedLinks)]
        gains = [self.score(scores, found.output) - base for found in tried]
        violations = [rule.violation(found.loss, gain) for found, gain in zip(tried, gains, strict=True)]
        return tried[int(np.argmax(violations))]

    def _merge_greedily(self, scores: PairScores, loss: ExampleLoss, rule: SlackRule) -> WeightedLinks:
        """From singletons, merge the two clusters that raise H most, until none does, for any loss and rule.

        Cost O(m^3) and one array of losses for each merge.
        """
        S, scored = dense_parts(scores)
        N, groups = scored.astype(np.float64), [[a] for a in range(scores.n_items)]
        state, gain = loss.start(np.arange(scores.n_items)), -self.score(scores, loss.right)
        tolerance = tolerance_of(rule, float(np.abs(S).sum()) / 2)
        merges: list[tuple[list[int], list[int]]] = []
        while state.n_clusters > 1:
            worth = S if self.complete else S / np.maximum(N, 1.0)
            H = rule.violation(state.merge_values(), gain + worth)
            H[(N == 0.0) | np.tri(len(N), dtype=bool)] = -np.inf
            c, d = divmod(int(H.argmax()), len(H))
            if not H[c, d] > rule.violation(state.value, gain) + tolerance:
                break
            gain += float(worth[c, d])
            merges.append((groups[c], groups[d]))
            groups[c] = groups[c] + groups.pop(d)
            S, N = self._join(S, N, c, d)
            state.merge(c, d)
        return links_of(scores, merges, complete=self.complete)

    def _join(self, S: Floats, N: Floats, c: int, d: int) -> tuple[Floats, Floats]:
        """Sums (or least scores) and numbers of pairs between clusters, after a merge of d into c."""
        row = S[c] + S[d]
        if self.complete:
            row = np.minimum(np.where(N[c] > 0.0, S[c], np.inf), np.where(N[d] > 0.0, S[d], np.inf))
            row = np.where(np.isfinite(row), row, 0.0)
        number = N[c] + N[d]
        for table, new in ((S, row), (N, number)):
            table[c], table[:, c] = new, new
            table[c, c] = 0.0
        keep = np.arange(len(S)) != d
        return S[np.ix_(keep, keep)], N[np.ix_(keep, keep)]


@register
class AverageLink(GreedyLinks):
    """Clusters are joined by the mean score between them."""

    name = "average"
    complete = False


@register
class CompleteLink(GreedyLinks):
    """Clusters are joined by their least similar pair."""

    name = "complete"
    complete = True


def links_of(
    scores: PairScores, merges: list[tuple[list[int], list[int]]], *, complete: bool
) -> WeightedLinks:
    """The links of merges: all scored pairs across each, or its least similar one."""
    S, scored = dense_parts(scores)
    index, weights = [np.empty((0, 2), np.int64)], [np.empty(0)]
    for one, other in merges:
        a, b = (part.ravel() for part in np.meshgrid(one, other, indexing="ij"))
        known = scored[a, b]
        pairs = np.sort(np.column_stack([a[known], b[known]]), axis=1)
        if complete:
            pairs = pairs[[int(np.argmin(S[pairs[:, 0], pairs[:, 1]]))]]
        index.append(pairs)
        weights.append(np.full(len(pairs), 1.0 / len(pairs)))
    return WeightedLinks(scores.n_items, np.concatenate(index), np.concatenate(weights))
