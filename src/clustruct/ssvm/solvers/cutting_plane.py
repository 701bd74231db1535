"""Cutting planes for any convex risk: one-slack training and maximum-margin clustering are made of it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core.callbacks import Iteration
from clustruct.core.typing import Floats
from clustruct.ssvm.dual_qp import WeightConstraints
from clustruct.ssvm.planes import GramPlanes, LinearPlanes
from clustruct.ssvm.result import Planes

from .base import Incumbent, P, Progress

# How far from the best point towards the QP's solution the next planes are made. One-slack training on digits
# at C = 1000, passes to a gap of 1%: 240 at 1.0 (plain cutting planes), 137 at 0.5, 111 at 0.25 and at 0.1.
PROX_STEP = 0.25
# Solves without weight before a plane is forgotten.
IDLE_SOLVES = 50
RiskFunction: TypeAlias = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Cut(Generic[P]):
    """Planes that touch the risk at one point: ``R_g(w) >= b[g] - <w, vectors[g]>`` for all w.

    One plane per group; none where there is nothing to add. ``found`` is the point with its value, where the
    value is known.
    """

    vectors: Sequence[Any]
    b: Sequence[float]
    found: Incumbent[P] | None = None


class Risk(ABC, Generic[P]):
    """A convex risk, known by its planes, and where it is asked next.

    A point is a weight vector, or an object of the risk's own that holds one with what was computed there;
    then `point` and `step` are the risk's own as well.
    """

    def point(self, w: Any) -> P:
        """The point at the weights w."""
        return w

    @abstractmethod
    def cut(self, point: P, planes: GramPlanes[Any]) -> Cut[P]:
        """Planes of the risk at a point."""

    def raise_to_planes(self, best: Incumbent[P], planes: GramPlanes[Any]) -> Incumbent[P]:
        """The best point with at least the value that the planes held give it, for a risk that may have
        found less of it before than it knows now.
        """
        return best

    def confirm(self, best: Incumbent[P], planes: GramPlanes[Any]) -> Cut[P]:
        """Planes at a best point whose value is not sure, made with all care, and its sure value."""
        return Cut([], [], replace(best, sure=True))

    def refine(self, best: Incumbent[P], planes: GramPlanes[Any], progress: Progress) -> None:
        """Add planes that are known without asking at another point."""

    def step(self, best: Incumbent[P], planes: GramPlanes[Any], useful: bool) -> tuple[Incumbent[P], P]:
        """The best point, where the way to the QP's solution has a better one, and the point to ask next.

        ``useful`` says whether the last planes cut off the QP's solution of then. The next point lies between
        the best and the QP's solution, as in OCAS (Franc and Sonnenburg 2008) without its line search. Where
        such a cut does not cut off the QP's solution, it is that solution itself, so the bound of Theorem 7
        holds up to a factor of two.
        """
        return best, planes.between(best.w, planes.w, PROX_STEP if useful else 1.0)


def minimise(
    risk: Risk[P],
    planes: GramPlanes[Any],
    best: Incumbent[P],
    progress: Progress,
    prune_after: int = IDLE_SOLVES,
) -> Incumbent[P]:
    """The loop: planes at a point, the QP, the next point. Ctrl-C ends it with the best point so far."""
    point = best.w
    try:
        while not progress.stop_reason:
            cut = risk.cut(point, planes)
            if cut.found is not None:
                best = best.better_of(cut.found, planes.dual)
            useful = add_cut(cut, planes, progress)
            risk.refine(best, planes, progress)
            planes.prune(prune_after)
            if best.below_dual(planes.dual):
                best, useful = risk.raise_to_planes(best, planes), False
            if best.below_dual(planes.dual):
                best = Incumbent(risk.point(planes.w))
            best = _judge(risk, best, planes, progress)
            if not progress.stop_reason:
                best, point = risk.step(best, planes, useful)
                best = _judge(risk, best, planes, progress)
            progress.record(best, planes)
    except KeyboardInterrupt:
        progress.stop_reason = "interrupted"
    return best


def _judge(risk: Risk[P], best: Incumbent[P], planes: GramPlanes[Any], progress: Progress) -> Incumbent[P]:
    """Judge by the value of the best point; before it is called converged, every plane held counts in it, and
    it is made sure of.
    """
    if progress.is_close(best.primal, planes.dual):
        best = risk.raise_to_planes(best, planes)
        if not best.sure and progress.is_close(best.primal, planes.dual):
            best = confirm(risk, best, planes, progress)
        progress.judge(best.primal, planes.dual)
    return best


def confirm(risk: Risk[P], best: Incumbent[P], planes: GramPlanes[Any], progress: Progress) -> Incumbent[P]:
    """The best point with a value that is sure; the planes found on the way are added."""
    cut = risk.confirm(best, planes)
    add_cut(cut, planes, progress)
    assert cut.found is not None
    return cut.found


def add_cut(cut: Cut[Any], planes: GramPlanes[Any], progress: Progress) -> bool:
    """Add a plane per group and solve. False where none says anything new at the QP's solution."""
    if not cut.vectors:
        return False
    started = time.perf_counter()
    before = planes.slacks(np.arange(len(cut.vectors)))
    useful = False
    for group, (vector, right) in enumerate(zip(cut.vectors, cut.b, strict=True)):
        planes.add_plane(vector, right, group)
        useful |= bool(planes.excess(-1) - before[group] > progress.epsilon)
    planes.solve()
    progress.count_solve(started)
    return useful


@dataclass(frozen=True)
class CuttingPlaneResult(Generic[P]):
    """The outcome of `cutting_plane`: ``dual <= optimum <= objective``, the value at the point.

    The point is the weight vector, unless the risk has points of its own. ``stop_reason`` as in `FitResult`.
    """

    point: P
    objective: float
    dual: float
    stop_reason: str
    history: tuple[Iteration, ...] = field(repr=False)
    planes: Planes = field(repr=False)
    n_planes: int = 0

    @property
    def converged(self) -> bool:
        """Whether the gap asked for was reached."""
        return self.stop_reason == "converged"


def cutting_plane(
    risk: RiskFunction | Risk[Any],
    conditions: WeightConstraints,
    C: ArrayLike = 1.0,
    *,
    start: Incumbent[Any] | ArrayLike | None = None,
    planes: Planes | None = None,
    rtol: float = 1e-3,
    epsilon: float = 0.0,
    max_iter: int = 1000,
    time_limit: float = np.inf,
    prune_after: int = IDLE_SOLVES,
    callback: Callable[[Iteration], object] | None = None,
) -> CuttingPlaneResult[Any]:
    """Minimise a convex risk with a quadratic regulariser by cutting planes (Algorithm 2; OCAS)::

        min over w   1/2 |w - prior|^2 + sum_g C_g R_g(w)     within the conditions

    Cost per round: one evaluation of the risk, and a QP in the number of planes held.

    Parameters
    ----------
    risk : function or Risk
        ``risk(w)`` gives the value R(w) and a subgradient. A `Risk` has planes in several groups, or
        chooses itself where it is asked next.
    conditions : WeightConstraints
        The prior, and with it the length of w; bounds and linear inequalities. See `weight_constraints`.
    C : float
        Or one per group of planes.
    start : vector, optional
        Where the risk is asked first; the prior if None. A `Risk` may be given an `Incumbent` at a point.
    planes : Planes, optional
        Planes known from an earlier run.
    rtol, epsilon : float
        It ends when ``objective - dual`` is at most rtol times the objective, or C epsilon.
    max_iter, time_limit, callback
        As in `fit`.
    prune_after : int
        Solves without weight before a plane is forgotten.

    Returns
    -------
    CuttingPlaneResult
        The best point, its value, and the bound.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct.ssvm import cutting_plane, weight_constraints
    >>> target = np.array([3.0, -1.0])
    >>> found = cutting_plane(
    ...     lambda w: (np.abs(w - target).sum(), np.sign(w - target)),
    ...     weight_constraints(None, None, 2),
    ...     C=0.5,
    ... )
    >>> found.point, found.converged
    (array([ 0.5, -0.5]), True)
    """
    weights = np.atleast_1d(np.asarray(C, float))
    held = LinearPlanes(conditions, weights)
    if planes is not None and len(planes):
        held.load(planes)
    own = risk if isinstance(risk, Risk) else _FunctionRisk(risk, float(weights[0]))
    if not isinstance(start, Incumbent):
        start = Incumbent(own.point(held.w if start is None else conditions.clip(np.array(start, float))))
    progress = Progress(float(weights.sum()), epsilon, rtol, max_iter, time_limit, callback)
    best = minimise(own, held, start, progress, prune_after)
    history, n_planes = tuple(progress.history), len(held)
    values = (best.w, best.primal, held.dual, progress.stop_reason)
    return CuttingPlaneResult(*values, history, held.dump(), n_planes)


def solve_planes(
    vectors: Floats, b: Floats, conditions: WeightConstraints, C: float, a: Floats | None = None
) -> GramPlanes[Floats]:
    """``min 1/2 |w - prior|^2 + C xi`` with ``<w, vectors[j]> >= b[j] - xi``, xi >= 0 and the conditions.

    The QP inside `cutting_plane` for planes that are all known: ``w``, ``dual`` and the multipliers ``a``,
    those of the conditions' rows included; they serve as a start for another set of as many planes.

    >>> from clustruct.ssvm import solve_planes, weight_constraints
    >>> solve_planes(np.array([[1.0, 1.0]]), np.array([1.0]), weight_constraints(None, None, 2), C=10.0).w
    array([0.5, 0.5])
    """
    held = LinearPlanes(conditions, np.array([C]))
    held.add(vectors, b, np.zeros(len(b), np.intp))
    if a is not None and len(a) == len(held):
        held.a = a
    held.solve()
    return held


@dataclass(frozen=True)
class _FunctionRisk(Risk[Floats]):
    function: RiskFunction
    C: float

    def cut(self, point: Floats, planes: GramPlanes[Floats]) -> Cut[Floats]:
        value, gradient = self.function(point)
        found = Incumbent(point, planes.half_norm(point) + self.C * float(value), float(value))
        gradient = np.asarray(gradient, float)
        return Cut([-gradient], [float(value) - float(gradient @ point)], found)
