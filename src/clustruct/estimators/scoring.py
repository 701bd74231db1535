"""Scores of estimators that cluster whole sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clustruct._typing import Floats
from clustruct.losses import as_loss

from .inputs import Table, read_labels, read_sets


class SetScoring:
    """`score` and scikit-learn's tags for estimators whose sample is a set."""

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
