"""One slack per example (Algorithm 1), in rounds over parts of the examples."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from clustruct._typing import Floats, Indices

from .constraints import scale_rows
from .run import Best, Run
from .separation import Answer

# More parts bring fresher weights to the oracle; each costs a call of a vectorised oracle.
PARTS = 8
# A round over all examples at one w comes when the last found at most this many times the goal.
NEAR = 4.0
# Rounds (in a pool) or solves (in a working set) without weight before a plane is forgotten. Three and eight
# times as many changed no count of rounds on news and records, and made the QPs larger.
IDLE_ROUNDS = 20


class PlaneSet(Protocol):
    """A working set as the rounds see it: `Pool` for many examples, `WorkingSet` for few."""

    @property
    def w(self) -> Any: ...
    @property
    def dual(self) -> float: ...
    def __len__(self) -> int: ...
    def add(self, rows: Any, b: Floats, groups: Indices) -> None: ...
    def slacks(self, groups: Indices) -> Floats: ...
    def improve(self, goal: float, rng: np.random.Generator, part: Indices | None = None) -> None: ...
    def drop_idle(self, age: int) -> None: ...
    def half_norm(self, w: Any) -> float: ...


def train_n_slack(run: Run, planes: PlaneSet, start: Any) -> Best:
    """``min 1/2 |w - prior|^2 + C mean xi_i`` (or half its squares), one slack per example (OP 4-7).

    A round asks the oracle for one part of the examples after another, adds the planes violated by
    more than epsilon beyond what the planes held need (the best of fresh, kept and true answer
    counts), and improves the multipliers of that part at once; then the whole set is
    improved until its own gap is small beside what the oracle still found. Shah, Kolmogorov
    and Lampert (2015) alternate exact and cached passes in the same spirit. When little is found,
    a round asks for all examples at one w: only then the primal value is known and the run may end.
    """
    order = run.rng.permutation(run.examples)
    parts = np.array_split(order, min(PARTS, max(1, len(order) // 2)))
    best = Best(start, np.inf, np.inf)
    # Judged by epsilon alone, as in Algorithm 1, the planes' own problem should be solved well.
    w, found, tight = start, np.inf, 0.7 if run.rtol else 0.1
    try:
        while not run.stop_reason:
            goal = run.goal(planes.dual)
            if len(parts) == 1 or found <= NEAR * goal:
                best, found = _whole_round(run, planes, order, w, best)
            else:
                found = _parted_round(run, planes, parts, w)
            if not run.stop_reason:
                near = found <= NEAR * goal
                tight *= 0.5 if near and np.isfinite(best.primal) else 1.0
                _improve(run, planes, tight * goal if near else 0.3 * found)
                planes.drop_idle(IDLE_ROUNDS)
            w = planes.w
            run.record(best, planes.dual, len(planes))
        if np.isinf(best.primal):
            best, _ = _whole_round(run, planes, order, w, best)
    except KeyboardInterrupt:
        run.stop_reason = "interrupted"
        best = best if np.isfinite(best.primal) else Best(planes.w, np.inf, np.inf)
    return best


def _parted_round(run: Run, planes: PlaneSet, parts: list[Indices], w: Any) -> float:
    """Each part at the newest w; what the oracle found beyond the planes held, in units of the objective."""
    found, threshold = 0.0, run.threshold(planes.dual)
    for part in parts:
        for answer in run.separator(part, w):
            held = planes.slacks(answer.indices)
            found += run.cost(answer.indices, np.maximum(answer.violation, held)) - run.cost(
                answer.indices, held
            )
            _take(run, planes, answer, held, threshold)
        _improve(run, planes, 0.0, part)
        w = planes.w
    return found


def _whole_round(run: Run, planes: PlaneSet, order: Indices, w: Any, best: Best) -> tuple[Best, float]:
    """All examples at one w: the primal value there, and its distance from the dual."""
    cost = worst = mean = 0.0
    dual = planes.dual
    threshold = run.threshold(dual)
    for answer in run.separator(order, w):
        held = planes.slacks(answer.indices)
        slack = np.maximum(answer.violation, held)
        cost += run.cost(answer.indices, slack)
        mean += float(run.weights[answer.indices] @ slack)
        worst = max(worst, float(np.max(answer.violation - held)))
        _take(run, planes, answer, held, threshold)
    primal = planes.half_norm(w) + cost
    best = best.against(Best(w, primal, mean), dual)
    run.judge(primal, dual, worst)
    return best, primal - dual


def _take(run: Run, planes: PlaneSet, answer: Answer, held: Floats, threshold: float) -> None:
    """Add the planes that are violated beyond the planes held."""
    which = np.flatnonzero(answer.violation > held + threshold)
    if len(which):
        losses = np.asarray(answer.batch.losses)[which]
        rows = answer.batch.rows(which)
        if run.rule.scaling == "slack":
            rows = scale_rows(rows, run.rule.multiplier(losses))
        planes.add(rows, run.rule.sized(losses), answer.indices[which])


def _improve(run: Run, planes: PlaneSet, goal: float, part: Indices | None = None) -> None:
    started = time.perf_counter()
    planes.improve(goal, run.rng, part)
    run.qp_seconds += time.perf_counter() - started
    run.qp_solves += 1
