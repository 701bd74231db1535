"""How C is chosen for a task: by sets held out, or where there are too few by clusters inside them.

Trainings for several losses are chosen among in the same way, and the best of them averaged.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.callbacks import choosing_C
from clustruct.core.exceptions import ChoiceWarning
from clustruct.core.typing import Floats, Indices
from clustruct.learning.problems import FoldLoss, HeldOutClusters, SimilarityTask, Trained
from clustruct.learning.problems.fold_losses import LOOSE, costs, pairwise_f
from clustruct.losses import Loss, as_loss
from clustruct.losses.slack_rule import Scaling, SlackRule

from .choose_c import DEFAULT_GRID, FEWEST_SETS, Choice, Fold, choose_C, criterion, split_sets

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
# Values of C that are tried for each loss. On mentions C = 1 was chosen for one loss in sixteen.
SURROGATE_C = (10.0, 100.0)
# Where trainings end: what is chosen among and what is averaged alike. The LEA of held-out documents moved by
# 0.8 between 1e-2 and 1e-3.
SURROGATE_RTOL = 0.01


def choose_C_for(
    task: SimilarityTask,
    *,
    grid: ArrayLike | None = None,
    folds: int = 3,
    groups: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> Choice:
    """C by cross-validation: by sets held out, from three on. With one or two that list their pairs, by whole
    clusters held out, which are background in training, and the F of pairs that touch them. Otherwise the
    middle of the grid; for few clusters of a set that lists its pairs, 10.
    """
    Cs = np.sort(np.asarray(DEFAULT_GRID if grid is None else grid, float))
    n_sets = len(task.sets)
    listed = task.oracle.objective == "correlation" and all(r.x.is_sparse for r in task.regions)
    if len(Cs) == 1 or (n_sets < FEWEST_SETS and not listed):
        return Choice(float(Cs[len(Cs) // 2]), {"C": Cs})
    options = {"grid": grid, "folds": folds, "random_state": random_state, "checkpoint": task.fit_checkpoint}
    if n_sets >= FEWEST_SETS:
        train = partial(task.train, rtol=LOOSE)
        weights = task.sample_weight
        return choose_C(train, task.judge, n_sets, groups=groups, sample_weight=weights, **options)  # type: ignore[arg-type]
    clusters = HeldOutClusters(task)
    large = int(np.count_nonzero(clusters.sizes > 1))
    if large < FEWEST_CLUSTERS:
        return _too_few(Cs, large)
    train = partial(clusters.train, rtol=LOOSE)
    options |= {"by": criterion(task.loss), "usual": TABLE_C, "begin": LISTED_C, "errors": TABLE_ERRORS}
    options["unit"] = "cluster"
    return choose_C(train, clusters.judge, clusters.n_clusters, **options)  # type: ignore[arg-type]


def folds_for(
    task: SimilarityTask, C: float, folds: int, groups: Sequence[Hashable] | None, random_state: int
) -> Choice:
    """The folds of a C that is given; none where there are too few sets and clusters to hold out."""
    if len(task.sets) >= FEWEST_SETS:
        cut = split_sets(len(task.sets), folds, random_state, groups)
        return Choice(C, {}, folds=[Fold(*parts) for parts in cut])
    clusters = HeldOutClusters(task) if all(r.x.is_sparse for r in task.regions) else None
    if clusters is None or int(np.count_nonzero(clusters.sizes > 1)) < FEWEST_CLUSTERS:
        return Choice(C, {})
    cut = split_sets(clusters.n_clusters, folds, random_state)
    return Choice(C, {}, folds=[Fold(*parts) for parts in cut], unit="cluster")


def n_trainings(n_sets: int, grid: Sequence[float] | None, folds: int) -> int:
    """How many trainings a choice by sets takes, about, before the last one."""
    values = 3 if grid is None else len(grid)
    return min(folds, n_sets) * values if n_sets >= FEWEST_SETS and values > 1 else 0


def _too_few(Cs: np.ndarray, large: int) -> Choice:
    C = float(Cs[np.argmin(np.abs(np.log(Cs / LISTED_C)))])
    warnings.warn(
        f"C = {C:g} was taken, not chosen: {large} labelled clusters of two items and more are too few to "
        f"hold some out (from {FEWEST_CLUSTERS} on C is chosen); label more, or give C",
        ChoiceWarning,
        stacklevel=4,
    )
    return Choice(C, {"C": Cs}, unit="cluster")


@dataclass(frozen=True)
class Surrogate:
    """What is trained for: a loss by its name ("": the one that sets are judged by), its scaling and C; and
    what its trainings on the folds made of held-out sets.
    """

    loss: Loss
    name: str
    scaling: Scaling
    C: float
    judged: Sequence[FoldLoss] = ()
    weights: Sequence[Floats] = ()
    cost: float = np.inf


def mean_direction(weights: Sequence[Floats], scale: Floats) -> Floats:
    """The mean of weights that are made of one length (of w * scale), that of the first: only directions
    count in a clustering, and how long weights are depends on the unit of a loss.

    >>> mean_direction([np.array([2.0, 0.0]), np.array([0.0, 5.0])], np.ones(2)).round(3)
    array([1.414, 1.414])
    """
    lengths = [float(np.linalg.norm(w * scale)) for w in weights]
    units = [w / length for w, length in zip(weights, lengths, strict=True) if length > 0.0]
    if not units:
        return np.zeros_like(weights[0])
    mean = np.mean(units, axis=0)
    first = next(length for length in lengths if length > 0.0)
    return np.asarray(mean * (first / max(float(np.linalg.norm(mean * scale)), 1e-300)))


def best_surrogates(
    task: SimilarityTask,
    names: Sequence[str],
    *,
    Cs: Sequence[float] | None = None,
    n_averaged: int = 5,
    folds: int = 3,
    groups: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> Choice:
    """Train for the loss of the task and for others, with either scaling that can be searched for and each C,
    and judge held-out sets by the loss of the task. The weights are the mean of those of the best on all sets
    and on the folds. Ctrl-C ends the choice; then the last training is what is left.
    """
    n = len(task.sets)
    if n < FEWEST_SETS:
        raise ValueError(f"surrogates are chosen by sets held out: {FEWEST_SETS} sets at least, not {n}")
    splits = list(split_sets(n, folds, random_state, groups))
    candidates, tried = list(_candidates(task, names, SURROGATE_C if Cs is None else Cs)), []
    for number, one in enumerate(candidates):
        with choosing_C(number * len(splits), len(candidates) * len(splits)):
            judged, trained = _held_out(task, one, splits)
        if trained[-1].result.was_stopped:
            return Choice(one.C, {"C": np.array([one.C])}, trained[-1])
        cost = costs(judged, "loss", task.sample_weight)
        weights = [each.result.w for each in trained]
        tried.append(replace(one, judged=judged, weights=weights, cost=cost))
    tried.sort(key=lambda one: one.cost)
    best, scale = tried[:n_averaged], trained[-1].feature_scale
    means = [mean_direction([one.weights[k] for one in best], scale) for k in range(len(splits))]
    last = []
    for one in best:
        last.append(_task_for(task, one).train(one.C, rtol=SURROGATE_RTOL))
        if last[-1].result.was_stopped:
            break
    w = [*(each.result.w for each in last), *(w for one in best for w in one.weights)]
    return Choice(
        best[0].C,
        _results(tried),
        last[0],
        [Fold(*split, w) for split, w in zip(splits, means, strict=True)],
        w=mean_direction(w, last[0].feature_scale),
    )


def _candidates(task: SimilarityTask, names: Sequence[str], Cs: Sequence[float]) -> Iterator[Surrogate]:
    scalings: tuple[Scaling, ...] = ("margin",) if task.is_latent else ("margin", "slack")
    for name, loss in (("", task.loss), *((name, as_loss(name)) for name in names)):
        for scaling in scalings:
            if task.oracle.refusal(SlackRule(scaling, task.options["slack_norm"]), loss) is None:
                yield from (Surrogate(loss, name, scaling, C) for C in Cs)


def _task_for(task: SimilarityTask, one: Surrogate) -> SimilarityTask:
    return replace(task, loss=one.loss, options={**task.options, "scaling": one.scaling})


def _held_out(
    task: SimilarityTask, one: Surrogate, splits: Sequence[tuple[Indices, Indices]]
) -> tuple[list[FoldLoss], list[Trained]]:
    """What each set comes to when it is held out, and the trainings, up to one that was ended."""
    other, trained = _task_for(task, one), []
    judged = [FoldLoss(0.0)] * len(task.sets)
    for chosen, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            trained.append(other.train(one.C, chosen, rtol=SURROGATE_RTOL))
        if trained[-1].result.was_stopped:
            break
        for i, found in zip(test.tolist(), task.judge(trained[-1], test.tolist()), strict=True):
            judged[i] = found
    return judged, trained


def _results(tried: Sequence[Surrogate]) -> dict[str, Any]:
    """What was tried, the best first; "" is the loss that sets are judged by."""
    pairs = np.array([[j.pairs for j in one.judged] for one in tried])
    return {
        "surrogate": np.array([one.name for one in tried]),
        "scaling": np.array([one.scaling for one in tried]),
        "C": np.array([one.C for one in tried]),
        "mean_loss": np.array([one.cost for one in tried]),
        "losses": np.array([[j.loss for j in one.judged] for one in tried]),
        "pairs": pairs,
        "pairwise_f": pairwise_f(pairs.sum(axis=1)),
    }
