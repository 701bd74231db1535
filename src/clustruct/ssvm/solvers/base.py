"""What is to be solved, how its oracle is asked, how far it has come, and what a solver is."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.callbacks import Iteration, reason_to_stop
from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm.dual_qp import WeightConstraints
from clustruct.ssvm.kernelized import KernelFunction, KernelPlanes
from clustruct.ssvm.planes import GramPlanes, LinearPlanes, PlaneSet
from clustruct.ssvm.problem import BatchProblem, ConstraintBatch, Problem, SmoothedResult, W
from clustruct.ssvm.result import OracleKind
from clustruct.ssvm.separation import MOST_PIECES, Separation, Session, check_answers, check_size

# Of a problem that searches quickly: rounds from one thorough search to the next.
THOROUGH_EVERY = 10
# Rounds without any gain before a training is given up.
STALLED_ROUNDS = 25
P = TypeVar("P")


@dataclass(frozen=True)
class Task:
    """``min 1/2 |w - prior|^2 + C sum_i weights_i xi_i`` (or half the squares) within the conditions.

    ``weights`` sum to 1; ``epsilon`` and ``rtol`` say how near to the optimum it is to be solved.
    """

    problem: Problem
    C: float
    rule: SlackRule
    weights: Floats
    conditions: WeightConstraints
    epsilon: float
    rtol: float
    rng: np.random.Generator
    kernel: KernelFunction | None = None
    cache_size: int | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.C) and self.C > 0):
            raise ValueError(f"C must be a positive number, not {self.C!r}")
        if not (self.epsilon >= 0 and self.rtol >= 0 and self.epsilon + self.rtol > 0):
            raise ValueError(
                f"epsilon and rtol must not be negative, nor both zero: {self.epsilon!r}, {self.rtol!r}"
            )

    def gram_planes(self, cap: Floats, ridge: Floats | None = None) -> GramPlanes[Any]:
        """An empty set of planes with these groups."""
        if self.kernel is None:
            return LinearPlanes(self.conditions, cap, ridge)
        return KernelPlanes(self.kernel, cap, ridge)

    @cached_property
    def vectorised(self) -> bool:
        """Whether one oracle call answers for many examples."""
        return self.kernel is None and isinstance(self.problem, BatchProblem)

    @cached_property
    def quick(self) -> bool:
        """Whether the oracle's answers are quick ones, and there is a thorough search."""
        return not self.vectorised and self.problem.is_quick(self.rule)

    @property
    def oracle_kind(self) -> OracleKind:
        """What the oracle searches by the rule."""
        return self.problem.kind_for(self.rule)

    @cached_property
    def kappa(self) -> Floats:
        """C times each example's share of the mean."""
        return self.C * self.weights

    @cached_property
    def examples(self) -> Indices:
        """Those that count."""
        return np.flatnonzero(self.weights)

    def cost(self, examples: Indices, slacks: Floats) -> float:
        """What these slacks add to the objective."""
        return float(self.kappa[examples] @ (slacks if self.rule.norm == 1 else 0.5 * slacks**2))

    def threshold(self, dual: float) -> float:
        """How much a plane must be violated to be added: less would not move the gap towards its goal."""
        return max(self.epsilon, 0.05 * self.goal(dual) / self.C)

    def goal(self, dual: float) -> float:
        """The gap at which the training may end, in units of the objective."""
        return max(self.rtol * abs(dual), self.C * self.epsilon)


def example_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Weights of the examples that sum to 1."""
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    v = np.asarray(sample_weight, float)
    if v.shape != (n,):
        raise ValueError(f"sample_weight has shape {v.shape}, the problem has {n} examples")
    if not np.isfinite(v).all() or (v < 0).any() or not v.any():
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return v / v.sum()


@dataclass(frozen=True)
class Incumbent(Generic[P]):
    """The point of lowest primal value seen. A value of infinity is not known yet.

    ``sure`` says whether it was searched with all care; a quick search may have seen too little.
    """

    w: P
    primal: float = np.inf
    mean_slack: float = np.inf
    sure: bool = True

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

        ``worst`` is the largest violation; that of a joint constraint is the gap over C. A value that is not
        known, infinity, is near nothing.
        """
        if self.is_close(primal, dual, worst) and not self._asked_to_stop:
            self.stop_reason = "converged"

    def is_close(self, primal: float, dual: float, worst: float | None = None) -> bool:
        """What `judge` goes by."""
        gap = primal - dual
        worst = gap / self.C if worst is None else worst
        found_little = worst <= self.epsilon and gap <= 2.0 * self.C * self.epsilon
        return bool(np.isfinite(primal) and (gap <= self.rtol * abs(primal) or found_little))

    def count_solve(self, started: float) -> None:
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
            self.stop_reason = reason_to_stop(self.callback, replace(entry, working_set=planes))
            self._asked_to_stop = bool(self.stop_reason)
        if not self.stop_reason:
            rounds_out, time_out = len(self.history) >= self.max_iter, self.seconds > self.time_limit
            limits = {"stalled": self._makes_no_progress(), "max_iter": rounds_out, "time_limit": time_out}
            self.stop_reason = next((reason for reason, reached in limits.items() if reached), "")

    def _makes_no_progress(self) -> bool:
        """Nothing gained in many rounds: the last digits of the arithmetic are reached."""
        if len(self.history) <= self.patience:
            return False
        then, now = self.history[-self.patience], self.history[-1]
        no_rise = now.dual - then.dual <= 1e-13 * abs(now.dual)
        return no_rise and not now.primal < then.primal


@dataclass(frozen=True)
class SolverRun(Generic[W]):
    """A task under way: where its oracle is asked, the planes held, and how it goes."""

    task: Task
    session: Session
    planes: PlaneSet[W]
    progress: Progress

    @property
    def thorough_due(self) -> bool:
        """Whether this round is one of those for which a quick search is not enough."""
        return self.task.quick and len(self.progress.history) % THOROUGH_EVERY == THOROUGH_EVERY - 1

    @property
    def is_first(self) -> bool:
        """Whether nothing has been learned from an answer yet."""
        return not self.progress.history and not self.progress.qp_solves

    def pieces(self, indices: Indices) -> list[Indices]:
        """The examples in pieces, which depend on their number alone, never on the executor: a vectorised
        oracle rounds differently for other batch shapes, and answers must not. It is cut only where its
        pieces stay large.
        """
        one_by_one = self.task.kernel is None and not self.task.vectorised
        count = min(MOST_PIECES, len(indices) // (1 if one_by_one else 1024))
        return np.array_split(indices, count) if count > 1 else [indices]

    def separate(self, indices: Indices, w: W, quick: bool = False) -> list[Separation[W]]:
        """The most violated outputs of the examples named, in pieces, each answer checked.

        ``quick`` says that answers of a quick search will do, where the problem has one: no training may end
        by them.

        """
        started, pieces = time.perf_counter(), self.pieces(indices)
        thorough = self.task.quick and not quick
        ask = self.session.separate_thoroughly if thorough else self.session.separate
        batches = ask(pieces, w, self.task.rule)
        found = [self._check(p, b, w) for p, b in zip(pieces, batches, strict=True)]
        self.count(len(indices), started)
        return found

    def raise_to_planes(self, point: Incumbent[W]) -> Incumbent[W]:
        """The point with at least the value that the planes held give it.

        A search that misses outputs may have said less of it than is known by now.
        """
        if self.task.oracle_kind in ("exact", "overgenerating") or np.isinf(point.primal):
            return point
        value, mean = self.planes.value_at(point.w)
        return replace(point, primal=value, mean_slack=mean) if value > point.primal else point

    def separate_smoothly(self, indices: Indices, w: Floats, mu: float) -> list[SmoothedResult]:
        """The smoothed oracle's answers, one per example."""
        started = time.perf_counter()
        found = self.session.separate_smoothly(indices, w, mu)
        self.count(len(indices), started)
        return found

    def count(self, calls: int, started: float) -> None:
        """So many calls of the oracle were made since ``started``."""
        self.progress.oracle_calls += calls
        self.progress.oracle_seconds += time.perf_counter() - started

    def _check(self, indices: Indices, batch: ConstraintBatch[W], w: W) -> Separation[W]:
        found = check_answers(indices, batch, w, self.task.rule)
        if self.is_first and self.task.kernel is None:
            check_size(batch, self.task.C, self.task.rule)
        return found


class Solver(ABC):
    """Solves a `Task` by asking its oracle: one file, and a line in ``solvers/__init__``.

    It is asked what is `missing` before any work. Options of a solver are parameters of its constructor, all
    with defaults; `fit` takes an instance for ``formulation`` as well as a name.
    """

    name: ClassVar[str]
    # Whether a warm start begins at the earlier weights, rather than at the solution of the earlier planes.
    starts_at_w: ClassVar[bool] = False

    def missing(self, task: Task) -> str | None:
        """What the solver needs and the task does not have, in words."""
        return None

    @abstractmethod
    def planes(self, task: Task) -> PlaneSet[Any]:
        """An empty set of planes, in the store that suits the task."""

    @abstractmethod
    def solve(self, run: SolverRun[Any], start: Any) -> Incumbent[Any]:
        """The best point found, from ``start`` on and until ``run.progress.stop_reason`` is set.

        Every round ends with ``progress.record``. Ctrl-C sets the reason "interrupted" and keeps the best.
        """
