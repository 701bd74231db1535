"""The convex problem of a CCCP step, labels fixed: cutting planes with two slacks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clustruct.core.typing import Floats, Indices
from clustruct.ssvm import Cut, CuttingPlaneResult, GramPlanes, Incumbent, Planes, Risk, cutting_plane

from .problem import ConvexTerm, MarginProblem, plane_of

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

    Each round makes one plane per term, the sum of the hinges that are active at one point, so the QP has two
    groups of few planes whatever n and N. The point is found as in OCAS (Franc and Sonnenburg 2008): the
    best on the line from the best point so far to the QP's solution, and a little beyond. The answer is
    never worse than ``start``, which must be balanced. Ends when primal - dual <= rtol * primal. The
    Universum term does not depend on the labels, so its planes (``earlier``) serve in the next CCCP step too;
    ``scores`` are those of start, where they are known. Of the k (k - 1) balance rows the QP holds those that
    are tight at ``start`` or that one of its solutions broke: with ten clusters 15 to 30, not ninety.
    Cost per round O(k nnz(X)) plus a QP in the number of planes.

    Parameters
    ----------
    problem : MarginProblem
        The documents, the Universum, and the weights of both.
    labels : array of int
        The fixed cluster of each document.
    start : array of float
        Balanced weights.
    rtol : float, default=0.01
        How exact the answer is.
    max_rounds : int, default=200
        The largest number of rounds.
    earlier : Planes, optional
        Planes of the Universum from an earlier step.
    scores : list of array of float, optional
        The scores of both at ``start``.

    Returns
    -------
    CuttingPlaneResult
        The best point, its value, and the bound.
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
        W = self._problem.balanced(w.reshape(self._problem.shape))
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


@dataclass(frozen=True)
class _Line:
    """The objective with the labels fixed, from one point towards another."""

    terms: list[ConvexTerm]
    weights: Floats
    begin: ScoredPoint
    step: ScoredPoint

    @classmethod
    def between(
        cls, terms: list[ConvexTerm], weights: Floats, begin: ScoredPoint, there: ScoredPoint
    ) -> _Line:
        moves = [b - a for a, b in zip(begin.scores, there.scores, strict=True)]
        return cls(terms, weights, begin, ScoredPoint(there.W - begin.W, moves))

    def at(self, share: float) -> tuple[float, float]:
        """The value and the slope at a share of the way."""
        value = 0.5 * self._square + share * (self._along + 0.5 * share * self._length)
        slope = self._along + share * self._length
        for term, weight, scores, moves in zip(
            self.terms, self.weights, self.begin.scores, self.step.scores, strict=True
        ):
            risk, rise = term.along(scores, moves, share)
            value, slope = value + weight * risk, slope + weight * rise
        return value, slope

    def point(self, share: float) -> ScoredPoint:
        """The point at a share of the way."""
        scores = [a + share * b for a, b in zip(self.begin.scores, self.step.scores, strict=True)]
        return ScoredPoint(self.begin.W + share * self.step.W, scores)

    @cached_property
    def _square(self) -> float:
        return float(np.vdot(self.begin.W, self.begin.W))

    @cached_property
    def _along(self) -> float:
        return float(np.vdot(self.begin.W, self.step.W))

    @cached_property
    def _length(self) -> float:
        return float(np.vdot(self.step.W, self.step.W))


def _line_search(
    terms: list[ConvexTerm], weights: Floats, best: Incumbent[ScoredPoint], there: ScoredPoint
) -> Incumbent[ScoredPoint]:
    """A point between the two where the convex value is near its least, by bisection of the slope."""
    line = _Line.between(terms, weights, best.w, there)
    low, high, share = 0.0, 1.0, 1.0
    found, least = 0.0, best.primal
    for _ in range(HALVINGS):
        value, slope = line.at(share)
        if value < least:
            found, least = share, value
        if slope <= 0.0:
            low = share
        else:
            high = share
        if low == 1.0:
            break
        share = 0.5 * (low + high)
    return replace(best, w=line.point(found), primal=least) if found else best
