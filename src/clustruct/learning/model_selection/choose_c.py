"""Choosing C by holding out: whole sets, or whole clusters inside one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from clustruct.core.callbacks import choosing_C
from clustruct.core.exceptions import ChoiceWarning
from clustruct.core.typing import Bools, Floats, Indices
from clustruct.learning.problems import FoldLoss, FoldResult, Trained
from clustruct.learning.problems.fold_losses import (
    Criterion,
    costs,
    costs_of,
    error_of_difference,
    few_groups,
    pairwise_f,
)
from clustruct.learning.problems.saved_training import FitCheckpoint
from clustruct.losses import Loss, PairwiseLoss

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
# How far a choice without a grid of the user's own goes.
LOWEST, HIGHEST = 1e-3, 1e4
FEWEST_SETS = 3
# The share of groups that must be better off with another C than the usual one.
MOST_GROUPS = 0.75
# How many values in a row may be no better, where groups are few.
PATIENCE = 2
# Of two values one is always an end.
FEWEST_VALUES = 3
# An end of the grid is mentioned where it is better than its neighbour by this share of the loss.
WORTH_SAYING = 0.01

Train: TypeAlias = Callable[[float, Indices, Trained | None], Trained]
Judge: TypeAlias = Callable[[Trained, Sequence[int]], Sequence[FoldLoss]]
# What is held out.
Unit: TypeAlias = Literal["set", "cluster", "row"]


@dataclass(frozen=True)
class Fold:
    """A training on some of the units, and the weights that it learned; None: it was not made."""

    chosen: Indices
    held_out: Indices
    w: Floats | None = None


@dataclass(frozen=True)
class Choice:
    """The C chosen, what every C that was tried cost (``results``), and the trainings at C (``folds``).

    ``trained`` is the last training, where it was made by the choice, with weights ``w`` that are a mean.
    Where Ctrl-C or a callback ended the choice, C is that of this training, and ``results["left_out"]`` (or
    ``"left_out_clusters"``) are the units that it has not seen.
    """

    C: float
    results: dict[str, NDArray[Any]]
    trained: Trained | None = None
    folds: Sequence[Fold] = ()
    unit: Unit = "set"
    w: Floats | None = None

    @property
    def weights(self) -> list[Floats]:
        return [fold.w for fold in self.folds if fold.w is not None]


def criterion(loss: Loss) -> Criterion:
    """Errors are weighed where the user weighs them."""
    weighed = isinstance(loss, PairwiseLoss) and (loss.merge_cost, loss.split_cost) != (1.0, 1.0)
    return "loss" if weighed else "pairwise_f"


def choose_C(
    train: Train,
    judge: Judge,
    n: int,
    *,
    grid: ArrayLike | None = None,
    folds: int = 3,
    groups: Sequence[Hashable] | None = None,
    sample_weight: Floats | None = None,
    random_state: int = 0,
    by: Criterion = "loss",
    usual: float = 1.0,
    begin: float = 1.0,
    errors: float = 1.0,
    unit: Unit = "set",
    checkpoint: FitCheckpoint | None = None,
) -> Choice:
    """The C that does best on units held out: sets, or clusters.

    ``train(C, numbers of units, earlier training or None)`` and ``judge(training, numbers of units)`` do the
    work. Units of one group are held out together. Of a ``grid`` all values are tried. Without one:
    ``begin``, ten times more and so on as long as that is better; where ten times more is clearly worse, a
    tenth and so on. Of values as good within some standard ``errors`` (of the difference to the best, over
    the units) the one nearest to the ``usual`` one is taken: it was best on most data. With fewer than eight
    ``groups`` the error is that over groups; values are tried until two in a row are no better, and of those
    as good the one is taken that ranks best in the groups, where three of four are better off with it than
    with the usual one. What ``checkpoint`` knows from a run cut short is taken.
    """
    trials = _Trials(train, judge, list(split_sets(n, folds, random_state, groups)), n, checkpoint)
    table = _CostTable(trials, by, sample_weight, usual, begin, errors, few_groups(groups))
    try:
        table.climb() if grid is None else table.try_all(np.sort(np.asarray(grid, float)).tolist())
    except _ChoiceEnded:
        assert trials.reached is not None
        return _choice_so_far(*trials.reached, n, unit)
    return replace(table.choice(widened=grid is None), unit=unit)


class _ChoiceEnded(Exception):
    """Ctrl-C or a callback ended the choice."""


@dataclass
class _Trials:
    """Trainings at some C, one for each fold, and what they make of held-out units. ``reached`` is the last
    training, its C, what it has not seen and why it was ended.
    """

    train: Train
    judge: Judge
    folds: Sequence[tuple[Indices, Indices]]
    n: int
    checkpoint: FitCheckpoint | None = None
    last: dict[int, Trained] = field(default_factory=dict)
    weights: dict[float, list[Floats]] = field(default_factory=dict)
    reached: tuple[float, Trained, Indices, str] | None = None
    done: int = 0

    def at(self, C: float, expected: int) -> list[FoldLoss]:
        """What each unit comes to when it is held out. ``expected``: how many values of C there will be."""
        found = [FoldLoss(0.0)] * self.n
        self.weights[C] = []
        for number, (chosen, test) in enumerate(self.folds):
            known = None if self.checkpoint is None else self.checkpoint.get(C, chosen, len(test))
            if known is None:
                known = self._fold(C, number, chosen, test, expected * len(self.folds))
            self.done += 1
            losses, w = known
            self.weights[C].append(w)
            for i, judged in zip(test.tolist(), losses, strict=True):
                found[i] = judged
        return found

    def _fold(self, C: float, number: int, chosen: Indices, test: Indices, total: int) -> FoldResult:
        try:
            with warnings.catch_warnings(), choosing_C(self.done, max(total, self.done + 1)):
                warnings.simplefilter("ignore", ConvergenceWarning)
                trained = self.train(C, chosen, self.last.get(number))
            self.last[number] = trained
            self.reached = (C, trained, test, trained.result.stop_reason)
            if trained.result.was_stopped:
                raise _ChoiceEnded
            known = self.judge(trained, test.tolist()), trained.result.w
        except KeyboardInterrupt:
            if self.reached is None:
                raise
            self.reached = (*self.reached[:3], "interrupted")
            raise _ChoiceEnded from None
        if self.checkpoint is not None:
            self.checkpoint.put(C, chosen, known)
        return known


@dataclass
class _CostTable:
    """The values of C tried so far, and how good they are."""

    trials: _Trials
    by: Criterion
    sample_weight: Floats | None
    usual: float
    begin: float
    errors: float
    owners: Indices | None = None
    tried: dict[float, list[FoldLoss]] = field(default_factory=dict)

    def try_all(self, grid: Sequence[float]) -> None:
        for C in grid:
            self.tried[C] = self.trials.at(C, len(grid))

    def climb(self) -> None:
        """Upwards, and downwards where upwards is clearly worse (or groups are few)."""
        self.tried[self.begin] = self.trials.at(self.begin, FEWEST_VALUES)
        if self.owners is not None:
            return self._look_around()
        for step in (10.0, 0.1):
            before = self.begin
            while LOWEST <= (C := float(f"{before * step:.6g}")) <= HIGHEST:
                self.tried[C] = self.trials.at(C, FEWEST_VALUES)
                if not self._gains(C, before):
                    break
                before = C
            if before != self.begin or self._differs_by(C, self.begin) <= 0.0:
                return  # better there, or no worse within its error: the other side will not be better

    def _look_around(self) -> None:
        """Both ways, until values are clearly worse or some in a row are no better."""
        for step in (10.0, 0.1):
            C, idle = self.begin, 0
            while idle < PATIENCE and LOWEST <= (C := float(f"{C * step:.6g}")) <= HIGHEST:
                before = self._cost(self._best())
                self.tried[C] = self.trials.at(C, FEWEST_VALUES)
                if self._differs_by(C, self._best()) > 0.0:
                    break
                idle = 0 if self._cost(C) < (1.0 - WORTH_SAYING) * before else idle + 1

    def _gains(self, C: float, before: float) -> bool:
        """Whether a step was worth its cost, and no chance."""
        least = (self.errors - 1.0) * self._error(C, before)
        return self._cost(C) < (1.0 - WORTH_SAYING) * self._cost(before) - least

    def _best(self) -> float:
        return min(self.tried, key=self._cost)

    def _cost(self, C: float) -> float:
        return float(costs(self.tried[C], self.by, self.sample_weight))

    def choice(self, *, widened: bool) -> Choice:
        """The C of least cost; of equals the one nearest to the usual one."""
        Cs = np.array(sorted(self.tried))
        mean = np.array([self._cost(C) for C in Cs.tolist()])
        best = self._best()
        as_good = [C for C in Cs.tolist() if self._differs_by(C, best) <= 0.0]
        C = self._best_in_groups(as_good, min(as_good, key=lambda C: (abs(np.log(C / self.usual)), C)))
        if not widened:
            _mention_edge(Cs, mean, int(np.flatnonzero(Cs == C)[0]))
        pairs = np.array([[j.pairs for j in self.tried[C]] for C in Cs.tolist()])
        results: dict[str, NDArray[Any]] = {
            "C": Cs,
            "mean_loss": mean,
            "losses": np.array([[j.loss for j in self.tried[C]] for C in Cs.tolist()]),
            "pairs": pairs,
            "pairwise_f": pairwise_f(pairs.sum(axis=1)),
        }
        made = zip(self.trials.folds, self.trials.weights[C], strict=True)
        return Choice(C, results, folds=[Fold(*split, w) for split, w in made])

    def _best_in_groups(self, Cs: Sequence[float], usual: float) -> float:
        """Of values as good the one of the best mean rank over the groups, where most groups are better off
        with it than with the usual one.
        """
        if self.owners is None:
            return usual
        groups = np.unique(self.owners)
        table = np.array([[self._cost_of(C, self.owners == g) for C in Cs] for g in groups])
        rank = rankdata(np.round(table, 9), axis=1).mean(axis=0)
        best = int(np.argmin(rank))
        better = np.count_nonzero(table[:, best] < table[:, list(Cs).index(usual)])
        return Cs[best] if better >= MOST_GROUPS * len(groups) else usual

    def _cost_of(self, C: float, chosen: Bools) -> float:
        return costs_of(self.tried[C], chosen, self.by, self.sample_weight)

    def _differs_by(self, C: float, best: float) -> float:
        """How much worse than the best, beyond what may be chance."""
        return max(self._cost(C) - self._cost(best) - self.errors * self._error(C, best), 0.0)

    def _error(self, C: float, other_C: float) -> float:
        """The standard error of the difference between two values."""
        return error_of_difference(
            self.tried[C], self.tried[other_C], self.by, self.owners, self.sample_weight
        )


def _choice_so_far(
    C: float, trained: Trained, left_out: Indices, reason: str, n: int, unit: str = "set"
) -> Choice:
    """The last training of a choice that was ended."""
    if unit == "set":
        numbers = ", ".join(str(i + 1) for i in left_out)
        unseen = f"{'set' if len(left_out) == 1 else 'sets'} {numbers} of {n}"
    else:
        unseen = f"{len(left_out)} of the {n} labelled {unit}s"
    warnings.warn(
        f"C was not chosen, since the choice was ended: C = {C:g} is that of the last training, which has "
        f"not seen {unseen}",
        ChoiceWarning,
        stacklevel=4,
    )
    result = replace(trained.result, stop_reason=reason)
    unseen = "left_out" if unit == "set" else "left_out_clusters"
    return Choice(C, {"C": np.array([C]), unseen: left_out}, replace(trained, result=result))


def _mention_edge(grid: Floats, mean: Floats, best: int) -> None:
    """Warn where the best C is an end of the grid, and clearly better than its neighbour."""
    if len(grid) < FEWEST_VALUES or best not in (0, len(grid) - 1):
        return
    neighbour = mean[1 if best == 0 else -2]
    if neighbour - mean[best] <= WORTH_SAYING * neighbour or mean[best] <= 0.0:
        return
    end, other, next_C = ("smallest", "smaller", 0.1) if best == 0 else ("largest", "larger", 10.0)
    C = float(grid[best])
    warnings.warn(
        f"C = {C:g} was the best of those tried, and it is the {end}: a {other} one may be better "
        f"(try --C {C * next_C:g}, or C_grid= in Python)",
        ChoiceWarning,
        stacklevel=4,
    )


def split_sets(
    n: int, folds: int, random_state: int = 0, groups: Sequence[Hashable] | None = None
) -> Iterator[tuple[Indices, Indices]]:
    """(train, test) set numbers of each fold; sets of one group are never on both sides.

    One group alone cannot be kept apart: its sets are split as if there were none.
    """
    numbered = None if groups is None else np.unique([str(g) for g in groups], return_inverse=True)[1]
    if numbered is None or numbered.max() == 0:
        return iter(KFold(min(folds, n), shuffle=True, random_state=random_state).split(np.zeros(n)))
    most = min(folds, int(numbered.max()) + 1)
    split = GroupKFold(most, shuffle=True, random_state=random_state)
    return iter(split.split(np.zeros(n), groups=numbered))
