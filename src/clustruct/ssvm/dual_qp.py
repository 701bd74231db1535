"""The small dual QP of a working set, by piqp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .constraints import Vector

# Interior points cost W^3: beyond this size ascent from the last solution is faster.
LARGEST_INTERIOR = 600


@dataclass(frozen=True)
class Groups:
    """Which slack variable each dual variable belongs to, and how much each group may hold.

    ``cap[g]`` is infinite for quadratic slacks and for extra constraints without slack.
    """

    of: NDArray[np.intp]
    cap: Vector


def solve_dual(H: Vector, f: Vector, groups: Groups, start: Vector) -> Vector:
    """Maximise ``f'a - 1/2 a'Ha`` over ``a >= 0`` with ``sum of a in g <= cap[g]``.

    H is positive semidefinite, most often singular. The answer is feasible to the last digit, so
    that its value is a true lower bound whatever the solver's tolerance, and not worse than ``start``.
    Cost O(W^3) for W variables up to 600, then warm-started sweeps of O(W^2).
    """
    if len(f) == 0:
        return np.zeros(0)
    start = feasible(start, groups)
    best = start
    if len(f) <= LARGEST_INTERIOR:
        inside = feasible(_interior(H, f, groups), groups)
        if _value(H, f, inside) > _value(H, f, start):
            best = inside
    return _ascend(H, f, groups, best)


def feasible(a: Vector, groups: Groups) -> Vector:
    """Clip at zero and shrink the groups that hold more than their cap."""
    a = np.maximum(np.nan_to_num(a), 0.0)
    held = np.bincount(groups.of, weights=a, minlength=len(groups.cap))
    shrink = np.ones(len(groups.cap))
    over = held > groups.cap
    shrink[over] = groups.cap[over] / held[over]
    return a * shrink[groups.of]


def _value(H: Vector, f: Vector, a: Vector) -> float:
    return float(f @ a - 0.5 * a @ (H @ a))


def _interior(H: Vector, f: Vector, groups: Groups) -> Vector:
    import piqp

    # In units where each variable alone would end near 1; C then never meets piqp's absolute
    # tolerances, whether it is 1e-3 or 1e8.
    diagonal = np.maximum(np.diag(H), 1e-300)
    unit = np.minimum(groups.cap[groups.of], np.maximum(np.abs(f), 1e-12) / diagonal)
    unit[~np.isfinite(unit)] = 1.0
    scale = max(float(np.max(np.abs(f) * unit)), 1e-300)
    P = np.asfortranarray(H * np.outer(unit, unit) / scale)
    capped = np.isfinite(groups.cap)
    row_of = np.cumsum(capped) - 1
    inside = np.flatnonzero(capped[groups.of])
    G = np.zeros((int(capped.sum()), len(f)), order="F")
    G[row_of[groups.of[inside]], inside] = unit[inside] / groups.cap[groups.of[inside]]
    keep = G.any(axis=1)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.max_iter = 100
    with np.errstate(all="ignore"):
        solver.setup(
            P,
            -f * unit / scale,
            G=np.asfortranarray(G[keep]),
            h_l=np.full(int(keep.sum()), -np.inf),
            h_u=np.ones(int(keep.sum())),
            x_l=np.zeros(len(f)),
            x_u=np.full(len(f), np.inf),
        )
        solver.solve()
    return np.array(solver.result.x) * unit


def _ascend(H: Vector, f: Vector, groups: Groups, a: Vector) -> Vector:
    """Polish (small) or solve (large) by block coordinate ascent; the value never falls."""
    from ._kernels import gram_ascend

    order = np.argsort(groups.of, kind="stable")
    counts = np.bincount(groups.of, minlength=len(groups.cap))
    starts = np.concatenate([[0], np.cumsum(counts)])
    a = a.copy()
    tolerance = 1e-10 * max(1.0, float(np.max(np.abs(f))))
    sweeps = 20 if len(f) <= LARGEST_INTERIOR else 2000
    gram_ascend(H, f, starts, order, groups.cap, a, f - H @ a, sweeps, tolerance)
    return feasible(a, groups)
