"""Scores of estimators that cluster whole sets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from clustruct._typing import Floats
from clustruct.losses import as_loss
from clustruct.oracles.base import Objective

from .inputs import Table, read_labels, read_sets


class SetScoring:
    """`score` and scikit-learn's tags for estimators whose sample is a set, and what is known of the model.

    clustering_objective : what a prediction maximises, the sum of K inside clusters ("correlation"), or
        trace(Y'KY) for a given number of clusters ("kmeans"), which needs the similarity of every pair
    """

    clustering_objective: ClassVar[Objective] = "correlation"

    def linear_similarity(self) -> tuple[Floats, float] | None:
        """w and b of K_ab = <w, psi_ab> + b, in the units of the features; None for any other similarity."""
        w = getattr(self, "w_", None)
        return None if w is None else (np.asarray(w, np.float64), float(getattr(self, "intercept_", 0.0)))

    def score(self, X: Table, y: object, set_ids: ArrayLike | None = None) -> float:
        """100 minus the mean loss over the sets, divided by 100: 1 is perfect."""
        return 1.0 - float(np.mean(self.set_losses(X, y, set_ids))) / 100.0

    def set_losses(self, X: Table, y: object, set_ids: ArrayLike | None = None) -> Floats:
        """The loss of the prediction for each set, on a 0..100 scale."""
        given = read_sets(self, X, set_ids, reset=False)
        labels = read_labels(y, given)
        loss = as_loss(getattr(self, "loss", "pairwise"))
        predicted = self.predict(given.sets)  # type: ignore[attr-defined]
        return np.array([loss(t, p) for t, p in zip(labels, predicted, strict=True)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
