"""Choosing C by cross-validation over sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from clustruct._typing import Labels
from clustruct.callbacks import choosing_C
from clustruct.itemsets import ItemSet
from clustruct.losses import as_loss
from clustruct.problems.listed_pairs import lists_pairs
from clustruct.ssvm import FitResult

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3
# One large set with a list of pairs is a table of records, for which 10 was near the best C of the grid when
# folds of the training records were held out (abt_buy, amazon_google, dblp_acm, febrl3).
LISTED_C = 10.0


@dataclass(frozen=True)
class Choice:
    """The C chosen, and what every C of the grid cost.

    ``stopped`` is the last training, weights in the user's units, where Ctrl-C ended the choice.
    """

    C: float
    results: dict[str, Any]
    stopped: FitResult | None = None


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
    are held out together.
    """
    grid = np.sort(np.asarray(DEFAULT_GRID if estimator.C_grid is None else estimator.C_grid, float))
    if len(sets) == 1 and lists_pairs(sets[0]):
        return Choice(float(grid[np.argmin(np.abs(np.log(grid / LISTED_C)))]), {"C": grid})
    if len(sets) < FEWEST_SETS or len(grid) == 1:
        return Choice(float(grid[len(grid) // 2]), {"C": grid})
    weights = np.ones(len(sets)) if set_weight is None else np.asarray(set_weight, float)
    losses = np.zeros((len(grid), len(sets)))
    run = _Grid(estimator, sets, labels, weights, grid, losses)
    folds = list(split_sets(len(sets), estimator.cv, estimator.random_state, groups))
    try:
        for number, (train, test) in enumerate(folds):
            if run.fold(train, test, number * len(grid), len(folds) * len(grid)):
                break
    except KeyboardInterrupt:
        if run.reached is None:
            raise
        run.stopped = "interrupted"
    if run.stopped and run.reached is not None:
        C, result = run.reached
        return Choice(C, {"C": grid}, replace(result, stop_reason=run.stopped))
    mean = np.average(losses, axis=1, weights=weights)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(grid)), np.round(mean, 9)))[0])
    return Choice(float(grid[best]), {"C": grid, "mean_loss": mean, "losses": losses})


@dataclass
class _Grid:
    """Trainings along the grid, the losses they make on held-out sets, and the last one made."""

    estimator: Any
    sets: list[ItemSet]
    labels: list[Labels]
    weights: NDArray[np.float64]
    grid: NDArray[np.float64]
    losses: NDArray[np.float64]
    reached: tuple[float, FitResult] | None = None
    stopped: str = ""

    def fold(self, train: Any, test: Any, done: int, total: int) -> bool:
        """Fill in the losses of one fold. Whether Ctrl-C ended it."""
        start, model, loss = None, self.estimator, as_loss(self.estimator.loss)
        X, y = [self.sets[i] for i in train], [self.labels[i] for i in train]
        for k, C in enumerate(self.grid):
            with warnings.catch_warnings(), choosing_C(done + k, total):
                warnings.simplefilter("ignore", ConvergenceWarning)
                start = model._train(X, y, float(C), self.weights[train], start)
            w = model._in_user_units(start.w)
            self.reached = float(C), replace(start, w=w)
            if start.stop_reason in ("interrupted", "callback"):
                self.stopped = start.stop_reason
                return True
            for i in test:
                predicted = model._cluster_held_out(self.sets[i], self.labels[i], w)
                self.losses[k, i] = loss(self.labels[i], predicted)
        return False


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
