"""Predictors for similarities that are kernels (Finley 2009, section 4.3.3): no oracles, as K - (100/k) Y Y'
is none even where K is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from clustruct.core.typing import Ints
from clustruct.data import PairScores
from clustruct.search import kernel_kmeans

from .base import Predictor, register


class KernelPredictor(Predictor):
    """Refuses K that its procedure cannot take."""

    objective = "kmeans"
    procedure: ClassVar[Callable[..., Ints]]

    def predict(self, scores: PairScores, n_clusters: int | None = None) -> Ints:
        assert n_clusters is not None
        search = type(self).procedure
        return search(scores.matrix, n_clusters, n_init=self.n_init, random_state=self.random_state)


@register
class Batch(KernelPredictor):
    """`kernel_kmeans.batch`: K must be positive semidefinite."""

    name = "batch"
    procedure = staticmethod(kernel_kmeans.batch)


@register
class NormalisedCut(KernelPredictor):
    """`kernel_kmeans.normalised_cut`: every item's similarities must have a positive sum."""

    name = "normalised_cut"
    procedure = staticmethod(kernel_kmeans.normalised_cut)
