"""The dual of a working set where w lies in a box."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clustruct._typing import Floats

from .dual_qp import Groups, solve_dual
from .side_conditions import SideConditions


def solve_bounded_dual(
    vectors: Floats, b: Floats, ridge: Floats, groups: Groups, side: SideConditions, start: Floats
) -> Floats:
    """Maximise the dual of ``min 1/2 |w - prior|^2 + slacks`` over ``low <= w <= high``.

    With v = prior + sum_j a_j c_j the inner minimum is w = clip(v), and the dual is concave and once
    differentiable with gradient b - <c_j, w> - ridge a. Semismooth Newton: the curvature at a is the
    Gram matrix over the coordinates that are free there; the QP with it gives a direction of
    ascent, and a search along it by bisection makes sure of the rise. Bounds never enter as rows, so
    150,000 of them cost no more than a few passes over the vectors. Cost O(W^2 N) per Newton step.
    """
    a = start.copy()
    v, last = side.prior + a @ vectors, np.inf
    for _ in range(50):
        w = side.clip(v)
        gradient = b - vectors @ w - ridge @ a
        # Coordinates on the edge count as free: of the slopes that a kink allows, the one that
        # keeps the model bounded. The ridge does so where no coordinate is free.
        free = (v >= side.low) & (v <= side.high)
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
        step = _search(vectors, b, ridge, side, a, v, direction, along)
        a, v = a + step * direction, v + step * along
    return a


def _search(
    vectors: Floats,
    b: Floats,
    ridge: Floats,
    side: SideConditions,
    a: Floats,
    v: Floats,
    direction: Floats,
    along: Floats,
) -> float:
    """The step in (0, 1] where the slope along the direction, which only falls, reaches zero."""
    rhs = float(b @ direction)

    def slope(t: float) -> float:
        w = side.clip(v + t * along)
        return rhs - float(along @ w) - float(direction @ (ridge @ (a + t * direction)))

    if slope(1.0) >= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low if low > 0.0 else high


def nearest_allowed(side: SideConditions, v: Floats) -> Floats:
    """The point nearest to v that meets the side conditions."""
    rows = len(side.least)
    if not rows or np.all(side.rows @ side.clip(v) >= side.least):
        return side.clip(v)
    moved = replace(side, prior=v)
    groups = Groups(np.arange(rows), np.full(rows, np.inf))
    start = np.zeros(rows)
    if side.bounded:
        a = solve_bounded_dual(side.rows, side.least, np.zeros((rows, rows)), groups, moved, start)
    else:
        a = solve_dual(side.rows @ side.rows.T, side.least - side.rows @ v, groups, start)
    return side.clip(v + a @ side.rows)
