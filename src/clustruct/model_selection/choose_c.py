"""Choosing C by cross-validation over sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold

from clustruct._typing import Floats, Indices
from clustruct.callbacks import choosing_C
from clustruct.problems import Trained

DEFAULT_GRID = tuple(10.0**k for k in range(-2, 3))
FEWEST_SETS = 3
# One large set with a list of pairs is a table of records, for which 10 was near the best C of the grid when
# folds of the training records were held out (abt_buy, amazon_google, dblp_acm, febrl3).
LISTED_C = 10.0
# How a training ends that nobody stopped.
OWN_ENDS = ("converged", "max_iter", "time_limit", "stalled")

Train = Callable[[float, Indices, Trained | None], Trained]
HeldOutLoss = Callable[[Trained, int], float]


class Kept(Protocol):
    """Where held-out losses are kept, so that a choice that was cut short goes on."""

    def losses(self, C: float, chosen: Indices, n: int) -> Floats | None:
        """The losses of n held-out sets after a training on those chosen, where they are known."""

    def put(self, C: float, chosen: Indices, losses: Floats) -> None:
        """The losses are known now."""


@dataclass(frozen=True)
class Choice:
    """The C chosen, and what every C of the grid cost.

    ``stopped`` is the last training, where Ctrl-C or a callback ended the choice.
    """

    C: float
    results: dict[str, Floats]
    stopped: Trained | None = None


def choose_C(
    train: Train,
    held_out_loss: HeldOutLoss,
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

    ``train(C, numbers of sets, earlier training or None)`` and ``held_out_loss(training, number of a set)``
    do the work. Each fold trains along the grid from small C to large, every training starting from the
    constraints of the one before, so that the grid costs little more than its largest C alone. Sets of one
    group are held out together. With too few sets C is the middle of the grid, or for one set that lists its
    pairs (``listed``) what is nearest to 10. Losses that ``kept`` knows from a run cut short are taken.
    """
    Cs = np.sort(np.asarray(DEFAULT_GRID if grid is None else grid, float))
    if n_sets == 1 and listed:
        return Choice(float(Cs[np.argmin(np.abs(np.log(Cs / LISTED_C)))]), {"C": Cs})
    if n_sets < FEWEST_SETS or len(Cs) == 1:
        return Choice(float(Cs[len(Cs) // 2]), {"C": Cs})
    run = _Grid(train, held_out_loss, Cs, np.zeros((len(Cs), n_sets)), kept)
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
        C, trained = run.reached
        result = replace(trained.result, stop_reason=run.stopped)
        return Choice(C, {"C": Cs}, replace(trained, result=result))
    mean = np.average(run.losses, axis=1, weights=sample_weight)
    # Of equals the one nearest to 1, the value that suits most data.
    best = int(np.lexsort((np.abs(np.log(Cs)), np.round(mean, 9)))[0])
    return Choice(float(Cs[best]), {"C": Cs, "mean_loss": mean, "losses": run.losses})


@dataclass
class _Grid:
    """Trainings along the grid, the losses they make on held-out sets, and the last one made."""

    train: Train
    held_out_loss: HeldOutLoss
    grid: Floats
    losses: Floats
    kept: Kept | None = None
    reached: tuple[float, Trained] | None = None
    stopped: str = ""

    def fold(self, chosen: Indices, test: Indices, done: int, total: int) -> bool:
        """Fill in the losses of one fold. Whether the choice was ended in it."""
        trained = None
        for k, C in enumerate(self.grid.tolist()):
            known = None if self.kept is None else self.kept.losses(C, chosen, len(test))
            if known is not None:
                self.losses[k, test] = known
                continue
            with warnings.catch_warnings(), choosing_C(done + k, total):
                warnings.simplefilter("ignore", ConvergenceWarning)
                trained = self.train(C, chosen, trained)
            self.reached = C, trained
            if trained.result.stop_reason not in OWN_ENDS:
                self.stopped = trained.result.stop_reason
                return True
            for i in test:
                self.losses[k, i] = self.held_out_loss(trained, int(i))
            if self.kept is not None:
                self.kept.put(C, chosen, self.losses[k, test])
        return False


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
