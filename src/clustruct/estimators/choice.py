"""How a clusterer chooses C: by sets held out, or where there are too few by clusters inside them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.exceptions import ChoiceWarning
from clustruct.core.typing import Floats
from clustruct.learning.calibration import Calibration, Unlisted, held_out_parts
from clustruct.learning.calibration.held_out import OutOfFoldSets
from clustruct.learning.model_selection.choose_c import (
    DEFAULT_GRID,
    FEWEST_SETS,
    Choice,
    Fold,
    choose_C,
    split_sets,
)
from clustruct.learning.model_selection.held_out_costs import Criterion
from clustruct.learning.problems import ClusterTask, SimilarityTask
from clustruct.losses import Loss, PairwiseLoss
from clustruct.search.oracles import make_predictor

# Trainings that are judged by what they make of held-out data need not go on to the last digit.
LOOSE = 0.1
# From so many labelled clusters of two items and more on, some of them are held out. Fewer tell too little:
# their F moves by more than any C does.
FEWEST_CLUSTERS = 12
# One large set with a list of pairs is a table of records, for which 10 was near the best C of the grid when
# folds of the training records were held out (abt_buy, amazon_google, dblp_acm, febrl3).
LISTED_C = 10.0
# Where clusters inside the table are held out, and with pairwise F as loss, 100 was best or as good as the
# best (held-out clusters of abt_buy, amazon_google and dblp_acm).
TABLE_C = 100.0
# A larger C takes ten times as long, and the F of some hundred clusters has an error of one to five points:
# it must be better by so many standard errors.
TABLE_ERRORS = 2.0


def chosen_C(
    task: SimilarityTask,
    *,
    grid: ArrayLike | None = None,
    folds: int = 3,
    groups: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> Choice:
    """C by cross-validation.

    With three sets and more, sets are held out. With one or two that list their pairs, whole clusters are:
    for the trainings they are background, and the F of pairs that touch them decides. Otherwise C is the
    middle of the grid; for few clusters of a set that lists its pairs, 10.
    """
    Cs = np.sort(np.asarray(DEFAULT_GRID if grid is None else grid, float))
    n_sets = len(task.sets)
    listed = task.oracle.objective == "correlation" and all(r.x.is_sparse for r in task.regions)
    if len(Cs) == 1 or (n_sets < FEWEST_SETS and not listed):
        return Choice(float(Cs[len(Cs) // 2]), {"C": Cs})
    options = {"grid": grid, "folds": folds, "random_state": random_state, "kept": task.kept}
    if n_sets >= FEWEST_SETS:
        train = partial(task.train, rtol=LOOSE)
        weights = task.sample_weight
        return choose_C(train, task.judge, n_sets, groups=groups, sample_weight=weights, **options)  # type: ignore[arg-type]
    clusters = ClusterTask(task)
    large = int(np.count_nonzero(clusters.sizes > 1))
    if large < FEWEST_CLUSTERS:
        return _too_few(Cs, large)
    train = partial(clusters.train, rtol=LOOSE)
    options |= {"by": _criterion(task.loss), "usual": TABLE_C, "begin": LISTED_C, "errors": TABLE_ERRORS}
    options["unit"] = "cluster"
    return choose_C(train, clusters.judge, clusters.n_clusters, **options)  # type: ignore[arg-type]


def untrained_folds(
    task: SimilarityTask, C: float, folds: int, groups: Sequence[Hashable] | None, random_state: int
) -> Choice:
    """A C that is given, and what would be held out to choose it; nothing where that is too few."""
    n, listed = len(task.sets), all(r.x.is_sparse for r in task.regions)
    if n >= FEWEST_SETS:
        cut = split_sets(n, folds, random_state, groups)
        return Choice(C, {}, folds=tuple(Fold(*parts) for parts in cut))
    clusters = ClusterTask(task) if listed else None
    if clusters is None or int(np.count_nonzero(clusters.sizes > 1)) < FEWEST_CLUSTERS:
        return Choice(C, {})
    cut = split_sets(clusters.n_clusters, folds, random_state)
    return Choice(C, {}, folds=tuple(Fold(*parts) for parts in cut), unit="cluster")


def calibrated(
    task: SimilarityTask,
    choice: Choice,
    w: Floats,
    random_state: int,
    rest: Sequence[Unlisted | None] = (),
    out_of_fold: OutOfFoldSets | None = None,
) -> Calibration | None:
    """What the scores by w mean, by the trainings of the choice of C that had not seen all of the data (nor
    had the features, with ``out_of_fold``); None where there were none, or where they tell too little.
    """
    if not choice.folds:
        return None
    parts = held_out_parts(task, choice.folds, choice.unit, w, choice.C, LOOSE, out_of_fold)
    searched = task.predictor
    if searched.name not in ("greedy", "local_search"):
        searched = make_predictor("local_search", "correlation", random_state=random_state)
    return Calibration.fit(parts, searched, choice.unit, random_state, rest)


def n_trainings(n_sets: int, grid: Sequence[float] | None, folds: int) -> int:
    """How many trainings a choice by sets takes, about, before the last one."""
    values = 3 if grid is None else len(grid)
    return min(folds, n_sets) * values if n_sets >= FEWEST_SETS and values > 1 else 0


def _criterion(loss: Loss) -> Criterion:
    """Errors are weighed where the user weighs them."""
    weighed = isinstance(loss, PairwiseLoss) and (loss.merge_cost, loss.split_cost) != (1.0, 1.0)
    return "loss" if weighed else "pairwise_f"


def _too_few(Cs: np.ndarray, large: int) -> Choice:
    C = float(Cs[np.argmin(np.abs(np.log(Cs / LISTED_C)))])
    warnings.warn(
        f"C = {C:g} was taken, not chosen: {large} labelled clusters of two items and more are too few to "
        f"hold some out (from {FEWEST_CLUSTERS} on C is chosen); label more, or give C",
        ChoiceWarning,
        stacklevel=4,
    )
    return Choice(C, {"C": Cs})
