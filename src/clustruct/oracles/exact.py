"""Exact correlation clustering by integer programming, for small sets."""

from __future__ import annotations

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.itemsets import ItemSet
from clustruct.pair_scores import PairScores

from .base import register
from .correlation import CorrelationOracle
from .lp import check_size


@register
class Exact(CorrelationOracle):
    """The partition of highest value, proven."""

    name = "exact"
    exactness = "exact"
    adds_loss = True

    def check_set(self, x: ItemSet) -> None:
        check_size(x, self.name)

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.exact(scores.signed())

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return self.maximise(scores)
