"""The conditions on w that have no slack, and the small dual QP of a set of planes: by ascent and piqp, and
by Newton steps where w lies in a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import piqp
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, linprog

from clustruct.core.typing import Floats, Indices

Condition: TypeAlias = "str | Bounds | LinearConstraint"
# Interior points cost W^3: beyond this size ascent from the last solution is faster.
LARGEST_INTERIOR = 600
# Optimality violation, relative to the linear term, with which a solution is taken.
GOOD = 1e-7
# Steps of ascent per plane that are tried before piqp.
WARM_STEPS = 100


@dataclass(frozen=True)
class WeightConstraints:
    """Regularise towards ``prior``; keep ``low <= w <= high`` and ``A @ w >= lower`` exactly.

    ``low`` and ``high`` are empty where w is free.
    """

    prior: Floats
    low: Floats
    high: Floats
    A: Floats
    lower: Floats

    @property
    def bounded_search(self) -> bool:
        """Whether there are bounds."""
        return self.low.size > 0

    def half_norm(self, w: Floats) -> float:
        """1/2 |w - prior|^2."""
        return 0.5 * float(np.sum((w - self.prior) ** 2))

    def clip(self, v: Floats) -> Floats:
        """The point of the box nearest to v: exactly within the bounds."""
        return np.clip(v, self.low, self.high) if self.bounded_search else v


def weight_constraints(
    constraints: Condition | Sequence[Condition] | None, prior: ArrayLike | None, n_features: int
) -> WeightConstraints:
    """Read the ``constraints`` argument of `fit`, and refuse what no w can meet.

    It may be "nonnegative", a `scipy.optimize.Bounds`, a `scipy.optimize.LinearConstraint`, or a list
    of these.

    Parameters
    ----------
    constraints : Condition, sequence of Condition or None
        What w has to meet.
    prior : array-like or None
        Where the regulariser has its centre; zero by default.
    n_features : int
        The length of w.

    Returns
    -------
    WeightConstraints
        The conditions in one form.

    Examples
    --------
    >>> weight_constraints("nonnegative", None, 2).clip(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    rows = [(np.empty((0, n_features)), np.empty(0))]
    listed = constraints if isinstance(constraints, list | tuple) else [constraints]
    for given in listed if constraints is not None else ():
        if isinstance(given, str) and given == "nonnegative":
            low = np.maximum(low, 0.0)
        elif isinstance(given, Bounds):
            low = np.maximum(low, _vector(given.lb, n_features, "Bounds.lb"))
            high = np.minimum(high, _vector(given.ub, n_features, "Bounds.ub"))
        elif isinstance(given, LinearConstraint):
            rows.extend(_lower_bounds(given, n_features))
        else:
            raise TypeError(
                "constraints must be 'nonnegative', scipy.optimize.Bounds, "
                f"scipy.optimize.LinearConstraint or a list of these, not {given!r}"
            )
    if np.isinf(low).all() and np.isinf(high).all():
        low, high = np.empty(0), np.empty(0)
    towards = _vector(0.0 if prior is None else prior, n_features, "prior")
    A, lower = map(np.concatenate, zip(*rows, strict=True))
    found = WeightConstraints(towards, low, high, A, lower)
    _check_feasible(found)
    return found


def _vector(value: ArrayLike, n: int, name: str) -> Floats:
    v = np.array(np.broadcast_to(np.asarray(value, float), (n,)))
    if np.isnan(v).any():
        raise ValueError(f"{name} has NaN entries")
    return v


def _lower_bounds(given: LinearConstraint, n_features: int) -> Iterable[tuple[Floats, Floats]]:
    A = given.A.toarray() if hasattr(given.A, "toarray") else np.atleast_2d(np.asarray(given.A, float))
    if A.shape[1] != n_features:
        raise ValueError(f"LinearConstraint has {A.shape[1]} columns, the problem has {n_features} features")
    if not np.isfinite(A).all():
        raise ValueError("LinearConstraint.A has NaN or infinite entries")
    lb, ub = (_vector(side, len(A), "LinearConstraint") for side in (given.lb, given.ub))
    yield A[lb > -np.inf], lb[lb > -np.inf]
    yield -A[ub < np.inf], -ub[ub < np.inf]


def _check_feasible(conditions: WeightConstraints) -> None:
    low, high = conditions.low, conditions.high
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise ValueError(f"feature {i}: the lower bound {low[i]} is above the upper {high[i]}")
    if not len(conditions.lower):
        return
    n = len(conditions.prior)
    bounds = np.stack([low, high], 1) if conditions.bounded_search else (None, None)
    # Slightly tightened would be wrong, so this is the exact set; HiGHS decides to 1e-7.
    answer = linprog(np.zeros(n), A_ub=-conditions.A, b_ub=-conditions.lower, bounds=bounds, method="highs")
    if answer.status == 2:
        raise ValueError("no w meets the linear constraints given")


@dataclass(frozen=True)
class Groups:
    """Which slack variable each dual variable belongs to, and how much each group may hold.

    ``cap[g]`` is infinite for quadratic slacks and for extra constraints without slack.
    """

    of: Indices
    cap: Floats


def solve_dual(H: Floats, f: Floats, groups: Groups, start: Floats) -> Floats:
    """Maximise ``f'a - 1/2 a'Ha`` over ``a >= 0`` with ``sum of a in g <= cap[g]``.

    H is positive semidefinite, most often singular. The answer is feasible to the last digit, so
    that its value is a true lower bound whatever the solver's tolerance, and not worse than ``start``.
    Cost O(W^3) for W variables up to 600, then warm-started sweeps of O(W^2).
    """
    if len(f) == 0:
        return np.zeros(0)
    best = feasible(start, groups)
    if len(f) > LARGEST_INTERIOR:
        return _ascend(H, f, groups, best, 2000)[0]
    enough = GOOD * float(np.max(np.abs(f)))
    # Warm ascent is mostly enough: it solves all QPs of a one-slack run on digits (C = 10 and 1000, up to
    # 120 planes) in 40% of the time that piqp takes with the same polish.
    best, violation = _ascend(H, f, groups, best, max(10, WARM_STEPS * len(f) // len(groups.cap)))
    if violation <= enough:
        return best
    # The second way costs an eigendecomposition, and gets through where planes of large norm all
    # but cancel (C |c|^2 of 1e10 and more), which the first may take for infeasible.
    for interior in (_interior, _interior_primal):
        inside = feasible(interior(H, f, groups), groups)
        if _value(H, f, inside) > _value(H, f, best):
            best = inside
        best, violation = _ascend(H, f, groups, best, 20)
        if violation <= enough:
            return best
    return _ascend(H, f, groups, best, 2000)[0]


def feasible(a: Floats, groups: Groups) -> Floats:
    """Clip at zero and shrink the groups that hold more than their cap."""
    a = np.maximum(np.nan_to_num(a), 0.0)
    held = np.bincount(groups.of, weights=a, minlength=len(groups.cap))
    shrink = np.ones(len(groups.cap))
    over = held > groups.cap
    shrink[over] = groups.cap[over] / held[over]
    return a * shrink[groups.of]


def _value(H: Floats, f: Floats, a: Floats) -> float:
    return float(f @ a - 0.5 * a @ (H @ a))


def _interior(H: Floats, f: Floats, groups: Groups) -> Floats:
    """piqp on the dual as it stands, in units where each variable alone would end near 1."""
    diagonal = np.diag(H)
    floor = max(1e-12 * float(diagonal.max()), 1e-100)
    alone = np.maximum(np.abs(f), 1e-12) / np.maximum(diagonal, floor)
    unit = np.minimum(alone, groups.cap[groups.of])
    scale = max(float(np.max(np.abs(f) * unit)), 1e-300)
    capped = np.isfinite(groups.cap)
    row_of = np.cumsum(capped) - 1
    inside = np.flatnonzero(capped[groups.of])
    G = np.zeros((int(capped.sum()), len(f)))
    G[row_of[groups.of[inside]], inside] = unit[inside] / groups.cap[groups.of[inside]]
    G = np.asfortranarray(G[G.any(axis=1)])
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.max_iter = 100
    rows = {"G": G, "h_l": np.full(len(G), -np.inf), "h_u": np.ones(len(G))}
    box = {"x_l": np.zeros(len(f)), "x_u": np.full(len(f), np.inf)}
    solver.setup(np.asfortranarray(H * np.outer(unit, unit) / scale), -f * unit / scale, **rows, **box)
    solver.solve()
    return np.array(solver.result.x) * unit


def _interior_primal(H: Floats, f: Floats, groups: Groups) -> Floats:
    """piqp on ``min 1/2 |u|^2 + sum_g cap_g xi_g, L u >= f - xi`` with H = L L'; its multipliers are a."""
    values, basis = np.linalg.eigh(H)
    stays = values > 1e-15 * max(float(values[-1]), 1e-300)
    L = basis[:, stays] * np.sqrt(values[stays])
    used = np.unique(groups.of[np.isfinite(groups.cap[groups.of])])
    xi = (groups.of[:, None] == used[None, :]).astype(float)
    rank, size = L.shape[1], max(float(np.max(np.abs(f))), 1e-300)
    # u in units in which planes are met, the objective in units of its slack part.
    unit = size / max(float(np.abs(L).max(initial=0.0)), 1e-300)
    scale = max(float(np.max(groups.cap[used], initial=0.0)) * size, unit**2)
    P = np.diag(np.concatenate([np.full(rank, unit**2 / scale), np.zeros(len(used))]))
    c = np.concatenate([np.zeros(rank), groups.cap[used] * size / scale])
    solver = piqp.DenseSolver()
    solver.settings.max_iter = 200
    G = np.asfortranarray(np.hstack([L * unit / size, xi]))
    rows = {"G": G, "h_l": f / size, "h_u": np.full(len(f), np.inf)}
    least = np.concatenate([np.full(rank, -np.inf), np.zeros(len(used))])
    solver.setup(np.asfortranarray(P), c, **rows, x_l=least, x_u=np.full(len(c), np.inf))
    solver.solve()
    return np.array(solver.result.z_l) * scale / size


def _ascend(H: Floats, f: Floats, groups: Groups, a: Floats, sweeps: int) -> tuple[Floats, float]:
    """Polish (small) or solve (large) by block coordinate ascent; the value never falls."""
    from ._kernels import gram_ascend

    order = np.argsort(groups.of, kind="stable")
    counts = np.bincount(groups.of, minlength=len(groups.cap))
    starts = np.concatenate([[0], np.cumsum(counts)])
    a = a.copy()
    tolerance = 1e-10 * float(np.max(np.abs(f)))
    violation = gram_ascend(H, f, starts, order, groups.cap, a, f - H @ a, sweeps, tolerance)
    return feasible(a, groups), float(violation)


def solve_bounded_dual(
    vectors: Floats, b: Floats, ridge: Floats, groups: Groups, conditions: WeightConstraints, start: Floats
) -> Floats:
    """Maximise the dual of ``min 1/2 |w - prior|^2 + slacks`` over ``low <= w <= high``.

    With v = prior + sum_j a_j c_j the inner minimum is w = clip(v), and the dual is concave and once
    differentiable with gradient b - <c_j, w> - ridge a. Semismooth Newton: the curvature at a is the
    Gram matrix over the coordinates that are free there; the QP with it gives a direction of
    ascent, and a search along it by bisection makes sure of the rise. Bounds never enter as rows, so
    150,000 of them cost no more than a few passes over the vectors. Cost O(W^2 N) per Newton step.
    """
    a = start.copy()
    v, last = conditions.prior + a @ vectors, np.inf
    for _ in range(50):
        w = conditions.clip(v)
        gradient = b - vectors @ w - ridge @ a
        # Coordinates on the edge count as free: of the slopes that a kink allows, the one that
        # keeps the model bounded. The ridge does so where no coordinate is free.
        free = (v >= conditions.low) & (v <= conditions.high)
        inside = vectors[:, free]
        H = inside @ inside.T + ridge
        H += 1e-10 * np.diag(np.sum(vectors**2, axis=1))
        target = solve_dual(H, gradient + H @ a, groups, a)
        direction = target - a
        rise = float(gradient @ direction)
        # The rise is quadratic in the error left; below 1e-14 it goes on only while it still shrinks.
        scale = max(1.0, abs(float(b @ a)))
        if rise <= 1e-24 * scale or (rise <= 1e-14 * scale and rise > 0.1 * last):
            break
        last = rise
        along = direction @ vectors
        step = _search(b, ridge, conditions, a, v, direction, along)
        a, v = a + step * direction, v + step * along
    return a


def _search(
    b: Floats, ridge: Floats, conditions: WeightConstraints, a: Floats, v: Floats, d: Floats, u: Floats
) -> float:
    """The step t in (0, 1] where the slope of the dual along d, which only falls, is 0; v moves by t u."""

    def slope(t: float) -> float:
        return float(b @ d) - float(u @ conditions.clip(v + t * u)) - float(d @ (ridge @ (a + t * d)))

    if slope(1.0) >= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low if low > 0.0 else high


def project(conditions: WeightConstraints, v: Floats) -> Floats:
    """The point nearest to v that meets the conditions."""
    rows = len(conditions.lower)
    if not rows or np.all(conditions.A @ conditions.clip(v) >= conditions.lower):
        return conditions.clip(v)
    moved = replace(conditions, prior=v)
    groups = Groups(np.arange(rows), np.full(rows, np.inf))
    start = np.zeros(rows)
    if conditions.bounded_search:
        a = solve_bounded_dual(conditions.A, conditions.lower, np.zeros((rows, rows)), groups, moved, start)
    else:
        a = solve_dual(conditions.A @ conditions.A.T, conditions.lower - conditions.A @ v, groups, start)
    return conditions.clip(v + a @ conditions.A)
