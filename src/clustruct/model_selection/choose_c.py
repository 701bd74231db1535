"""Choosing C by cross-validation over sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from clustruct._typing import Floats, Indices
from clustruct.callbacks import choosing_C
from clustruct.exceptions import ChoiceWarning
from clustruct.problems import Judged, Trained

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3
# Of two values one is always an end.
FEWEST_VALUES = 3
# One large set with a list of pairs is a table of records, for which 10 was near the best C of the grid when
# folds of the training records were held out (abt_buy, amazon_google, dblp_acm, febrl3).
LISTED_C = 10.0
# How a training ends that nobody stopped.
OWN_ENDS = ("converged", "max_iter", "time_limit", "stalled")

Train = Callable[[float, Indices, Trained | None], Trained]
Judge = Callable[[Trained, int], Judged]
# An end of the grid is mentioned where it is better than its neighbour by this share of the loss.
WORTH_SAYING = 0.01


class Kept(Protocol):
    """Where it is kept what trainings made of held-out sets, so that a choice that was cut short goes on."""

    def get(self, C: float, chosen: Indices, n: int) -> Sequence[Judged] | None:
        """What a training on the sets chosen made of n held-out sets, where that is known."""

    def put(self, C: float, chosen: Indices, found: Sequence[Judged]) -> None:
        """It is known now."""


@dataclass(frozen=True)
class Choice:
    """The C chosen, and what every C of the grid cost.

    ``stopped`` is the last training, where Ctrl-C or a callback ended the choice: then C is not chosen but
    that of this training, and ``results["left_out"]`` are the sets that it has not seen.
    """

    C: float
    results: dict[str, NDArray[Any]]
    stopped: Trained | None = None


def choose_C(
    train: Train,
    judge: Judge,
    n_sets: int,
    *,
    grid: ArrayLike | None = None,
    folds: int = 5,
    groups: Sequence[Hashable] | None = None,
    sample_weight: Floats | None = None,
    random_state: int = 0,
    listed: bool = False,
    kept: Kept | None = None,
) -> Choice:
    """The C of least mean held-out loss.

    ``train(C, numbers of sets, earlier training or None)`` and ``judge(training, number of a set)`` do the
    work. Each fold trains along the grid from small C to large, every training starting from the
    constraints of the one before, so that the grid costs little more than its largest C alone. Sets of one
    group are held out together. With too few sets C is the middle of the grid, or for one set that lists its
    pairs (``listed``) what is nearest to 10. What ``kept`` knows from a run cut short is taken.
    """
    Cs = np.sort(np.asarray(DEFAULT_GRID if grid is None else grid, float))
    if n_sets == 1 and listed:
        return Choice(float(Cs[np.argmin(np.abs(np.log(Cs / LISTED_C)))]), {"C": Cs})
    if n_sets < FEWEST_SETS or len(Cs) == 1:
        return Choice(float(Cs[len(Cs) // 2]), {"C": Cs})
    run = _Grid(train, judge, Cs, np.zeros((len(Cs), n_sets)), np.zeros((len(Cs), 3)), kept)
    parts = list(split_sets(n_sets, folds, random_state, groups))
    try:
        for number, (chosen, test) in enumerate(parts):
            if run.fold(chosen, test, number * len(Cs), len(parts) * len(Cs)):
                break
    except KeyboardInterrupt:
        if run.reached is None:
            raise
        run.stopped = "interrupted"
    if run.stopped and run.reached is not None:
        return _unfinished(run, n_sets)
    mean = np.average(run.losses, axis=1, weights=sample_weight)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(Cs)), np.round(mean, 9)))[0])
    _mention_edge(Cs, mean, best)
    results: dict[str, NDArray[Any]] = {
        "C": Cs,
        "mean_loss": mean,
        "losses": run.losses,
        "pairwise_f": pairwise_f(run.pairs),
    }
    return Choice(float(Cs[best]), results)


def _unfinished(run: _Grid, n_sets: int) -> Choice:
    """The last training of a choice that was ended."""
    assert run.reached is not None
    C, trained = run.reached
    numbers = ", ".join(str(i + 1) for i in run.left_out)
    warnings.warn(
        f"C was not chosen, since the choice was ended: C = {C:g} is that of the last training, which has "
        f"not seen {'set' if len(run.left_out) == 1 else 'sets'} {numbers} of {n_sets}",
        ChoiceWarning,
        stacklevel=4,
    )
    result = replace(trained.result, stop_reason=run.stopped)
    return Choice(C, {"C": run.grid, "left_out": run.left_out}, replace(trained, result=result))


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


def pairwise_f(pairs: Floats) -> Floats:
    """F of pairs put together, of rows of (rightly, by the prediction, by the truth); 1 where there are none.

    >>> pairwise_f(np.array([[3.0, 4.0, 4.0], [0.0, 0.0, 0.0]]))
    array([0.75, 1.  ])
    """
    both = pairs[:, 1] + pairs[:, 2]
    return np.where(both > 0.0, 2.0 * pairs[:, 0] / np.maximum(both, 1.0), 1.0)


@dataclass
class _Grid:
    """Trainings along the grid, what they make of held-out sets, and the last one made."""

    train: Train
    judge: Judge
    grid: Floats
    losses: Floats
    pairs: Floats
    kept: Kept | None = None
    reached: tuple[float, Trained] | None = None
    left_out: Indices = field(default_factory=lambda: np.zeros(0, np.intp))
    stopped: str = ""

    def fold(self, chosen: Indices, test: Indices, done: int, total: int) -> bool:
        """Fill in the losses of one fold. Whether the choice was ended in it."""
        trained = None
        for k, C in enumerate(self.grid.tolist()):
            known = None if self.kept is None else self.kept.get(C, chosen, len(test))
            if known is not None:
                self._note(k, test, known)
                continue
            with warnings.catch_warnings(), choosing_C(done + k, total):
                warnings.simplefilter("ignore", ConvergenceWarning)
                trained = self.train(C, chosen, trained)
            self.reached, self.left_out = (C, trained), test
            if trained.result.stop_reason not in OWN_ENDS:
                self.stopped = trained.result.stop_reason
                return True
            found = [self.judge(trained, int(i)) for i in test]
            self._note(k, test, found)
            if self.kept is not None:
                self.kept.put(C, chosen, found)
        return False

    def _note(self, k: int, test: Indices, found: Sequence[Judged]) -> None:
        for i, judged in zip(test, found, strict=True):
            self.losses[k, i] = judged.loss
            self.pairs[k] += judged.pairs


def split_sets(
    n: int, folds: int, random_state: int = 0, groups: Sequence[Hashable] | None = None
) -> Iterator[tuple[Indices, Indices]]:
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
