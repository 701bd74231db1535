"""One slack per example (Algorithm 1), in rounds over parts of the examples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from clustruct.core.typing import Floats, Indices
from clustruct.ssvm.planes import PlaneSet
from clustruct.ssvm.pool import PooledPlanes
from clustruct.ssvm.problem import W
from clustruct.ssvm.separation import Separation, scale_rows

from .base import Incumbent, Solver, SolverRun, Task

# With so few examples a Gram matrix is kept and its QP solved exactly.
FEW_EXAMPLES = 64
# More parts bring fresher weights to the oracle; each costs a call of a vectorised oracle.
PARTS = 8
# A round over all examples at one w comes when the last found at most this many times the goal.
NEAR_GOAL = 4.0
# Rounds (in a pool) or solves (with a Gram matrix) without weight before a plane is forgotten. Three and
# eight times as many changed no count of rounds on news and records, and made the QPs larger.
IDLE_ROUNDS = 20
Store = Literal["auto", "gram", "pool"]


def example_planes(task: Task, store: Store = "auto") -> PlaneSet[Any]:
    """Planes with one group per example. "auto" pools them where there are many examples and no kernel."""
    n = len(task.weights)
    if task.rule.norm == 1:
        cap, ridge = task.kappa, np.zeros(n)
    else:
        # An example that does not count has no plane, and no multiplier if an earlier run brings one.
        counts = task.weights > 0.0
        cap, ridge = np.where(counts, np.inf, 0.0), np.zeros(n)
        ridge[counts] = 1.0 / task.kappa[counts]
    pooled = store == "pool" or (store == "auto" and len(task.examples) > FEW_EXAMPLES)
    if pooled and task.kernel is None:
        return PooledPlanes(cap, ridge, task.conditions)
    return task.gram_planes(cap, ridge)


@dataclass(eq=False)
class NSlack(Solver):
    """``min 1/2 |w - prior|^2 + C mean xi_i`` (or half its squares), one slack per example (OP 4-7).

    A round asks the oracle for one part of the examples after another, adds the planes violated by
    more than epsilon beyond what the planes held need (the best of fresh, kept and true output
    counts), and improves the multipliers of that part at once; then the whole set is
    improved until its own gap is small beside what the oracle still found. Shah, Kolmogorov
    and Lampert (2015) alternate exact and cached passes in the same spirit. When little is found,
    a round asks for all examples at one w: only then the primal value is known and the training may end.

    Parameters
    ----------
    store : "auto", "gram" or "pool"
        Where planes are held: with their Gram matrix, or in a pool by example (see `PlaneSet`). "auto"
        takes the pool for more than 64 examples.
    prune_after : int
        Rounds without weight before a plane is forgotten.
    """

    name: ClassVar[str] = "n_slack"
    store: Store = "auto"
    prune_after: int = IDLE_ROUNDS

    def __post_init__(self) -> None:
        if self.store not in ("auto", "gram", "pool"):
            raise ValueError(f"store must be 'auto', 'gram' or 'pool', not {self.store!r}")

    def planes(self, task: Task) -> PlaneSet[Any]:
        return example_planes(task, self.store)

    def solve(self, run: SolverRun[W], start: W) -> Incumbent[W]:
        task, planes, progress = run.task, run.planes, run.progress
        order = task.rng.permutation(task.examples)
        parts = np.array_split(order, min(PARTS, max(1, len(order) // 2)))
        best = Incumbent(start)
        # Judged by epsilon alone, as in Algorithm 1, the planes' own problem should be solved well.
        w, found, tight = start, np.inf, 0.7 if task.rtol else 0.1
        try:
            while not progress.stop_reason:
                goal = task.goal(planes.dual)
                if len(parts) == 1 or found <= NEAR_GOAL * goal:
                    best, found = _whole_round(run, order, w, best)
                else:
                    found = _parted_round(run, parts, w)
                if not progress.stop_reason:
                    near = found <= NEAR_GOAL * goal
                    tight *= 0.5 if near and np.isfinite(best.primal) else 1.0
                    _optimise(run, tight * goal if near else 0.3 * found)
                    planes.prune(self.prune_after)
                w = planes.w
                progress.record(best, planes)
            if np.isinf(best.primal):
                best, _ = _whole_round(run, order, w, best, thorough=True)
        except KeyboardInterrupt:
            progress.stop_reason = "interrupted"
            best = best if np.isfinite(best.primal) else Incumbent(planes.w)
        return run.raise_to_planes(best)


def _parted_round(run: SolverRun[W], parts: list[Indices], w: W) -> float:
    """Each part at the newest w; what was found beyond the planes held, in units of the objective."""
    found, task, threshold = 0.0, run.task, run.task.threshold(run.planes.dual)
    for part in parts:
        for answer, held in _take_answers(run, part, w, threshold, quick=not run.thorough_due):
            slack = np.maximum(answer.violation, held)
            found += task.cost(answer.indices, slack) - task.cost(answer.indices, held)
        _optimise(run, 0.0, part)
        w = run.planes.w
    return found


def _whole_round(
    run: SolverRun[W], order: Indices, w: W, best: Incumbent[W], thorough: bool = False
) -> tuple[Incumbent[W], float]:
    """All examples at one w: the primal value there, and its distance from the dual.

    Where a quick search finds little, or so little that the training would end, the thorough one is asked.
    """
    task, planes, dual = run.task, run.planes, run.planes.dual
    sure = not task.quick or thorough or run.thorough_due
    rounds = [list(_take_answers(run, order, w, task.threshold(dual), quick=not sure))]
    half, (held, cost, mean, worst) = planes.half_norm(w), _sum_rounds(task, rounds)
    little = task.C * task.threshold(dual)
    if not sure and (cost - held <= little or run.progress.is_close(half + cost, dual, worst)):
        quick = [answer.violation for answer, _ in rounds[0]]
        rounds.append(list(_take_answers(run, order, w, task.threshold(dual), found_before=quick)))
        sure, (_, cost, mean, worst) = True, _sum_rounds(task, rounds)
    primal = half + cost
    if sure:
        run.progress.judge(primal, dual, worst)
        best = run.raise_to_planes(best).better_of(Incumbent(w, primal, mean), dual)
    return best, primal - dual


Taken = tuple[Separation[W], Floats]


def _sum_rounds(task: Task, rounds: list[list[Taken[Any]]]) -> tuple[float, float, float, float]:
    """The costs of the slacks held and of those found, their mean, and the largest violation.

    Answers of several rounds at the same w count together; what was held before the first counts as held.
    """
    before = cost = mean = worst = 0.0
    for answers in zip(*rounds, strict=True):
        held, indices = answers[0][1], answers[0][0].indices
        violation = np.max([answer.violation for answer, _ in answers], axis=0)
        slack = np.maximum(violation, held)
        before += task.cost(indices, held)
        cost += task.cost(indices, slack)
        mean += float(task.weights[indices] @ slack)
        worst = max(worst, float(np.max(violation - held)))
    return before, cost, mean, worst


def _take_answers(
    run: SolverRun[W],
    examples: Indices,
    w: W,
    threshold: float,
    quick: bool = False,
    found_before: list[Floats] | None = None,
) -> Iterator[Taken[W]]:
    """The oracle's answers, each with the slacks of the planes held before it was taken in.

    Those planes are added that are violated by more than the threshold beyond them (and beyond the
    answers taken in at the same w before, one array for each piece).
    """
    rule = run.task.rule
    for number, answer in enumerate(run.separate(examples, w, quick)):
        held = run.planes.slacks(answer.indices)
        least = held if found_before is None else np.maximum(held, found_before[number])
        which = np.flatnonzero(answer.violation > least + threshold)
        if len(which):
            losses, rows = np.asarray(answer.batch.losses)[which], answer.batch.rows(which)
            if rule.scaling == "slack":
                rows = scale_rows(rows, rule.multiplier(losses))
            run.planes.add(rows, rule.size(losses), answer.indices[which])
        yield answer, held


def _optimise(run: SolverRun[W], goal: float, part: Indices | None = None) -> None:
    started = time.perf_counter()
    run.planes.optimise(goal, run.task.rng, part)
    run.progress.count_solve(started)
