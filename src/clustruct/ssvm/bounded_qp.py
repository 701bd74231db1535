"""The dual of a working set where w lies in a box."""

from __future__ import annotations

from .constraints import Vector
from .dual_qp import Groups, solve_dual
from .side_conditions import SideConditions


def solve_bounded_dual(
    vectors: Vector, b: Vector, ridge: Vector, groups: Groups, side: SideConditions, start: Vector
) -> Vector:
    """Maximise the dual of ``min 1/2 |w - prior|^2 + slacks`` over ``low <= w <= high``.

    With v = prior + sum_j a_j c_j the inner minimum is w = clip(v), and the dual is concave and once
    differentiable with gradient b - <c_j, w> - ridge a. Semismooth Newton: the curvature at a is the
    Gram matrix over the coordinates that are free there; the QP with it gives a direction of
    ascent, and a search along it by bisection makes sure of the rise. Bounds never enter as rows, so
    150,000 of them cost no more than a few passes over the vectors. Cost O(W^2 N) per Newton step.
    """
    a = start.copy()
    v = side.prior + a @ vectors
    for _ in range(50):
        w = side.clip(v)
        gradient = b - vectors @ w - ridge @ a
        free = (v > side.low) & (v < side.high)
        inside = vectors[:, free]
        H = inside @ inside.T + ridge
        target = solve_dual(H, gradient + H @ a, groups, a)
        direction = target - a
        rise = float(gradient @ direction)
        if rise <= 1e-12 * max(1.0, abs(float(b @ a))):
            break
        along = direction @ vectors
        step = _search(vectors, b, ridge, side, a, v, direction, along)
        a, v = a + step * direction, v + step * along
    return a


def _search(
    vectors: Vector,
    b: Vector,
    ridge: Vector,
    side: SideConditions,
    a: Vector,
    v: Vector,
    direction: Vector,
    along: Vector,
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
