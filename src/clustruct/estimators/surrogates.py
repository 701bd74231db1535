"""Trainings for several losses that held-out sets judge by one of them; the best ones are averaged."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.callbacks import choosing_C
from clustruct.core.typing import Floats, Indices
from clustruct.learning.model_selection.choose_c import FEWEST_SETS, OWN_ENDS, Choice, Fold, split_sets
from clustruct.learning.model_selection.held_out_costs import costs, pairwise_f
from clustruct.learning.problems import Judged, SimilarityTask, Trained
from clustruct.losses import Loss, as_loss
from clustruct.losses.slack_rule import Scaling, SlackRule

# Values of C that are tried for each loss. On mentions C = 1 was chosen for one loss in sixteen.
SURROGATE_C = (10.0, 100.0)
# Where trainings end: what is chosen among and what is averaged alike. The LEA of held-out documents moved by
# 0.8 between 1e-2 and 1e-3.
SURROGATE_RTOL = 0.01


class Surrogate(NamedTuple):
    """What is trained: a loss by its name (or the one that sets are judged by), its scaling and C."""

    loss: Loss
    name: str
    scaling: Scaling
    C: float


@dataclass(frozen=True)
class SurrogateChoice(Choice):
    """The trainings that are averaged, best first, and the weights that they had on the folds.

    ``C`` is that of the best, and ``folds`` hold the mean on each fold.
    """

    best: Sequence[Surrogate] = ()
    on_folds: Sequence[Floats] = ()

    def train(self, task: SimilarityTask) -> tuple[Trained, Floats]:
        """The training of the best on all sets, and the mean of the weights of all on all sets and folds."""
        trained = []
        for one in self.best:
            trained.append(_task_for(task, one).train(one.C, rtol=SURROGATE_RTOL))
            if trained[-1].result.stop_reason not in OWN_ENDS:
                break
        weights = [*(one.result.w for one in trained), *self.on_folds]
        return trained[0], mean_direction(weights, trained[0].feature_scale)


@dataclass(frozen=True)
class _Tried:
    """A training on each fold: what it made of held-out sets, and its weights."""

    surrogate: Surrogate
    judged: Sequence[Judged]
    weights: Sequence[Floats]
    cost: float


def mean_direction(weights: Sequence[Floats], scale: Floats) -> Floats:
    """The mean of weights that are made of one length, that of the first.

    Only directions count in a clustering, and how long weights are depends on the unit of a loss. It is
    w * scale that has the length: of features with a root mean square of one.

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
    Cs: Sequence[float] = SURROGATE_C,
    n_averaged: int = 5,
    folds: int = 3,
    groups: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> Choice:
    """Train for the loss of the task and for others, with either scaling that can be searched for and each C,
    and judge held-out sets by the loss of the task.

    Ctrl-C ends the choice; then the last training is what is left.
    """
    n = len(task.sets)
    if n < FEWEST_SETS:
        raise ValueError(f"surrogates are chosen by sets held out: {FEWEST_SETS} sets at least, not {n}")
    splits = list(split_sets(n, folds, random_state, groups))
    candidates, tried = list(_candidates(task, names, Cs)), []
    for number, one in enumerate(candidates):
        with choosing_C(number * len(splits), len(candidates) * len(splits)):
            judged, trained = _held_out(task, one, splits)
        if trained[-1].result.stop_reason not in OWN_ENDS:
            return Choice(one.C, {"C": np.array([one.C])}, trained[-1])
        cost = costs(judged, "loss", task.sample_weight)
        tried.append(_Tried(one, judged, [each.result.w for each in trained], cost))
    tried.sort(key=lambda one: one.cost)
    best = tried[:n_averaged]
    scale = trained[-1].feature_scale
    means = [mean_direction([one.weights[k] for one in best], scale) for k in range(len(splits))]
    kept = [Fold(*split, w) for split, w in zip(splits, means, strict=True)]
    chosen, on_folds = [one.surrogate for one in best], [w for one in best for w in one.weights]
    return SurrogateChoice(chosen[0].C, _results(tried), folds=kept, best=chosen, on_folds=on_folds)


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
) -> tuple[list[Judged], list[Trained]]:
    """What each set comes to when it is held out, and the trainings, up to one that was ended."""
    other, trained = _task_for(task, one), []
    judged = [Judged(0.0)] * len(task.sets)
    for chosen, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            trained.append(other.train(one.C, chosen, rtol=SURROGATE_RTOL))
        if trained[-1].result.stop_reason not in OWN_ENDS:
            break
        for i, found in zip(test.tolist(), task.judge(trained[-1], test.tolist()), strict=True):
            judged[i] = found
    return judged, trained


def _results(tried: Sequence[_Tried]) -> dict[str, Any]:
    """What was tried, the best first; "" is the loss that sets are judged by."""
    pairs = np.array([[j.pairs for j in one.judged] for one in tried])
    return {
        "surrogate": np.array([one.surrogate.name for one in tried]),
        "scaling": np.array([one.surrogate.scaling for one in tried]),
        "C": np.array([one.surrogate.C for one in tried]),
        "mean_loss": np.array([one.cost for one in tried]),
        "losses": np.array([[j.loss for j in one.judged] for one in tried]),
        "pairs": pairs,
        "pairwise_f": pairwise_f(pairs.sum(axis=1)),
    }
