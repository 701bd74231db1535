"""Choosing C by cross-validation over sets, or over the clusters of one large set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from clustruct.itemsets import ItemSet
from clustruct.losses import PairwiseLoss, as_loss
from clustruct.partitions import split_by_clusters
from clustruct.problems.listed_pairs import lists_pairs
from clustruct.ssvm import FitResult

from ._input import Labels
from .watching import choosing

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The C chosen, and what every C of the grid cost.

    ``stopped`` is the last training, weights in the user's units, where Ctrl-C ended the choice.
    """

    C: float
    results: dict[str, Any]
    stopped: FitResult | None = None


@dataclass(frozen=True)
class _Fold:
    """What trains, and the columns of the table of losses that the weights learned from it fill."""

    sets: list[ItemSet]
    labels: list[Labels]
    weights: Vector | None
    columns: Any
    losses: Callable[[Vector], list[float]]


def choose_C(
    estimator: Any,
    sets: list[ItemSet],
    labels: list[Labels],
    set_weight: Any = None,
    groups: Sequence[Any] | None = None,
) -> Choice:
    """The C of least mean held-out loss, for an estimator that is `SimilarityLearning`.

    Each fold trains along the grid from small C to large, every training starting from the constraints
    of the one before, so that the grid costs little more than its largest C alone. Sets of one group
    are held out together. Of one large set that lists its pairs, whole clusters are held out.
    """
    grid = np.sort(np.asarray(DEFAULT_GRID if estimator.C_grid is None else estimator.C_grid, float))
    single = len(sets) == 1 and isinstance(as_loss(estimator.loss), PairwiseLoss) and lists_pairs(sets[0])
    parts = min(estimator.cv, len(np.unique(labels[0]))) if single else len(sets)
    if len(grid) == 1 or parts < (2 if single else FEWEST_SETS):
        return Choice(float(grid[len(grid) // 2]), {"C": grid})
    if single:
        weights = np.ones(parts)
        folds = list(_cluster_folds(estimator, sets[0], labels[0], parts))
    else:
        weights = np.ones(len(sets)) if set_weight is None else np.asarray(set_weight, float)
        folds = list(_set_folds(estimator, sets, labels, weights, groups))
    return _search(estimator, grid, folds, weights)


def _set_folds(
    estimator: Any, sets: list[ItemSet], labels: list[Labels], weights: Vector, groups: Any
) -> Iterator[_Fold]:
    loss = as_loss(estimator.loss)

    def losses_of(test: Any) -> Callable[[Vector], list[float]]:
        return lambda w: [loss(labels[i], estimator._cluster_held_out(sets[i], labels[i], w)) for i in test]

    for train, test in split_sets(len(sets), estimator.cv, estimator.random_state, groups):
        X, y = [sets[i] for i in train], [labels[i] for i in train]
        yield _Fold(X, y, weights[train], test, losses_of(test))


def _cluster_folds(estimator: Any, x: ItemSet, labels: Labels, parts: int) -> Iterator[_Fold]:
    """The whole set is clustered, so that strangers are as many as they will be, and the listed pairs that
    touch an item held out are counted."""
    assert x.pair_index is not None
    i, j = x.pair_index.T
    together = labels[i] == labels[j]

    def losses_of(touched: Any) -> Callable[[Vector], list[float]]:
        def losses(w: Vector) -> list[float]:
            found = estimator._cluster_held_out(x, labels, w)
            wrong = (found[i] == found[j]) != together
            return [100.0 * float(np.mean(wrong[touched])) if touched.any() else 0.0]

        return losses

    for part, held in enumerate(split_by_clusters(labels, parts, random_state=estimator.random_state)):
        out = np.zeros(x.n_items, bool)
        out[held] = True
        kept = np.flatnonzero(~out)
        yield _Fold([x.subset(kept)], [labels[kept]], None, [part], losses_of(out[i] | out[j]))


def _search(estimator: Any, grid: Vector, folds: list[_Fold], weights: Vector) -> Choice:
    """Fill the table of losses and take the best C; Ctrl-C ends it with the last training made."""
    losses = np.zeros((len(grid), len(weights)))
    reached: tuple[float, FitResult] | None = None
    try:
        for number, fold in enumerate(folds):
            start = None
            for k, C in enumerate(grid):
                with warnings.catch_warnings(), choosing(number * len(grid) + k, len(folds) * len(grid)):
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    start = estimator._train(fold.sets, fold.labels, float(C), fold.weights, start)
                w = estimator._in_user_units(start.w)
                reached = float(C), replace(start, w=w)
                if start.stop_reason == "interrupted":
                    raise KeyboardInterrupt
                losses[k, fold.columns] = fold.losses(w)
    except KeyboardInterrupt:
        if reached is None:
            raise
        return Choice(reached[0], {"C": grid}, replace(reached[1], stop_reason="interrupted"))
    mean = np.average(losses, axis=1, weights=weights)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(grid)), np.round(mean, 9)))[0])
    return Choice(float(grid[best]), {"C": grid, "mean_loss": mean, "losses": losses})


def split_sets(
    n: int, folds: int, random_state: int = 0, groups: Sequence[Any] | None = None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(train, test) set numbers of each fold; sets of one group are never on both sides.

    One group alone cannot be kept apart: its sets are split as if there were none.

    >>> [test.tolist() for _, test in split_sets(4, 2, groups=["a", "b", "a", "b"])]
    [[1, 3], [0, 2]]
    """
    numbered = None if groups is None else np.unique([str(g) for g in groups], return_inverse=True)[1]
    if numbered is None or numbered.max() == 0:
        return iter(KFold(min(folds, n), shuffle=True, random_state=random_state).split(np.zeros(n)))
    most = min(folds, int(numbered.max()) + 1)
    split = GroupKFold(most, shuffle=True, random_state=random_state)
    return iter(split.split(np.zeros(n), groups=numbered))
