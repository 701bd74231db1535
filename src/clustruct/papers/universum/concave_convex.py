"""CCCP: fix the labels, solve the convex problem by cutting planes with two slacks, label anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clustruct.core.callbacks import Iteration, reason_to_stop
from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Floats, Indices
from clustruct.ssvm import Cut, CuttingPlaneResult, GramPlanes, Incumbent, Planes, Risk, cutting_plane

from .margin_problem import ConvexTerm, MarginProblem, lowest_first, plane_of

# How far beyond the best point, towards the QP's solution, the next planes are made.
PROX_STEP = 0.1
# Steps of the bisection along the line: 5 find the best share to 1/16, and more do not save rounds.
HALVINGS = 5
# Solves without weight before a plane is forgotten.
IDLE_SOLVES = 15
# Share of the room for balance that a tight pair has left.
TIGHT = 1e-6


def solve_convex(
    problem: MarginProblem,
    labels: Indices,
    start: Floats,
    rtol: float = 0.01,
    max_rounds: int = 200,
    earlier: Planes | None = None,
    scores: list[Floats] | None = None,
) -> CuttingPlaneResult[ScoredPoint]:
    """``min 1/2 |W|^2 + C xi + C_u xi_u`` with the labels fixed, and the balance rows (problems 16, 22).

    One plane per term and round, at a point found as in OCAS (Franc and Sonnenburg 2008). The answer is never
    worse than ``start``, which must be balanced; ends when primal - dual <= rtol * primal. The Universum term
    does not depend on the labels, so its planes (``earlier``) serve in the next CCCP step too. Of the k (k -
    1) balance rows the QP holds those that are tight at ``start`` or that one of its solutions broke: with
    ten clusters 15 to 30, not ninety. Cost per round O(k nnz(X)) plus a QP in the number of planes.
    """
    at_start = problem.scores(start) if scores is None else scores
    return cutting_plane(
        _FixedLabels(problem, labels, start),
        problem.balance_rows(all_pairs=False),
        problem.weights,
        start=Incumbent(ScoredPoint(start, at_start), problem.objective(start, labels, at_start)),
        planes=earlier,
        rtol=rtol,
        max_iter=max_rounds,
        prune_after=IDLE_SOLVES,
    )


@dataclass(frozen=True)
class ScoredPoint:
    """W with its scores in every term."""

    W: Floats
    scores: list[Floats]

    def towards(self, other: ScoredPoint, share: float) -> ScoredPoint:
        scores = [a + share * (b - a) for a, b in zip(self.scores, other.scores, strict=True)]
        return ScoredPoint(self.W + share * (other.W - self.W), scores)


class _FixedLabels(Risk[ScoredPoint]):
    """Both terms of the objective with the labels fixed, the balance, and the line search of OCAS."""

    def __init__(self, problem: MarginProblem, labels: Indices, start: Floats) -> None:
        self._problem, self._terms = problem, problem.terms(labels)
        self._pairs: set[tuple[int, int]] = set()
        self._tight = problem.unbalanced_pairs(start, TIGHT * problem.balance_room)

    def point(self, w: Floats) -> ScoredPoint:
        W = self._problem.balance_weights(w.reshape(self._problem.shape))
        return ScoredPoint(W, self._problem.scores(W))

    def cut(self, point: ScoredPoint, planes: GramPlanes[Floats]) -> Cut[ScoredPoint]:
        broken = self._problem.unbalanced_pairs(planes.w.reshape(self._problem.shape))
        new = [pair for pair in dict.fromkeys([*self._tight, *broken]) if pair not in self._pairs]
        self._pairs.update(new)
        self._tight = []
        rows = [self._problem.balance_row(p, q) for p, q in new]
        planes.add_conditions(rows, np.full(len(new), -self._problem.balance_room))
        cuts = [term.cut(scores) for term, scores in zip(self._terms, point.scores, strict=True)]
        vectors = [plane_of(term.X, M).ravel() for term, (M, _) in zip(self._terms, cuts, strict=True)]
        return Cut(vectors, [b for _, b in cuts])

    def step(
        self, best: Incumbent[ScoredPoint], planes: GramPlanes[Floats], useful: bool
    ) -> tuple[Incumbent[ScoredPoint], ScoredPoint]:
        there = self.point(planes.w)
        found = _line_search(self._terms, self._problem.weights, best, there)
        if found.primal < best.primal:
            return found, found.w.towards(there, PROX_STEP)
        # Where the line brought nothing, the QP's own solution must be cut off.
        return best, there


def _line_search(
    terms: list[ConvexTerm], weights: Floats, best: Incumbent[ScoredPoint], there: ScoredPoint
) -> Incumbent[ScoredPoint]:
    """A point between the two where the convex value is near its least, by bisection of the slope."""
    begin, step = best.w, there.W - best.w.W
    moves = [b - a for a, b in zip(begin.scores, there.scores, strict=True)]
    square, along, length = (
        float(np.vdot(a, b)) for a, b in ((begin.W, begin.W), (begin.W, step), (step, step))
    )
    low, high, share = 0.0, 1.0, 1.0
    taken, least = 0.0, best.primal
    for _ in range(HALVINGS):
        value, slope = 0.5 * square + share * (along + 0.5 * share * length), along + share * length
        for term, weight, scores, move in zip(terms, weights, begin.scores, moves, strict=True):
            risk, rise = term.along(scores, move, share)
            value, slope = value + weight * risk, slope + weight * rise
        if value < least:
            taken, least = share, value
        if slope <= 0.0:
            low = share
        else:
            high = share
        if low == 1.0:
            break
        share = 0.5 * (low + high)
    if not taken:
        return best
    scores_there = [a + taken * b for a, b in zip(begin.scores, moves, strict=True)]
    return replace(best, w=ScoredPoint(begin.W + taken * step, scores_there), primal=least)


# Share of the documents in which two clusterings agree that count as the same.
SAME = 0.99
# How a search ends by itself.
ENDS = ("converged", "fixed_point")


@dataclass(frozen=True)
class CCCPStep:
    """One step: the objective after it, what the inner solver did, and how many labels it changed."""

    objective: float
    dual: float
    inner_iterations: int
    planes: int
    moved: int
    seconds: float


@dataclass(frozen=True)
class MarginResult(DataclassState):
    """Weights and labels that a search ends with, the objective there, what ended it, and its steps."""

    W: Floats
    labels: Indices
    objective: float
    stop_reason: str
    history: tuple[Any, ...] = field(repr=False)
    seconds: float

    @property
    def converged(self) -> bool:
        return self.stop_reason in ENDS

    @property
    def was_ended(self) -> bool:
        """Whether a callback or Ctrl-C ended it."""
        return self.stop_reason not in ("", *ENDS, "max_iter")


@register("CCCPResult")
@dataclass(frozen=True)
class CCCPResult(MarginResult):
    """The outcome of `cccp`; its ``stop_reason`` may be the callback's."""

    history: tuple[CCCPStep, ...] = field(repr=False)

    @property
    def objectives(self) -> Floats:
        """The objective after each CCCP step; it never rises."""
        return np.array([step.objective for step in self.history])

    @property
    def inner_iterations(self) -> int:
        """Rounds of the inner solver, over all steps."""
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
    convex problem touches the objective at W and lies above it elsewhere, so it never rises. Ends when a step
    lowers it by ``tol`` times its value or less, when it changes no label, or by the callback; Ctrl-C keeps
    what was reached.
    """
    return CccpSearch(problem, labels, W, tol, inner_tol, max_iter, callback).run()


class CccpSearch:
    """One run of `cccp`, which can be left after some steps and taken up again.

    ``value`` is the objective reached (inf before the first step where no W was given), ``reason`` what ended
    the search, "" where it can go on. Without labels they are those of W.
    """

    def __init__(
        self,
        problem: MarginProblem,
        labels: Indices | None,
        W: Floats | None,
        tol: float,
        inner_tol: float,
        max_iter: int,
        callback: Callable[[Iteration], object] | None,
    ) -> None:
        self._started = time.perf_counter()
        self._problem = problem
        self._tol, self._inner_tol, self._max_iter, self._callback = tol, inner_tol, max_iter, callback
        self._W = np.zeros(problem.shape) if W is None else W
        self._scores = problem.scores(self._W)
        self.labels = np.argmax(self._scores[0], axis=1) if labels is None else labels
        self.value = np.inf if W is None else problem.objective(self._W, scores=self._scores)
        self._history: list[CCCPStep] = []
        self._earlier: Planes | None = None
        self.reason = ""

    def run(self, steps: float = np.inf) -> CCCPResult:
        """Go on to the end, or for so many steps, and return what was reached."""
        end = len(self._history) + steps
        try:
            while not self.reason and len(self._history) < end:
                self._step()
        except KeyboardInterrupt:
            if not self._history:
                raise
            self.reason = "interrupted"
        seconds = time.perf_counter() - self._started
        return CCCPResult(self._W, self.labels, self.value, self.reason, tuple(self._history), seconds)

    def _step(self) -> None:
        """Solve with the labels fixed, label anew, and see whether that is the end."""
        problem, before, value_before = self._problem, self.labels, self.value
        inner = solve_convex(
            problem, before, self._W, self._inner_tol, earlier=self._earlier, scores=self._scores
        )
        if inner.stop_reason == "interrupted" and inner.point.W is self._W:
            raise KeyboardInterrupt
        self._W, self._scores, self._earlier = inner.point.W, inner.point.scores, inner.planes.of_group(1)
        self.labels = np.argmax(self._scores[0], axis=1)
        self.value = problem.objective(self._W, scores=self._scores)
        moved = int(np.count_nonzero(self.labels != before))
        now = time.perf_counter() - self._started
        step = CCCPStep(self.value, inner.dual, len(inner.history), inner.n_planes, moved, now)
        self._history.append(step)
        asked = reason_to_stop(self._callback, _iteration(self._history))
        if inner.stop_reason == "interrupted":
            self.reason = "interrupted"
        elif value_before - self.value <= self._tol * value_before and np.isfinite(value_before):
            self.reason = "converged"
        elif moved == 0:
            self.reason = "fixed_point"
        else:
            self.reason = asked or ("max_iter" if len(self._history) >= self._max_iter else "")


def lowest_of(searches: Iterable[CccpSearch], tol: float) -> CCCPResult:
    """The lowest end of some searches. All take one step; those that can still be the lowest go on.

    Later steps lower the objective by little (0.4 % on average, on five collections), so that a search more
    than ``tol`` above the lowest is left, and one with the clusters of a lower one as well. Where a callback
    or Ctrl-C ends one of them, nothing goes on.
    """
    tried: list[CccpSearch] = []
    ended = ""
    for search in searches:
        tried.append(search)
        ended = _end_reason(search.run(1))
        if ended:
            break
    for search in [] if ended else _worth_following(tried, tol):
        ended = _end_reason(search.run())
        if ended:
            break
    best = _lowest_first(tried)[0].run(0)
    return best if best.stop_reason else replace(best, stop_reason=ended)


def _lowest_first(searches: list[CccpSearch]) -> list[CccpSearch]:
    return [searches[s] for s in lowest_first([search.value for search in searches])]


def _end_reason(found: CCCPResult) -> str:
    return found.stop_reason if found.was_ended else ""


def _worth_following(tried: list[CccpSearch], tol: float) -> list[CccpSearch]:
    """Lowest first; none more than ``tol`` above it, nor one whose clusters are those of a lower one."""
    taken: list[CccpSearch] = []
    for search in _lowest_first(tried):
        near = not taken or search.value <= (1.0 + tol) * taken[0].value
        if near and not any(_same_clusters(search.labels, other.labels) for other in taken):
            taken.append(search)
    return taken


def _same_clusters(a: Indices, b: Indices) -> bool:
    """Whether nearly all documents of each cluster lie in one of the other clustering, both ways."""
    width = int(b.max()) + 1
    both = np.bincount(a * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    return min(int(both.max(axis=axis).sum()) for axis in (0, 1)) >= SAME * len(a)


def _iteration(history: list[CCCPStep]) -> Iteration:
    """The last step as a callback sees it. Nothing bounds the objective from below, as it is not convex."""
    rounds, last = sum(step.inner_iterations for step in history), history[-1]
    return Iteration(len(history), last.objective, -np.inf, rounds, last.planes, last.seconds)
