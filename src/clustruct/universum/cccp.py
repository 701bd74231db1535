"""CCCP: fix the labels, solve the convex problem, label anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.callbacks import Iteration, asked_to_stop
from clustruct.storage import DataclassState, register

from .convex_step import solve_convex
from .problem import MarginProblem


@dataclass(frozen=True)
class CCCPStep:
    """One step: the objective after it, what the inner solver did, and how many labels it changed."""

    objective: float
    dual: float
    inner_iterations: int
    planes: int
    moved: int
    seconds: float


@register("CCCPResult")
@dataclass(frozen=True)
class CCCPResult(DataclassState):
    """The outcome of `cccp`; ``stop_reason``: "converged", "fixed_point", "max_iter", "interrupted", or the
    callback's.
    """

    W: Floats
    labels: Indices
    objective: float
    stop_reason: str
    history: tuple[CCCPStep, ...] = field(repr=False)
    seconds: float

    @property
    def converged(self) -> bool:
        return self.stop_reason in ("converged", "fixed_point")

    @property
    def objectives(self) -> Floats:
        """The objective after each CCCP step; it never rises."""
        return np.array([step.objective for step in self.history])

    @property
    def inner_iterations(self) -> int:
        return sum(step.inner_iterations for step in self.history)


def cccp(
    problem: MarginProblem,
    labels: Indices,
    W: Floats | None = None,
    tol: float = 0.01,
    inner_tol: float = 0.01,
    max_iter: int = 100,
    callback: Callable[[Iteration], object] | None = None,
) -> CCCPResult:
    """Solve `MarginProblem` from given labels (or from a balanced W with its labels) to a local optimum.

    Table 1 of the paper, but for the Universum term, which keeps its maximum. With labels u = argmax at W the
    convex problem touches the objective J at W and lies above it elsewhere; the inner solver's answer is
    not worse than W; so J never rises, whatever the inner tolerance. Ends when a step lowers J by ``tol``
    times its value or less, when it changes no label, or when the callback, called after each step, returns
    something true. Ctrl-C keeps what was reached.
    """
    started = time.perf_counter()
    current = np.zeros(problem.shape) if W is None else W
    scores = problem.scores(current)
    value = np.inf if W is None else problem.objective_at(current, scores)
    history: list[CCCPStep] = []
    earlier, reason = None, ""
    try:
        while not reason:
            inner = solve_convex(problem, labels, current, inner_tol, earlier=earlier, scores=scores)
            if inner.stop_reason == "interrupted" and inner.W is current:
                raise KeyboardInterrupt
            before, value_before = labels, value
            current, earlier, scores = inner.W, inner.universum, inner.scores
            labels, value = np.argmax(scores[0], axis=1), problem.objective_at(current, scores)
            moved = int(np.count_nonzero(labels != before))
            now = time.perf_counter() - started
            history.append(CCCPStep(value, inner.dual, inner.rounds, inner.planes, moved, now))
            if inner.stop_reason == "interrupted":
                reason = "interrupted"
            elif value_before - value <= tol * value_before and np.isfinite(value_before):
                reason = "converged"
            elif moved == 0:
                reason = "fixed_point"
            else:
                reason = asked_to_stop(callback, _iteration(history))
                reason = reason or ("max_iter" if len(history) >= max_iter else "")
    except KeyboardInterrupt:
        if not history:
            raise
        reason = "interrupted"
    return CCCPResult(current, labels, value, reason, tuple(history), time.perf_counter() - started)


def _iteration(history: list[CCCPStep]) -> Iteration:
    """The last step as a callback sees it. Nothing bounds the objective from below, as it is not convex."""
    rounds, last = sum(step.inner_iterations for step in history), history[-1]
    return Iteration(len(history), last.objective, -np.inf, rounds, last.planes, last.seconds)
