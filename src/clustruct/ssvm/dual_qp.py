"""The small dual QP of a set of planes: by ascent and piqp, and by Newton steps where w lies in a box."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import piqp
from numpy.typing import NDArray

from clustruct._typing import Floats

from .weight_constraints import WeightConstraints

# Interior points cost W^3: beyond this size ascent from the last solution is faster.
LARGEST_INTERIOR = 600
# Optimality violation, relative to the linear term, with which a solution is taken.
GOOD = 1e-7
# Steps of ascent per plane that are tried before piqp.
WARM_STEPS = 100


@dataclass(frozen=True)
class Groups:
    """Which slack variable each dual variable belongs to, and how much each group may hold.

    ``cap[g]`` is infinite for quadratic slacks and for extra constraints without slack.
    """

    of: NDArray[np.intp]
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
    solver.setup(
        np.asfortranarray(H * np.outer(unit, unit) / scale),
        -f * unit / scale,
        G=G,
        h_l=np.full(len(G), -np.inf),
        h_u=np.ones(len(G)),
        x_l=np.zeros(len(f)),
        x_u=np.full(len(f), np.inf),
    )
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
    solver.setup(
        np.asfortranarray(P),
        c,
        G=np.asfortranarray(np.hstack([L * unit / size, xi])),
        h_l=f / size,
        h_u=np.full(len(f), np.inf),
        x_l=np.concatenate([np.full(rank, -np.inf), np.zeros(len(used))]),
        x_u=np.full(rank + len(used), np.inf),
    )
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
    b: Floats,
    ridge: Floats,
    conditions: WeightConstraints,
    a: Floats,
    v: Floats,
    direction: Floats,
    along: Floats,
) -> float:
    """The step in (0, 1] where the slope along the direction, which only falls, reaches zero."""
    rhs = float(b @ direction)

    def slope(t: float) -> float:
        w = conditions.clip(v + t * along)
        return rhs - float(along @ w) - float(direction @ (ridge @ (a + t * direction)))

    if slope(1.0) >= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low if low > 0.0 else high


def nearest_allowed(conditions: WeightConstraints, v: Floats) -> Floats:
    """The point nearest to v that meets the conditions."""
    rows = len(conditions.lower)
    if not rows or np.all(conditions.A @ conditions.clip(v) >= conditions.lower):
        return conditions.clip(v)
    moved = replace(conditions, prior=v)
    groups = Groups(np.arange(rows), np.full(rows, np.inf))
    start = np.zeros(rows)
    if conditions.bounded:
        a = solve_bounded_dual(conditions.A, conditions.lower, np.zeros((rows, rows)), groups, moved, start)
    else:
        a = solve_dual(conditions.A @ conditions.A.T, conditions.lower - conditions.A @ v, groups, start)
    return conditions.clip(v + a @ conditions.A)
