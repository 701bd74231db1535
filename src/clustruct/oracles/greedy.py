"""C_G: greedy merging (Algorithm 3), and with the loss in sight (Algorithm 4)."""

from __future__ import annotations

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.pair_scores import PairScores

from .base import register
from .correlation import CorrelationOracle
from .graph_search import GraphSearch
from .violation_search import ViolationSearch


@register
class Greedy(CorrelationOracle):
    """From singletons, merge the two clusters that raise the value most, until no merge raises it.

    >>> import numpy as np
    >>> K = np.array([[0.0, 3.0, -1.0], [3.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])
    >>> Greedy().predict(PairScores.from_matrix(K))
    array([0, 0, 1])
    """

    name = "greedy"

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.greedy(scores.signed())

    def search(self, problem: ViolationSearch | GraphSearch) -> Ints:
        return problem.greedy()
