"""Training with a smoothed oracle, for relaxations that have more corners than planes can hold."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from clustruct._typing import Floats

from .n_slack import PlaneSet
from .run import Best, Run
from .separation import Softened

# The first mu, as a part of the mean violation at the first w.
FIRST = 0.05
# Each stage takes this part of the last mu. On Synth with the spectral oracle at C = 1e4, evaluations to gaps
# of 1% and 0.1%: 250 and 455 at 0.5, 232 and 314 at 0.25 (plain cutting planes stood at 29% after 15 s,
# these take 2.0 and 2.7 s).
SHRINK = 0.25
# Evaluations of a stage at most, and the curvature pairs that L-BFGS keeps. 10 and 60 pairs: within a tenth.
STAGE = 100
MEMORY = 30
# Evaluations whose planes are kept for the dual bound: the best and the last of each stage.
KEPT = 2


class _Ended(Exception):
    """Leaves the minimiser when a stage or the run has ended."""


@dataclass(frozen=True)
class _Evaluation:
    dual: float
    answers: list[Softened]


def train_smoothed(run: Run, planes: PlaneSet, start: Floats) -> Best:
    """``min F_mu(w) = 1/2 |w - prior|^2 + C mean_i xi_i,mu(w)`` by L-BFGS, for smaller and smaller mu.

    Where xi_i(w) is the largest of <A(w), Z> over a convex set of Z, ``xi_i,mu`` adds mu S(Z) with a
    strictly concave S >= 0 (Nesterov 2005): smooth, never below xi_i, and the Z that attains it is a
    mean of outputs, so a valid plane. With g the gradient and no bounds, the dual at these planes is::

        D = F_mu(w) - 1/2 |g|^2 - C mu mean S

    A stage ends when 1/2 |g|^2 has come down to the last term; then mu is made smaller. Planes of each
    stage go to the working set, whose QP gives the bound by which the run is judged.
    """
    stages = _Stages(run, planes, start)
    try:
        while not run.stop_reason:
            stages.run_one()
    except KeyboardInterrupt:
        run.stop_reason = "interrupted"
    return stages.best


class _Stages:
    def __init__(self, run: Run, planes: PlaneSet, start: Floats) -> None:
        self.run, self.planes, self.w = run, planes, run.side.clip(start)
        self.best = Best(self.w, np.inf, np.inf)
        self.mu = 0.0
        self.seen: list[_Evaluation] = []
        # Between two stages neither bound need move.
        run.patience = 3 * STAGE

    def run_one(self) -> None:
        """Minimise at one mu, take in the planes found, judge the gap, and choose the next mu."""
        if not self.mu:
            self._begin()
        self.seen.clear()
        side = self.run.side
        bounds = np.stack([side.low, side.high], 1) if side.bounded else None
        options = {"maxcor": MEMORY, "maxfun": STAGE, "maxiter": STAGE, "ftol": 0.0, "gtol": 0.0}
        with suppress(_Ended):
            self.w = minimize(
                self._value, self.w, jac=True, method="L-BFGS-B", bounds=bounds, options=options
            ).x
        self._take_planes()
        self.mu *= SHRINK

    def _begin(self) -> None:
        answers = self.run.separator.soften(self.run.examples, self.w, 1e-9)
        violation = np.array([a.violation for a in answers])
        mean = float(self.run.weights[self.run.examples] @ violation)
        self._note(self.w, violation)
        self.mu = FIRST * max(mean, self.run.epsilon, 1e-12)

    def _value(self, w: Floats) -> tuple[float, Floats]:
        """F_mu and its gradient; ends the stage when it has done its part."""
        run = self.run
        answers = run.separator.soften(run.examples, w, self.mu)
        kappa = run.kappa[run.examples]
        half = self.planes.half_norm(w)
        direction = kappa @ np.stack([a.difference for a in answers])
        value = half + float(kappa @ [a.value for a in answers])
        smoothing = float(kappa @ [a.value - a.loss + a.difference @ w for a in answers])
        dual = self._dual(direction, float(kappa @ [a.loss for a in answers]))
        self._note(w, np.array([a.violation for a in answers]))
        self.seen.append(_Evaluation(dual, answers))
        run.record(self.best, self.planes.dual, len(self.planes))
        enough = self.best.primal - dual <= run.rtol * abs(self.best.primal)
        if run.stop_reason or enough or value - dual - smoothing <= smoothing:
            self.w = w.copy()
            raise _Ended
        return value, (w - run.side.prior) - direction

    def _dual(self, direction: Floats, losses: float) -> float:
        """The dual value of one plane per example, each with its whole multiplier."""
        side = self.run.side
        w = side.clip(side.prior + direction)
        return 0.5 * float(np.sum((w - side.prior) ** 2)) + losses - float(direction @ w)

    def _note(self, w: Floats, violation: Floats) -> None:
        run = self.run
        primal = self.planes.half_norm(w) + run.cost(run.examples, violation)
        mean = float(run.weights[run.examples] @ violation)
        self.best = self.best.against(Best(w.copy(), primal, mean), self.planes.dual)

    def _take_planes(self) -> None:
        """Planes of the best and the last evaluations join the working set; its QP gives the bound."""
        run, started = self.run, time.perf_counter()
        kept = sorted(self.seen, key=lambda e: -e.dual)[:KEPT]
        kept += [e for e in self.seen[-KEPT:] if not any(e is other for other in kept)]
        for evaluation in kept:
            rows = np.stack([a.difference for a in evaluation.answers])
            losses = np.array([a.loss for a in evaluation.answers])
            self.planes.add(rows, losses, run.examples)
        self.planes.improve(0.1 * run.goal(self.planes.dual), run.rng)
        self.planes.drop_idle(KEPT)
        run.qp_seconds += time.perf_counter() - started
        run.qp_solves += 1
        if not run.stop_reason:
            run.judge_joint(self.best.primal, self.planes.dual)
            run.record(self.best, self.planes.dual, len(self.planes))
