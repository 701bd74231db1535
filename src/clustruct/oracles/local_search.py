"""Local search: single moves and joins of clusters."""

from __future__ import annotations

from clustruct._typing import Ints
from clustruct.inference import correlation
from clustruct.pair_scores import PairScores

from .base import register
from .correlation import CorrelationOracle
from .graph_search import GraphSearch
from .violation_search import ViolationSearch


@register
class LocalSearch(CorrelationOracle):
    """Moves of items and joins of clusters from the greedy answer; annealed in prediction."""

    name = "local_search"

    def maximise(self, scores: PairScores) -> Ints:
        return correlation.local_search(scores.signed(), sweeps=0)

    def search(self, problem: ViolationSearch | GraphSearch) -> Ints:
        return problem.local_search()

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        return correlation.local_search(scores.signed(), random_state=self.random_state)
