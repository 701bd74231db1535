"""How a training goes and what comes of it: progress, checkpoint, result, and what is certain about it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from clustruct.callbacks import Iteration, SupportsDump, asked_to_stop
from clustruct.exceptions import ModelFileError
from clustruct.storage import DataclassState, read, register, save

from .planes import Planes, PlaneSet
from .problem import OracleKind

# Rounds without any gain before a training is given up.
STALLED_ROUNDS = 25
P = TypeVar("P")


@register("Certificate")
@dataclass(frozen=True)
class Certificate(DataclassState):
    """What holds about v*, the optimum of the original problem (dissertation, chapter 5).

    ``lower <= v* <= upper``; an end that does not hold is None, and ``notes`` say why.
    ``training_loss`` bounds the mean training loss, for a predictor of the same kind as the oracle.
    """

    oracle_kind: OracleKind
    lower: float | None
    upper: float | None
    training_loss: float | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        low, high = ("unknown" if end is None else f"{end:.6g}" for end in (self.lower, self.upper))
        return "\n".join([f"optimum between {low} and {high} ({self.oracle_kind} oracle)", *self.notes])


_NOTES: dict[OracleKind, tuple[str, ...]] = {
    "exact": ("Every constraint was searched: both ends hold.",),
    "overgenerating": (
        "The oracle searches more than the true outputs: the lower end belongs to the relaxed problem, "
        "and only the upper end holds for this one.",
        "The training loss bound holds for prediction by the same relaxation.",
    ),
    "heuristic": (
        "The oracle does not look for the most violated constraint of any set: neither end holds.",
    ),
    "undergenerating": (
        "The oracle searches a part of the outputs, how well is not known: only the lower end holds, "
        "and the slack need not bound the training loss.",
    ),
}


def certify(
    kind: OracleKind, dual: float, primal: float, mean_loss_bound: float, rho_upper: float | None
) -> Certificate:
    """The certificate that the oracle's kind allows."""
    if kind == "undergenerating" and rho_upper is not None:
        notes = ("The upper end is Theorem 9's, from the oracle's rho.",)
        return Certificate(kind, dual, rho_upper, None, notes)
    lower = dual if kind in ("exact", "undergenerating") else None
    every = kind in ("exact", "overgenerating")  # whether all true outputs were searched
    upper, bound = (primal, mean_loss_bound) if every else (None, None)
    return Certificate(kind, lower, upper, bound, _NOTES[kind])


@register("FitResult")
@dataclass(frozen=True, repr=False)
class FitResult(DataclassState):
    """The outcome of `fit`.

    ``w`` is the weight vector (with a kernel: a `KernelModel`). ``objective`` is the primal value that
    the oracle saw at w, ``dual`` the working set's lower bound, ``gap`` their difference.
    ``stop_reason`` is one of "converged", "max_iter", "time_limit", "callback", "interrupted", "stalled",
    or what a callback gave as its reason.
    """

    w: Any
    objective: float
    dual: float
    mean_slack: float
    stop_reason: str
    certificate: Certificate
    history: tuple[Iteration, ...] = field(repr=False)
    oracle_calls: int
    qp_solves: int
    seconds: float
    oracle_seconds: float
    qp_seconds: float
    working_set: SupportsDump | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"FitResult({self.stop_reason} after {self.n_iter} rounds: objective {self.objective:.6g}, "
            f"gap {self.gap:.3g}, {self.oracle_calls} oracle calls, {self.seconds:.3g} s)"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Stored and sent without the working set, which can be a thousand times the size of w."""
        return {**self.__dict__, "working_set": None}

    @property
    def planes(self) -> Planes | None:
        """The constraints held at the end, made when asked for (None with a kernel or after unpickling)."""
        return None if self.working_set is None else self.working_set.dump()

    @property
    def gap(self) -> float:
        return self.objective - self.dual

    @property
    def converged(self) -> bool:
        return self.stop_reason == "converged"

    @property
    def n_iter(self) -> int:
        return len(self.history)


@dataclass(frozen=True)
class Incumbent(Generic[P]):
    """The point of lowest primal value seen. A value of infinity is not known yet."""

    w: P
    primal: float = np.inf
    mean_slack: float = np.inf

    def below_dual(self, dual: float) -> bool:
        """Whether the value lies below the dual: no point costs so little, so the oracle missed something."""
        return self.primal < dual - 1e-9 * abs(dual)

    def better_of(self, other: Incumbent[P], dual: float) -> Incumbent[P]:
        """The better of the two, or the other where this one lies below the dual."""
        return other if self.below_dual(dual) or other.primal < self.primal else self


@dataclass(eq=False, repr=False)
class Progress:
    """The history of a training, its counters, and when it ends.

    It ends by ``stop_reason``: converged (`judge`), out of rounds or time, nothing gained in ``patience``
    rounds, or because the callback said so (`record`). ``save`` is called after every round: it
    writes the checkpoint.
    """

    C: float
    epsilon: float
    rtol: float
    max_iter: int = 1000
    time_limit: float = np.inf
    callback: Callable[[Iteration], object] | None = None
    save: Callable[[], None] | None = None
    history: list[Iteration] = field(default_factory=list)
    stop_reason: str = ""
    oracle_calls: int = 0
    oracle_seconds: float = 0.0
    qp_solves: int = 0
    qp_seconds: float = 0.0
    earlier_seconds: float = 0.0
    patience: int = STALLED_ROUNDS
    _asked_to_stop: bool = False
    _started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return self.earlier_seconds + time.perf_counter() - self._started

    def judge(self, primal: float, dual: float, worst: float | None = None) -> None:
        """Converged when the relative gap is reached, or when no constraint is violated beyond epsilon.

        ``worst`` is the largest violation; that of a joint constraint is the gap over C.
        """
        gap = primal - dual
        worst = gap / self.C if worst is None else worst
        close = gap <= self.rtol * abs(primal) or (
            worst <= self.epsilon and gap <= 2.0 * self.C * self.epsilon
        )
        if close and not self._asked_to_stop:
            self.stop_reason = "converged"

    def solved(self, started: float) -> None:
        """A QP was solved, begun at ``started``."""
        self.qp_seconds += time.perf_counter() - started
        self.qp_solves += 1

    def record(self, best: Incumbent[Any], planes: PlaneSet[Any]) -> None:
        """Enter a round in the history, call the callback, and note a reason to stop."""
        counts = (self.oracle_calls, len(planes), self.seconds, self.oracle_seconds, self.qp_seconds)
        entry = Iteration(len(self.history) + 1, best.primal, planes.dual, *counts)
        self.history.append(entry)
        if self.save is not None:
            self.save()
        if self.callback is not None and not self.stop_reason:
            self.stop_reason = asked_to_stop(self.callback, replace(entry, working_set=planes))
            self._asked_to_stop = bool(self.stop_reason)
        if not self.stop_reason:
            rounds_out, time_out = len(self.history) >= self.max_iter, self.seconds > self.time_limit
            limits = {"stalled": self._stalled(), "max_iter": rounds_out, "time_limit": time_out}
            self.stop_reason = next((reason for reason, reached in limits.items() if reached), "")

    def _stalled(self) -> bool:
        """Nothing gained in many rounds: the last digits of the arithmetic are reached."""
        if len(self.history) <= self.patience:
            return False
        then, now = self.history[-self.patience], self.history[-1]
        no_rise = now.dual - then.dual <= 1e-13 * abs(now.dual)
        return no_rise and not now.primal < then.primal


@register("checkpoint")
@dataclass(frozen=True)
class Saved(DataclassState):
    """What a checkpoint holds. ``identity`` says which problem it belongs to."""

    identity: dict[str, Any]
    planes: Planes
    history: tuple[Iteration, ...]
    seconds: float
    oracle_calls: int


class Checkpoint:
    """Training state in one file, replaced as a whole every few seconds: a reader sees the old or the new."""

    every = 5.0

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], planes: PlaneSet[Any]) -> None:
        self.path, self.identity, self.planes = Path(path), identity, planes
        self._last = time.perf_counter()

    def connect(self, progress: Progress) -> bool:
        """Write after the rounds from now on. Whether there was a file: what it holds is taken up."""
        progress.save = partial(self._save, progress)
        if not self.path.exists():
            return False
        saved = self._read()
        self.planes.load(saved.planes)
        progress.history.extend(saved.history)
        progress.earlier_seconds, progress.oracle_calls = saved.seconds, saved.oracle_calls
        return True

    def _save(self, progress: Progress) -> None:
        if time.perf_counter() - self._last >= self.every or progress.stop_reason:
            history, planes = tuple(progress.history), self.planes.dump()
            counts = (progress.seconds, progress.oracle_calls)
            save(self.path, Saved(self.identity, planes, history, *counts))
            self._last = time.perf_counter()

    def _read(self) -> Saved:
        try:
            saved = read(self.path, Saved).object
        except ModelFileError as error:
            raise ModelFileError(f"{self.path} is not a readable checkpoint: {error}") from None
        for name, value in self.identity.items():
            if saved.identity.get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another run: its {name} is {saved.identity.get(name)}, "
                    f"here it is {value}"
                )
        return saved
