"""What the oracles of k-means share: Psi sums (Y Y')_ab psi_ab over all ordered pairs, diagonal included."""

from __future__ import annotations

import numpy as np

from clustruct._typing import Bools, Floats, Ints
from clustruct.inference.correlation import EdgeDegrees
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss, NormalisedLoss
from clustruct.pair_scores import PairCoefficients, PairScores
from clustruct.partitions import RelaxedClustering, normalised_indicator

from .base import Oracle, Output
from .example_loss import ExampleLoss

# Sets that list their pairs are made a matrix up to this many items (128 MB).
MOST_DENSE = 4000


class KMeansOracle(Oracle):
    """The normalised loss is linear in Y Y': with it the searches work on K - (100/k) Y_i Y_i'.

    Every pair is scored, those that a set does not list by 0, and every pair is judged.
    """

    objective = "kmeans"
    most_listed = MOST_DENSE
    default_loss = NormalisedLoss()

    def is_linear(self, loss: Loss) -> bool:
        return isinstance(loss, NormalisedLoss)

    def scores(self, x: ItemSet, w: Floats, factor: float = 1.0, judged: Bools | None = None) -> PairScores:
        K = np.asarray(x.similarity(w if factor == 1.0 else factor * w))
        return PairScores(x.n_items, matrix=K, judged=judged)

    def example_loss(self, loss: Loss, truth: Ints, x: ItemSet, judged: Bools | None = None) -> ExampleLoss:
        if judged is not None:
            raise ValueError("k-means needs every pair judged: use correlation clustering")
        return ExampleLoss(loss, truth)

    def coefficients(self, y: Output) -> PairCoefficients:
        assert not isinstance(y, EdgeDegrees)
        return PairCoefficients(factor=y.Y if isinstance(y, RelaxedClustering) else normalised_indicator(y))


def augmented(K: Floats, loss: ExampleLoss) -> Floats:
    """K - (100/k) Y_i Y_i'."""
    Y = loss.factor
    return np.asarray(K - (100.0 / Y.shape[1]) * (Y @ Y.T).toarray())
