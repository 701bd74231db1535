"""Searches of correlation clustering: Psi sums psi_ab over the pairs a < b put together."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from clustruct.core.partitions import RelaxedClustering, canonical_labels
from clustruct.core.typing import Ints
from clustruct.data import PairScores, all_pairs
from clustruct.losses import LinearLoss, Loss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search import correlation
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.correlation import EdgeDegrees
from clustruct.search.correlation.programs import MOST_ITEMS
from clustruct.search.oracles.base import (
    PLAIN,
    SCALED,
    Oracle,
    OracleResult,
    PairCoefficients,
    Predictor,
    register,
    separate_by_multipliers,
)
from clustruct.search.oracles.example_loss import ExampleLoss, Output, together
from clustruct.search.oracles.graph_search import GraphSearch
from clustruct.search.oracles.pair_count_search import ExclusiveSearch, PairCountSearch
from clustruct.search.oracles.violation_search import Search, ViolationSearch, together_score


class CorrelationOracle(Oracle):
    """A loss that is linear in pairs is added to the scores (margin scaling, slack norm 1), and their sum
    maximised.

    Where a set lists its pairs, only these are scored and (by a loss of pairs) judged.
    """

    objective = "correlation"
    default_loss = PairwiseLoss()

    def is_linear(self, loss: Loss) -> bool:
        return isinstance(loss, LinearLoss)

    def coefficients(self, y: Output) -> PairCoefficients:
        assert not isinstance(y, RelaxedClustering | WeightedLinks)
        if isinstance(y, EdgeDegrees):
            return PairCoefficients(degrees=y.degrees)
        return PairCoefficients(labels=y)

    def score(self, scores: PairScores, y: Output) -> float:
        """The sum of K_ab e_ab over scored pairs."""
        assert not isinstance(y, RelaxedClustering | WeightedLinks)
        if scores.matrix is not None and isinstance(y, np.ndarray):
            own = float(np.diag(scores.matrix).sum()) / 2  # the diagonal means nothing here
            return together_score(scores.matrix, y) - own
        index, values = scores.pairs_and_scores()
        return float((y.at(index) if isinstance(y, EdgeDegrees) else together(y, index)) @ values)

    def separate(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if not self.loss_in_oracle:
            return self.result(self._maximise(scores), loss)
        if rule == PLAIN and loss.coefficients is not None:
            return self.result(self._maximise(scores.plus(loss.coefficients)), loss)
        if rule == SCALED and self.adds_loss:
            return separate_by_multipliers(self, scores, loss, start)
        return self.result(self.search(self.problem(scores, loss, rule, start)), loss)

    def problem(self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None) -> Search:
        """What is to be searched where the loss cannot be added to the scores."""
        if (refused := self.refusal(rule, loss.loss)) is not None:
            raise ValueError(refused)
        if rule == PLAIN and loss.judged_pairs is not None:
            kind = PairCountSearch if scores.sources is None else ExclusiveSearch
            return kind(scores.list_pairs(), loss, start if isinstance(start, np.ndarray) else None)
        if scores.matrix is not None and not loss.by_pairs and loss.known is None:
            return ViolationSearch(scores.matrix, loss, rule)
        return GraphSearch(scores.list_pairs(), loss, rule)

    def _maximise(self, scores: PairScores) -> Output:
        """`maximise`, by a matching of sources where there are any: what prediction does, too."""
        if scores.sources is None:
            return self.maximise(scores)
        return correlation.exclusive(scores, scores.sources, thorough=False)

    @abstractmethod
    def maximise(self, scores: PairScores) -> Output:
        """The clustering (or relaxed one) of highest score, for an oracle that is called very often."""

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        return self.maximise(scores)

    def search(self, problem: Search) -> Ints:
        """The most violated partition where the loss cannot be added to the scores."""
        raise NotImplementedError(f"the {self.name} oracle adds the loss to the scores")


@register
class Greedy(CorrelationOracle):
    """C_G: from singletons, merge the two clusters that raise the value most, until no merge raises it.

    Algorithm 3, and with the loss in sight Algorithm 4. With a loss of the counts of listed pairs
    (pairwise F) it is quick, and there is a thorough search beside it: see `PairCountSearch`.
    """

    name = "greedy"

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.greedy(scores)

    def search(self, problem: Search) -> Ints:
        return problem.greedy()

    def is_quick(self, rule: SlackRule, loss: ExampleLoss) -> bool:
        return self.loss_in_oracle and rule == PLAIN and loss.judged_pairs is not None

    def separate_thoroughly(
        self, scores: PairScores, loss: ExampleLoss, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        if not self.is_quick(rule, loss):
            return self.separate(scores, loss, rule, start)
        return self.result(self.problem(scores, loss, rule, start).local_search(), loss)


@register
class LocalSearch(CorrelationOracle):
    """Moves of items and joins of clusters from the greedy answer; annealed in prediction."""

    name = "local_search"

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.local_search(scores, sweeps=0)

    def search(self, problem: Search) -> Ints:
        return problem.local_search()

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.local_search(scores, random_state=self.random_state)


@register
class Exact(CorrelationOracle):
    """The partition of highest value, proven by integer programming, for small sets."""

    name = "exact"
    exactness = "exact"
    adds_loss = True
    most_items = MOST_ITEMS

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.exact(scores)

    def further(self, scores: PairScores, loss: ExampleLoss, found: Output) -> list[Output]:
        """What local search finds, and where it climbs to from the answer."""
        assert isinstance(found, np.ndarray)
        problem = self.problem(scores, loss, SCALED, None)
        return [problem.local_search(), problem.hill_climb(found)]


@register
class LinearProgram(CorrelationOracle):
    """C_R (OP 10): to what degree each pair is together, over-generating; prediction takes the nearest
    clustering, improved.
    """

    name = "lp"
    exactness = "overgenerating"
    adds_loss = True
    most_items = MOST_ITEMS

    def maximise(self, scores: PairScores) -> EdgeDegrees:
        return correlation.lp_relaxation(scores)

    def mix(self, one: OracleResult, other: OracleResult, share: float) -> OracleResult | None:
        """Degrees between the two."""
        low, high = _degrees(one.output), _degrees(other.output)
        y = EdgeDegrees((1.0 - share) * low.degrees + share * high.degrees, low.n_items, 0.0)
        return OracleResult(y, self.coefficients(y), (1.0 - share) * one.loss + share * other.loss)

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.round_edges(self.maximise(scores), K=scores)


class _Rounded(Predictor):
    """The relaxation, rounded by a rule of the papers at e > 0.7."""

    objective = "correlation"
    most_items = MOST_ITEMS
    rounding: ClassVar[Literal["algorithm5", "ball"]]

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.round_edges(correlation.lp_relaxation(scores), self.rounding)


@register
class LinearProgramAlgorithm5(_Rounded):
    """Algorithm 5: an item still alone joins the cluster of the first other item with e > 0.7."""

    name = "lp_algorithm5"
    rounding = "algorithm5"


@register
class LinearProgramBall(_Rounded):
    """Ball growing (2005): an item still alone pulls in every other item still alone with e > 0.7."""

    name = "lp_ball"
    rounding = "ball"


@register
class Components(Predictor):
    """All pairs with a positive score are joined."""

    name = "components"
    objective = "correlation"

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.positive_components(scores)


@register
class NearestMate(Predictor):
    """Each item joins the nearest earlier item with a positive score; clusters are the chains (1.3.2)."""

    name = "nearest_mate"
    objective = "correlation"

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        earlier, later = _links(scores)
        mate = np.arange(scores.n_items, dtype=np.int64)
        known = np.full(scores.n_items, -1, dtype=np.int64)
        np.maximum.at(known, later, earlier)
        for item in np.flatnonzero(known >= 0):  # a mate is earlier, so its own chain is known
            mate[item] = mate[known[item]]
        return canonical_labels(mate)


def _degrees(y: Output) -> EdgeDegrees:
    """Degrees, those of a partition being 0 and 1."""
    if isinstance(y, EdgeDegrees):
        return y
    assert isinstance(y, np.ndarray)
    return EdgeDegrees(together(y, all_pairs(len(y))), len(y), 0.0)


def _links(scores: PairScores) -> tuple[Ints, Ints]:
    """The earlier and the later items of the pairs with a positive score."""
    if scores.matrix is not None:
        earlier, later = np.nonzero(np.triu(scores.matrix > 0.0, 1))
        return earlier, later
    index, values = scores.pairs_and_scores()
    earlier, later = index[values > 0.0].T
    return earlier, later
