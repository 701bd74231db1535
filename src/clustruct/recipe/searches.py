"""Which learners search for violated clusterings, and can be told how."""

from __future__ import annotations

from sklearn.base import BaseEstimator

NAMES = ("oracle", "formulation", "loss_in_oracle")


def check_searches(recipe: BaseEstimator, model: BaseEstimator) -> None:
    """Refuse parameters of the search that the learner does not have."""
    known = model.get_params()
    for name in NAMES:
        if getattr(recipe, name) is not None and name not in known:
            raise ValueError(f"{name} does not go with learner={recipe.learner!r} (--learner)")
