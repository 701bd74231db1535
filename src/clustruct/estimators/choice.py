"""Choosing C by cross-validation over sets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from clustruct.itemsets import ItemSet
from clustruct.losses import as_loss
from clustruct.problems.listed_pairs import lists_pairs

from ._input import Labels

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3
# One large set with a list of pairs is a table of records, for which 10 was near the best C of the grid when
# folds of the training records were held out (abt_buy, amazon_google, dblp_acm, febrl3).
LISTED_C = 10.0


@dataclass(frozen=True)
class Choice:
    """The C chosen, and what every C of the grid cost."""

    C: float
    results: dict[str, Any]


def choose_C(estimator: Any, sets: list[ItemSet], labels: list[Labels], set_weight: Any = None) -> Choice:
    """The C of least mean held-out loss, for an estimator that is `SimilarityLearning`.

    Each fold trains along the grid from small C to large, every training starting from the constraints
    of the one before, so that the grid costs little more than its largest C alone.
    """
    grid = np.sort(np.asarray(DEFAULT_GRID if estimator.C_grid is None else estimator.C_grid, float))
    if len(sets) == 1 and lists_pairs(sets[0]):
        return Choice(float(grid[np.argmin(np.abs(np.log(grid / LISTED_C)))]), {"C": grid})
    if len(sets) < FEWEST_SETS or len(grid) == 1:
        return Choice(float(grid[len(grid) // 2]), {"C": grid})
    loss = as_loss(estimator.loss)
    weights = np.ones(len(sets)) if set_weight is None else np.asarray(set_weight, float)
    losses = np.zeros((len(grid), len(sets)))
    folds = KFold(min(estimator.cv, len(sets)), shuffle=True, random_state=estimator.random_state)
    for train, test in folds.split(sets):
        start = None
        for k, C in enumerate(grid):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                start = estimator._train(
                    [sets[i] for i in train], [labels[i] for i in train], float(C), weights[train], start
                )
            w = estimator._in_user_units(start.w)
            for i in test:
                losses[k, i] = loss(labels[i], estimator._cluster_held_out(sets[i], labels[i], w))
    mean = np.average(losses, axis=1, weights=weights)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(grid)), np.round(mean, 9)))[0])
    return Choice(float(grid[best]), {"C": grid, "mean_loss": mean, "losses": losses})
