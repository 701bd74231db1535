"""Training with a smoothed oracle, for relaxations that have more corners than planes can hold."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from clustruct.core.typing import Floats
from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm.planes import PlaneSet
from clustruct.ssvm.problem import SmoothedResult

from .base import Incumbent, Solver, SolverRun, Task
from .n_slack import Store, example_planes

# The first mu, as a part of the mean violation at the first w.
FIRST_MU = 0.05
# Each stage takes this part of the last mu. On Synth with the spectral oracle at C = 1e4, evaluations to gaps
# of 1% and 0.1%: 250 and 455 at 0.5, 232 and 314 at 0.25 (plain cutting planes stood at 29% after 15 s,
# these take 2.0 and 2.7 s).
MU_SHRINK = 0.25
# Evaluations of a stage at most, and the curvature pairs that L-BFGS keeps. 10 and 60 pairs: within a tenth.
STAGE_EVALUATIONS = 100
CURVATURE_PAIRS = 30
# Evaluations whose planes are kept for the dual bound: the best and the last of each stage.
KEPT_EVALUATIONS = 2


class _Ended(Exception):
    """Leaves the minimiser when a stage or the run has ended."""


@dataclass(eq=False)
class Smoothed(Solver):
    """``min F_mu(w) = 1/2 |w - prior|^2 + C mean_i xi_i,mu(w)`` by L-BFGS, for smaller and smaller mu.

    Where xi_i(w) is the largest of <A(w), Z> over a convex set of Z, ``xi_i,mu`` adds mu S(Z) with a
    strictly concave S >= 0 (Nesterov 2005): smooth, never below xi_i, and the Z that attains it is a
    mean of outputs, so a valid plane. With g the gradient and no bounds, the dual at these planes is::

        D = F_mu(w) - 1/2 |g|^2 - C mu mean S

    A stage ends when 1/2 |g|^2 has come down to the last term; then mu is made smaller. Planes of each
    stage go to the working set, whose QP gives the bound by which the training is judged.

    Parameters
    ----------
    store : "auto", "gram" or "pool"
        As for `NSlack`.
    """

    name: ClassVar[str] = "smoothed"
    # Smoothed slacks are low where an earlier run ended, not at the solution of its planes.
    starts_at_w: ClassVar[bool] = True
    store: Store = "auto"

    def missing(self, task: Task) -> str | None:
        if task.rule != SlackRule():
            return "it needs margin scaling and slack_norm=1"
        if not task.problem.can_smooth:
            return f"{type(task.problem).__name__} has no smoothed oracle (can_smooth and separate_smoothly)"
        if len(task.conditions.lower):
            return "linear constraints do not go with it"
        return None if task.kernel is None else "it works without a kernel"

    def planes(self, task: Task) -> PlaneSet[Any]:
        return example_planes(task, self.store)

    def solve(self, run: SolverRun[Floats], start: Floats) -> Incumbent[Floats]:
        stages = _SmoothedDescent(run, start)
        try:
            while not run.progress.stop_reason:
                stages.run_one()
        except KeyboardInterrupt:
            run.progress.stop_reason = "interrupted"
        return stages.best


class _SmoothedDescent:
    def __init__(self, run: SolverRun[Floats], start: Floats) -> None:
        self.run, self.task, self.planes, self.progress = run, run.task, run.planes, run.progress
        self.w = self.task.conditions.clip(start)
        self.best = Incumbent(self.w)
        self.mu = 0.0
        # Of the stage: the dual value of each evaluation, and its answers.
        self.seen: list[tuple[float, list[SmoothedResult]]] = []
        # Between two stages neither bound need move.
        self.progress.patience = 3 * STAGE_EVALUATIONS

    def run_one(self) -> None:
        """Minimise at one mu, take in the planes found, judge the gap, and choose the next mu."""
        if not self.mu:
            self._begin()
        self.seen.clear()
        within = self.task.conditions
        bounds = np.stack([within.low, within.high], 1) if within.bounded_search else None
        limits = {"maxcor": CURVATURE_PAIRS, "maxfun": STAGE_EVALUATIONS, "maxiter": STAGE_EVALUATIONS}
        options = limits | {"ftol": 0.0, "gtol": 0.0}
        with suppress(_Ended):
            found = minimize(self._value, self.w, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            self.w = found.x
        self._take_planes()
        self.mu *= MU_SHRINK

    def _begin(self) -> None:
        answers = self.run.separate_smoothly(self.task.examples, self.w, 1e-9)
        mean = self._note(self.w, np.array([a.violation for a in answers]))
        self.mu = FIRST_MU * max(mean, self.task.epsilon, 1e-12)

    def _value(self, w: Floats) -> tuple[float, Floats]:
        """F_mu and its gradient; ends the stage when it has done its part."""
        task = self.task
        answers = self.run.separate_smoothly(task.examples, w, self.mu)
        kappa = task.kappa[task.examples]
        half = self.planes.half_norm(w)
        direction = kappa @ np.stack([a.difference for a in answers])
        value = half + float(kappa @ [a.value for a in answers])
        smoothing = float(kappa @ [a.value - a.loss + a.difference @ w for a in answers])
        dual = self._dual(direction, float(kappa @ [a.loss for a in answers]))
        self._note(w, np.array([a.violation for a in answers]))
        self.seen.append((dual, answers))
        self.progress.record(self.best, self.planes)
        enough = self.best.primal - dual <= task.rtol * abs(self.best.primal)
        if self.progress.stop_reason or enough or value - dual - smoothing <= smoothing:
            self.w = w.copy()
            raise _Ended
        return value, (w - task.conditions.prior) - direction

    def _dual(self, direction: Floats, losses: float) -> float:
        """The dual value of one plane per example, each with its whole multiplier."""
        conditions = self.task.conditions
        w = conditions.clip(conditions.prior + direction)
        return self.planes.half_norm(w) + losses - float(direction @ w)

    def _note(self, w: Floats, violation: Floats) -> float:
        """Compare the point with the best; the mean slack there."""
        task = self.task
        primal = self.planes.half_norm(w) + task.cost(task.examples, violation)
        mean = float(task.weights[task.examples] @ violation)
        self.best = self.best.better_of(Incumbent(w.copy(), primal, mean), self.planes.dual)
        return mean

    def _take_planes(self) -> None:
        """Planes of the best and the last evaluations join the working set; its QP gives the bound."""
        started, planes = time.perf_counter(), self.planes
        kept = sorted(self.seen, key=lambda e: -e[0])[:KEPT_EVALUATIONS]
        kept += [e for e in self.seen[-KEPT_EVALUATIONS:] if not any(e is other for other in kept)]
        for _, answers in kept:
            rows = np.stack([a.difference for a in answers])
            planes.add(rows, np.array([a.loss for a in answers]), self.task.examples)
        planes.optimise(0.1 * self.task.goal(planes.dual), self.task.rng)
        planes.prune(KEPT_EVALUATIONS)
        self.progress.count_solve(started)
        if not self.progress.stop_reason:
            self.progress.judge(self.best.primal, planes.dual)
            self.progress.record(self.best, planes)
