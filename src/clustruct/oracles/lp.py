"""C_R: the linear relaxation of correlation clustering (OP 10), and ways to round it (C_R*)."""

from __future__ import annotations

from typing import ClassVar, Literal

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.inference.correlation import EdgeDegrees
from clustruct.inference.correlation.programs import MOST_ITEMS
from clustruct.pair_scores import PairScores

from .base import Predictor, register
from .correlation import CorrelationOracle


@register
class LinearProgram(CorrelationOracle):
    """To what degree each pair is together, over-generating; prediction takes the nearest clustering,
    improved.
    """

    name = "lp"
    exactness = "overgenerating"
    adds_loss = True
    most_items = MOST_ITEMS

    def maximise(self, scores: PairScores) -> EdgeDegrees:
        return correlation.lp_relaxation(scores.signed())

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.round_edges(self.maximise(scores), K=scores.signed())


class _Rounded(Predictor):
    """The relaxation, rounded by a rule of the papers at e > 0.7."""

    objective = "correlation"
    most_items = MOST_ITEMS
    rounding: ClassVar[Literal["algorithm5", "ball"]]

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.round_edges(correlation.lp_relaxation(scores.signed()), self.rounding)


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
