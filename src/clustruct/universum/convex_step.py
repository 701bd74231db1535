"""The convex problem inside CCCP, by cutting planes with two slacks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.ssvm.result import Planes
from clustruct.ssvm.working_set import LinearSpace, WorkingSet

from .problem import MarginProblem
from .terms import View, inner_product, plane_of

# How far beyond the best point, towards the QP's solution, the next planes are made.
SHARE = 0.1
# Steps of the bisection along the line: 5 find the best share to 1/16, and more do not save rounds.
HALVINGS = 5
# Solves without weight before a plane is forgotten.
IDLE_SOLVES = 15


@dataclass(frozen=True)
class Inner:
    """A solution of the convex problem: ``dual <= optimum <= primal``, the value at W."""

    W: Floats
    scores: list[Floats]
    primal: float
    dual: float
    rounds: int
    planes: int
    universum: Planes | None
    converged: bool


@dataclass(frozen=True)
class _Point:
    """W with its scores in every view, and the value there."""

    W: Floats
    scores: list[Floats]
    value: float = np.inf

    def towards(self, other: _Point, share: float) -> _Point:
        scores = [a + share * (b - a) for a, b in zip(self.scores, other.scores, strict=True)]
        return _Point(self.W + share * (other.W - self.W), scores)


def solve_convex(
    problem: MarginProblem,
    labels: Indices,
    start: Floats,
    rtol: float = 0.01,
    max_rounds: int = 200,
    earlier: Planes | None = None,
    scores: list[Floats] | None = None,
) -> Inner:
    """``min 1/2 |W|^2 + C xi + C_u xi_u`` with the labels fixed, and the balance rows (problems 16, 22).

    Each round makes one plane per view, the sum of the hinges that are active at one point, so the QP has two
    groups of few planes whatever n and N. The point is found as in OCAS (Franc and Sonnenburg 2008): the
    best on the line from the best point so far to the QP's solution, and a little beyond. The answer is
    never worse than ``start``, which must be balanced. Ends when primal - dual <= rtol * primal. The
    Universum term does not depend on the labels, so its planes (``earlier``) serve in the next CCCP step too;
    ``scores`` are those of start, where they are known.
    Cost per round O(k nnz(X)) plus a QP in the number of planes.
    """
    views, weights = problem.views(labels), problem.weights
    working = _working_set(problem, earlier)
    at_start = problem.scores(start) if scores is None else scores
    best = _Point(start, at_start, problem.objective_at(start, at_start, labels))
    asked, rounds, moved = best, 0, True
    while rounds < max_rounds:
        rounds += 1
        for group, view in enumerate(views):
            M, b = view.cut(asked.scores[group])
            working.add_plane(plane_of(view.X, M).ravel(), b, group)
        working.solve()
        if best.value - working.dual <= rtol * best.value:
            break
        W = problem.balanced(working.w.reshape(problem.shape))
        there = _Point(W, problem.scores(W))
        found = _line_search(views, weights, best, there)
        moved, best = found.value < best.value, min(best, found, key=lambda p: p.value)
        if best.value - working.dual <= rtol * best.value:
            break
        # Where the line brought nothing, the QP's own solution must be cut off.
        asked = best.towards(there, SHARE) if moved else there
        working.drop_idle(IDLE_SOLVES)
    converged = best.value - working.dual <= rtol * best.value
    return Inner(
        best.W,
        best.scores,
        best.value,
        working.dual,
        rounds,
        len(working),
        _universum_planes(working),
        converged,
    )


def _working_set(problem: MarginProblem, earlier: Planes | None) -> WorkingSet:
    side = problem.balance_rows()
    weights = problem.weights
    working = WorkingSet(LinearSpace(len(side.prior), side), weights, np.zeros(len(weights)))
    if earlier is not None and len(earlier):
        working.load(earlier)
    return working


def _universum_planes(working: WorkingSet) -> Planes:
    held = working.dump()
    kept = held.group == 1
    return replace(held, vectors=held.vectors[kept], b=held.b[kept], group=held.group[kept], a=held.a[kept])


def _value_and_slope(views: list[View], weights: Floats, at: _Point, step: _Point) -> tuple[float, float]:
    """The value at a point, and its slope when W moves by step.W."""
    value, slope = 0.5 * float(np.vdot(at.W, at.W)), float(np.vdot(at.W, step.W))
    for view, weight, scores, moves in zip(views, weights, at.scores, step.scores, strict=True):
        M, b = view.cut(scores)
        value += weight * (b - inner_product(M, scores))
        slope -= weight * inner_product(M, moves)
    return value, slope


def _line_search(views: list[View], weights: Floats, best: _Point, there: _Point) -> _Point:
    """A point between the two where the convex value is near its least, by bisection of the slope."""
    step = _Point(there.W - best.W, [b - a for a, b in zip(best.scores, there.scores, strict=True)])
    low, high, found = 0.0, 1.0, best
    share = 1.0
    for _ in range(HALVINGS):
        point = best.towards(there, share)
        value, slope = _value_and_slope(views, weights, point, step)
        if value < found.value:
            found = replace(point, value=value)
        if slope <= 0.0:
            low = share
        else:
            high = share
        if low == 1.0:
            break
        share = 0.5 * (low + high)
    return found
