"""Which learners search for violated clusterings, and can be told how."""

from __future__ import annotations

import warnings

from sklearn.base import BaseEstimator

from clustruct.core.exceptions import OrderWarning
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.features import PairFeatures, likenesses
from clustruct.features.blocks.mentions import Mentions

NAMES = ("oracle", "predictor", "formulation", "loss_in_oracle", "surrogates")


def check_searches(recipe: BaseEstimator, model: BaseEstimator) -> None:
    """Refuse parameters of the search that the learner does not have."""
    known = model.get_params()
    for name in NAMES:
        if getattr(recipe, name) is not None and name not in known:
            raise ValueError(f"{name} does not go with learner={recipe.learner!r} (--learner)")
    if recipe.linkage is not None and "linkage" not in known:
        raise ValueError(
            f"linkage goes with learner='agglomerative', not with {recipe.learner!r} (--learner)"
        )


def warn_of_order(model: BaseEstimator, features: PairFeatures, kind: str) -> None:
    """Left links need items in an order: mentions of a text are; what others are only the user knows."""
    if getattr(model, "linkage", None) != "left" or kind == "mentions":
        return
    if any(isinstance(block, Mentions) for block in features.blocks_):
        return
    warnings.warn(
        "linkage 'left' takes the items of a set in the order in which they stand: each joins an earlier "
        "one. If that order means nothing, use another linkage",
        OrderWarning,
        stacklevel=5,
    )


def keep_likeness(recipe: BaseEstimator, model: BaseEstimator, features: PairFeatures) -> None:
    """Where that is asked for, likeness never counts against a pair."""
    for name in ("nonnegative", "calibrate"):
        if getattr(recipe, name) is True and not isinstance(model, SupervisedCorrelationClustering):
            raise ValueError(f"{name} goes with learner='correlation' (--learner)")
    if recipe.nonnegative:
        model.set_params(nonnegative=likenesses(features.get_feature_names_out()))
