"""Choosing C by cross-validation over sets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from clustruct.itemsets import ItemSet
from clustruct.losses import PairwiseLoss, as_loss
from clustruct.partitions import split_by_clusters
from clustruct.problems.listed_pairs import lists_pairs

from ._input import Labels

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3


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
    loss = as_loss(estimator.loss)
    if len(sets) == 1 and isinstance(loss, PairwiseLoss) and lists_pairs(sets[0]) and len(grid) > 1:
        parts = min(estimator.cv, len(np.unique(labels[0])))
        if parts > 1:
            return _choose_within(estimator, sets[0], labels[0], grid, parts)
    if len(sets) < FEWEST_SETS or len(grid) == 1:
        return Choice(float(grid[len(grid) // 2]), {"C": grid})
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
    return _best(grid, losses, weights)


def _best(grid: Any, losses: Any, weights: Any) -> Choice:
    mean = np.average(losses, axis=1, weights=weights)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(grid)), np.round(mean, 9)))[0])
    return Choice(float(grid[best]), {"C": grid, "mean_loss": mean, "losses": losses})


def _choose_within(estimator: Any, x: ItemSet, labels: Labels, grid: Any, parts: int) -> Choice:
    """One large set that lists its pairs: whole clusters are held out.

    The whole set is clustered, so that strangers are as many as they will be, and the listed pairs that touch
    an item held out are counted.
    """
    assert x.pair_index is not None
    i, j = x.pair_index.T
    together = labels[i] == labels[j]
    losses = np.zeros((len(grid), parts))
    for part, held in enumerate(split_by_clusters(labels, parts, random_state=estimator.random_state)):
        out = np.zeros(x.n_items, bool)
        out[held] = True
        kept, touched = np.flatnonzero(~out), out[i] | out[j]
        start = None
        for k, C in enumerate(grid):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                start = estimator._train([x.subset(kept)], [labels[kept]], float(C), None, start)
            found = estimator._cluster_held_out(x, labels, estimator._in_user_units(start.w))
            wrong = (found[i] == found[j]) != together
            losses[k, part] = 100.0 * float(np.mean(wrong[touched])) if touched.any() else 0.0
    return _best(grid, losses, np.ones(parts))
