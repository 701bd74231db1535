"""C_R: the linear relaxation of correlation clustering (OP 10), and ways to round it (C_R*)."""

from __future__ import annotations

from typing import ClassVar, Literal

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.inference.correlation.relaxation import MOST_ITEMS
from clustruct.inference.edge_degrees import EdgeDegrees
from clustruct.itemsets import ItemSet
from clustruct.pair_scores import PairScores

from .base import Predictor, register
from .correlation import CorrelationOracle


def check_size(x: ItemSet, name: str) -> None:
    """Edge degrees are m (m - 1) / 2 numbers, whichever pairs are listed."""
    if x.n_items > MOST_ITEMS:
        raise ValueError(
            f"{x.n_items} items are too many for {name!r}, which needs a number for each of all pairs, "
            f"at most {MOST_ITEMS}: use 'greedy' or 'local_search'"
        )


@register
class LinearProgram(CorrelationOracle):
    """To what degree each pair is together, over-generating; prediction takes the nearest clustering,
    improved.
    """

    name = "lp"
    exactness = "overgenerating"
    adds_loss = True

    def check_set(self, x: ItemSet) -> None:
        check_size(x, self.name)

    def maximise(self, scores: PairScores) -> EdgeDegrees:
        return correlation.lp_relaxation(scores.signed())

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.round_edges(self.maximise(scores), K=scores.signed())


class _Rounded(Predictor):
    """The relaxation, rounded by a rule of the papers at e > 0.7."""

    objective = "correlation"
    rounding: ClassVar[Literal["algorithm5", "ball"]]

    def check_set(self, x: ItemSet) -> None:
        check_size(x, self.name)

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
