"""One training run: its settings, its history, and when it stops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.callbacks import Iteration, SupportsDump
from clustruct.slack_rule import SlackRule

from .separation import Separator
from .side_conditions import SideConditions

STALLED_ROUNDS = 25


@dataclass
class Best:
    """The point of lowest primal value seen."""

    w: Any
    primal: float
    mean_slack: float

    def stale(self, dual: float) -> bool:
        """Whether the value lies below the dual: no point costs so little, so the oracle missed something."""
        return self.primal < dual - 1e-9 * abs(dual)

    def against(self, other: Best, dual: float) -> Best:
        """The better of the two, or the other where this one is stale."""
        return other if self.stale(dual) or other.primal < self.primal else self


@dataclass
class Run:
    """What all formulations share. ``kappa`` is C times each example's share of the mean."""

    separator: Separator
    rule: SlackRule
    side: SideConditions
    C: float
    weights: Floats
    examples: Indices
    epsilon: float
    rtol: float
    max_iter: int
    time_limit: float
    cache_size: int
    rng: np.random.Generator
    callback: Callable[[Iteration], object] | None = None
    save: Callable[[Best], None] | None = None
    working_set: SupportsDump | None = None
    history: list[Iteration] = field(default_factory=list)
    qp_seconds: float = 0.0
    qp_solves: int = 0
    stop_reason: str = ""
    asked_to_stop: bool = False
    started: float = field(default_factory=time.perf_counter)
    earlier_seconds: float = 0.0
    patience: int = STALLED_ROUNDS

    kappa: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.kappa = self.C * self.weights

    @property
    def seconds(self) -> float:
        return self.earlier_seconds + time.perf_counter() - self.started

    def out_of_time(self) -> bool:
        return self.seconds > self.time_limit

    def cost(self, examples: Indices, slacks: Floats) -> float:
        """What these slacks add to the objective."""
        return float(self.kappa[examples] @ (slacks if self.rule.norm == 1 else 0.5 * slacks**2))

    def threshold(self, dual: float) -> float:
        """How much a plane must be violated to be added: less would not move the gap towards its goal."""
        return max(self.epsilon, 0.05 * self.goal(dual) / self.C)

    def goal(self, dual: float) -> float:
        """The gap at which the run may end, in units of the objective."""
        return max(self.rtol * abs(dual), self.C * self.epsilon)

    def judge(self, primal: float, dual: float, worst: float) -> None:
        """Converged when the relative gap is reached, or when no constraint is violated beyond epsilon."""
        gap = primal - dual
        close = gap <= self.rtol * abs(primal) or (
            worst <= self.epsilon and gap <= 2.0 * self.C * self.epsilon
        )
        if close and not self.asked_to_stop:
            self.stop_reason = "converged"

    def judge_joint(self, primal: float, dual: float) -> None:
        """As `judge`, where the joint constraint's violation is the gap over C."""
        self.judge(primal, dual, (primal - dual) / self.C)

    def record(self, best: Best, dual: float, constraints: int) -> None:
        """Enter a round in the history, tell the callback, and note a reason to stop."""
        entry = Iteration(
            len(self.history) + 1,
            best.primal,
            dual,
            self.separator.calls,
            constraints,
            self.seconds,
            self.separator.seconds,
            self.qp_seconds,
        )
        self.history.append(entry)
        if self.save is not None:
            self.save(best)
        if self.stop_reason:
            return
        stop = self.callback(replace(entry, working_set=self.working_set)) if self.callback else None
        if stop:
            self.stop_reason = stop if isinstance(stop, str) else "callback"
            self.asked_to_stop = True
        elif self._stalled():
            self.stop_reason = "stalled"
        elif len(self.history) >= self.max_iter:
            self.stop_reason = "max_iter"
        elif self.out_of_time():
            self.stop_reason = "time_limit"

    def _stalled(self) -> bool:
        """Nothing gained in many rounds: the last digits of the arithmetic are reached."""
        if len(self.history) <= self.patience:
            return False
        then, now = self.history[-self.patience], self.history[-1]
        no_rise = now.dual - then.dual <= 1e-13 * abs(now.dual)
        return no_rise and not now.primal < then.primal
