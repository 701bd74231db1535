"""Models of chapter 3: trained with C_G or C_R, with the loss in the search or without, and the baselines.

C is chosen by cross-validation over the training sets that keeps groups together (3.6.2).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.learning.model_selection import split_sets
from clustruct.losses import MitreLoss, PairwiseLoss

GRID = (0.1, 1.0, 10.0)
# How sets are clustered, by the names of the document. C_R* is the linear programme, rounded by Algorithm 5
# (dissertation) or by ball growing (2005).
PREDICTORS = {"C_G": "greedy", "C_R*": "lp_algorithm5", "C_R*, ball": "lp_ball"}
ORACLES = {"C_G": "greedy", "C_R": "lp"}
LOSSES = {"mitre": MitreLoss(), "pairwise": PairwiseLoss()}


@dataclass(frozen=True)
class Part:
    """Training and test sets of one direction, with the group of each training set."""

    X: list[ItemSet]
    y: list[Any]
    groups: Sequence[Any]
    Z: list[ItemSet]
    truth: list[Any]
    folds: int
    pronouns: list[Any] | None = None


def learner(
    oracle: str, loss: str = "pairwise", *, loss_in_oracle: bool = True, scaling: str = "margin"
) -> Any:
    """The structural SVM that a column of the tables names."""
    return SupervisedCorrelationClustering(
        "cv",
        C_grid=list(GRID),
        loss=loss,
        oracle=ORACLES[oracle],
        predictor="greedy" if oracle == "C_G" else "lp_algorithm5",
        loss_in_oracle=loss_in_oracle,
        scaling=scaling,
        calibrate=False,
    )


def classifier(C: float) -> Any:
    """PCC: a linear SVM on all pairs, clustered with C_G."""
    return PairwiseClassifierClustering(LinearSVC(C=C, max_iter=10_000, dual="auto", random_state=0))


def trained(part: Part, model: Any) -> Any:
    """A model of the training sets, with its C chosen by cross-validation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a C at the end of the grid, a training that was cut off
        if isinstance(model, SupervisedCorrelationClustering):
            return model.set_params(cv=part.folds).fit(part.X, part.y, groups=list(part.groups))
        return classifier(chosen_C(part)).fit(part.X, part.y)


def chosen_C(part: Part) -> float:
    """PCC's C: the lowest mean pairwise loss of sets held out."""
    losses = dict.fromkeys(GRID, 0.0)
    for train, test in split_sets(len(part.X), part.folds, 0, list(part.groups)):
        for C in GRID:
            model = classifier(C).fit([part.X[i] for i in train], [part.y[i] for i in train])
            losses[C] += float(np.sum(model.set_losses([part.X[i] for i in test], [part.y[i] for i in test])))
    return min(losses, key=lambda C: (round(losses[C], 9), C))


def tested(model: Any, part: Part, predictors: Sequence[str]) -> dict[str, Any]:
    """Both losses of each test set by each predictor, and the weights."""
    losses: dict[str, dict[str, list[float]]] = {}
    for name in predictors:
        found = model.set_params(predictor=PREDICTORS[name]).predict(part.Z)
        losses[name] = losses_of(part.truth, found)
    return {"C": _C(model), "weights": weights(model).tolist(), "losses": losses}


def losses_of(truth: list[Any], found: list[Any]) -> dict[str, list[float]]:
    """MITRE and pairwise loss of each set."""
    pairs = list(zip(truth, found, strict=True))
    return {name: [round(float(loss(t, p)), 6) for t, p in pairs] for name, loss in LOSSES.items()}


def weights(model: Any) -> Any:
    """w in the units of the features; what a classifier adds to every pair is the weight of the constant."""
    w, intercept = model.linear_similarity()
    w = np.array(w)
    w[-1] += intercept
    return w


def _C(model: Any) -> float:
    return float(model.C_ if hasattr(model, "C_") else model.classifier.C)
