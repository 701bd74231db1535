"""Exact correlation clustering by integer programming, for small sets."""

from __future__ import annotations

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.inference.correlation.programs import MOST_ITEMS
from clustruct.pair_scores import PairScores

from .base import register
from .correlation import CorrelationOracle


@register
class Exact(CorrelationOracle):
    """The partition of highest value, proven."""

    name = "exact"
    exactness = "exact"
    adds_loss = True
    most_items = MOST_ITEMS

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.exact(scores.signed())
