"""What the oracles of correlation clustering share: Psi sums psi_ab over the pairs a < b put together."""

from __future__ import annotations

from abc import abstractmethod

from clustruct._typing import Bools, Ints
from clustruct.inference.correlation import EdgeDegrees
from clustruct.itemsets import ItemSet
from clustruct.losses import LinearLoss, Loss, PairwiseLoss
from clustruct.pair_scores import PairCoefficients, PairScores
from clustruct.partitions import RelaxedClustering
from clustruct.slack_rule import SlackRule

from .base import PLAIN, LossLike, Oracle, OracleResult, Output
from .example_loss import ExampleLoss
from .graph_search import GraphSearch
from .violation_search import ViolationSearch


class CorrelationOracle(Oracle):
    """A loss that is linear in pairs is added to the scores (margin scaling, slack norm 1), and their sum
    maximised.

    Where a set lists its pairs, only these are scored and (by a loss of pairs) judged.
    """

    objective = "correlation"
    default_loss = PairwiseLoss()

    def is_linear(self, loss: Loss) -> bool:
        return isinstance(loss, LinearLoss)

    def example_loss(self, loss: Loss, truth: Ints, x: ItemSet, judged: Bools | None = None) -> ExampleLoss:
        return ExampleLoss(loss, truth, x.pair_index if x.is_sparse else None, judged)

    def coefficients(self, y: Output) -> PairCoefficients:
        assert not isinstance(y, RelaxedClustering)
        return (
            PairCoefficients(degrees=y.degrees) if isinstance(y, EdgeDegrees) else PairCoefficients(labels=y)
        )

    def separate(
        self, scores: PairScores, truth: Ints, loss: LossLike, rule: SlackRule, start: Output | None = None
    ) -> OracleResult:
        bound = ExampleLoss.of(loss, truth, scores)
        if not self.loss_in_oracle:
            return self.result(self.maximise(scores), bound)
        if rule == PLAIN and bound.coefficients is not None:
            return self.result(self.maximise(scores.plus(bound.coefficients)), bound)
        if (refused := self.refusal(rule, bound.loss)) is not None:
            raise ValueError(refused)
        return self.result(self.search(violation_search(scores, bound, rule)), bound)

    @abstractmethod
    def maximise(self, scores: PairScores) -> Output:
        """The clustering (or relaxed one) of highest score, for an oracle that is called very often."""

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Output:
        return self.maximise(scores)

    def search(self, problem: ViolationSearch | GraphSearch) -> Ints:
        """The most violated partition where the loss cannot be added to the scores."""
        raise NotImplementedError(f"the {self.name} oracle adds the loss to the scores")


def violation_search(scores: PairScores, loss: ExampleLoss, rule: SlackRule) -> ViolationSearch | GraphSearch:
    """The search on a matrix, or on listed pairs where not every pair is scored and judged."""
    if scores.matrix is not None and not loss.by_pairs:
        return ViolationSearch(scores.matrix, loss, rule)
    return GraphSearch(scores.listed(), loss, rule)
