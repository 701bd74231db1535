"""Block coordinate ascent on the dual of the structural SVM.

Dual, over planes j in groups g (one group per slack variable)::

    max_a  sum_j a_j b_j - 1/2 |sum_j a_j c_j|^2 - sum_g s_g^2 / (2 kappa_g),   s_g = sum of a_j in g
    a >= 0,  s_g <= cap_g

(L1 slacks: 1/kappa = 0 and a finite cap; L2 slacks: kappa = C v_g and no cap.) Each step moves
weight between the two members of a group whose gradients differ most; the unused part of the cap
is a member too, with gradient 0. Written here because general QP libraries do not scale to the
n-slack form: thousands of planes in as many groups.

A plane is a few *segments*: ``factor`` times a stretch of ``data``, laid over v from ``offset`` on
(at ``indices`` relative to it, where the data is sparse). The psi difference of a multiclass
example is two segments over one row of X, so planes cost no copies of X and run at the speed of
contiguous dot products. ``planes`` is the tuple (first, start, length, offset, factor, data, indices), with
``first[j] : first[j + 1]`` the segments of plane j.
"""

from __future__ import annotations

import numpy as np

from clustruct.core.jit import kernel


# Sums may be reordered so that they run in vector registers; NaN and infinity keep their meaning.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def plane_dot(planes, j, v, low, high):
    """<c_j, clip(v, low, high)>; the bounds are empty arrays where w is free."""
    first, start, length, offset, factor, data, indices = planes
    total = 0.0
    for s in range(first[j], first[j + 1]):
        p, at, size, part = start[s], offset[s], length[s], 0.0
        # Slices, not sums of indices: those might be negative, and the loop would not be vectorised
        # (25 against 130 ns for 64 entries).
        x = data[p : p + size]
        if low.size:
            for q in range(size):
                i = at + (indices[p + q] if indices.size else q)
                part += x[q] * min(max(v[i], low[i]), high[i])
        elif indices.size:
            columns, u = indices[p : p + size], v[at:]
            for q in range(size):
                part += x[q] * u[columns[q]]
        else:
            u = v[at : at + size]
            for q in range(size):
                part += x[q] * u[q]
        total += factor[s] * part
    return total


@kernel(fastmath={"contract"})
def add_plane(planes, j, step, v):
    first, start, length, offset, factor, data, indices = planes
    for s in range(first[j], first[j + 1]):
        p, at, size, scale = start[s], offset[s], length[s], step * factor[s]
        x = data[p : p + size]
        if indices.size:
            columns, u = indices[p : p + size], v[at:]
            for q in range(size):
                u[columns[q]] += scale * x[q]
        else:
            u = v[at : at + size]
            for q in range(size):
                u[q] += scale * x[q]


@kernel()
def clear_plane(planes, j, v):
    first, start, length, offset, _, _, indices = planes
    for s in range(first[j], first[j + 1]):
        p, at = start[s], offset[s]
        for q in range(length[s]):
            v[at + (indices[p + q] if indices.size else q)] = 0.0


@kernel(fastmath={"reassoc", "contract", "nsz"})
def overlap_dot(planes, j, k):
    """<c_j, c_k> of contiguous segments: the products of the stretches that overlap."""
    first, start, length, offset, factor, data, _ = planes
    total = 0.0
    for s in range(first[j], first[j + 1]):
        for t in range(first[k], first[k + 1]):
            begin = max(offset[s], offset[t])
            size = min(offset[s] + length[s], offset[t] + length[t]) - begin
            if size <= 0:
                continue
            p, q = start[s] + begin - offset[s], start[t] + begin - offset[t]
            x, y, part = data[p : p + size], data[q : q + size], 0.0
            for i in range(size):
                part += x[i] * y[i]
            total += factor[s] * factor[t] * part
    return total


@kernel()
def plane_pair_dot(planes, j, k, scratch):
    """<c_j, c_k>; ``scratch`` is all zero before and after."""
    if planes[6].size == 0:
        return overlap_dot(planes, j, k)
    free = scratch[:0]
    add_plane(planes, j, 1.0, scratch)
    total = plane_dot(planes, k, scratch, free, free)
    clear_plane(planes, j, scratch)
    return total


@kernel()
def pool_squares(planes, begin, end, scratch, out):
    for j in range(begin, end):
        out[j] = plane_pair_dot(planes, j, j, scratch)


@kernel()
def pool_combine(planes, a, v):
    """v += sum_j a_j c_j."""
    for j in range(len(a)):
        if a[j] != 0.0:
            add_plane(planes, j, a[j], v)


@kernel()
def step_length(gap, curvature, limit):
    if curvature <= 0.0:
        return limit
    return min(limit, gap / curvature)


@kernel()
def pool_slacks(planes, b, head, following, v, low, high, groups):
    """The slack that the planes held of each group need: max(0, max_j b_j - <c_j, w>)."""
    out = np.zeros(len(groups))
    for q in range(len(groups)):
        j = head[groups[q]]
        while j >= 0:
            out[q] = max(out[q], b[j] - plane_dot(planes, j, v, low, high))
            j = following[j]
    return out


@kernel()
def mark_quiet(j, following, a, scores, least, quiet):
    """Mark the planes of a group, from j on, that have no weight and a gradient below the least that has."""
    while j >= 0:
        quiet[j] = a[j] == 0.0 and scores[j] < least
        j = following[j]


@kernel()
def group_gap(cap, ridge, total, largest, held):
    """A group's part of the duality gap; ``held`` is sum_j a_j gradient_j."""
    if np.isfinite(cap):
        return cap * largest - held
    if ridge > 0.0:
        # Quadratic slack: kappa/2 xi^2 - s xi + s^2 / (2 kappa) at xi = s/kappa + largest gradient.
        return 0.5 * largest * largest / ridge + total * largest - held
    return abs(held)


@kernel()
def pool_ascend(
    planes, b, square, head, following, a, quiet, total, cap, ridge, v, low, high, groups, busy, scratch, full
):
    """One step in each group of a pool of sparse planes; v = prior + sum_j a_j c_j follows along.

    Returns an estimate of the duality gap of the pool's problem: for each group
    cap * max(0, largest gradient) - sum_j a_j gradient_j, seen when the group was visited. With
    bounds on w the curvature |c|^2 is an upper bound, so that each step still ascends.
    ``busy`` marks the groups that hold weight or could gain by it: sweeps between full ones visit
    those only (at C = 1000 on digits one group in five). Of their planes they pass over those that a
    full sweep found ``quiet``: without weight, and with a smaller gradient than any that has some
    (RCV1 with 10 labels at C = 3e4, 25 planes a group: 2.6 s instead of 7.0).
    """
    estimate = 0.0
    scores = np.empty(len(a) if full else 0)
    for g in groups:
        up, down = -1, -1
        up_gradient, down_gradient = 0.0, 0.0
        room = cap[g] - total[g]
        if np.isfinite(cap[g]) and room <= 1e-14 * cap[g]:
            down_gradient = np.inf
        held = 0.0
        j = head[g]
        while j >= 0:
            if not full and quiet[j]:
                j = following[j]
                continue
            gradient = b[j] - plane_dot(planes, j, v, low, high) - ridge[g] * total[g]
            if full:
                scores[j] = gradient
            held += a[j] * gradient
            if gradient > up_gradient:
                up, up_gradient = j, gradient
            if a[j] > 0.0 and gradient < down_gradient:
                down, down_gradient = j, gradient
            j = following[j]
        if full:
            mark_quiet(head[g], following, a, scores, down_gradient, quiet)
        gap = up_gradient - down_gradient
        busy[g] = total[g] > 0.0 or up >= 0
        if not gap > 0.0 or gap == np.inf:
            continue
        estimate += group_gap(cap[g], ridge[g], total[g], up_gradient, held)
        if up >= 0 and down >= 0:
            curvature = square[up] + square[down] - 2.0 * plane_pair_dot(planes, up, down, scratch)
            step = step_length(gap, curvature, a[down])
        elif up >= 0:
            step = step_length(gap, square[up] + ridge[g], room)
        else:
            step = step_length(gap, square[down] + ridge[g], a[down])
        if up >= 0:
            a[up] += step
            total[g] += step
            add_plane(planes, up, step, v)
        if down >= 0:
            a[down] = 0.0 if step >= a[down] else a[down] - step
            total[g] -= step
            add_plane(planes, down, -step, v)
    return estimate


@kernel()
def gram_ascend(H, f, starts, members, cap, a, gradient, sweeps, tolerance):
    """The same ascent on a Gram matrix H (ridge included), in place; returns the last violation.

    Group g holds ``members[starts[g]:starts[g + 1]]``; ``gradient = f - H a`` follows along.
    """
    worst = 0.0
    for _ in range(sweeps):
        worst = 0.0
        for g in range(len(starts) - 1):
            total = 0.0
            for p in range(starts[g], starts[g + 1]):
                total += a[members[p]]
            room = cap[g] - total
            up, down = -1, -1
            up_gradient, down_gradient = 0.0, 0.0
            if np.isfinite(cap[g]) and room <= 1e-14 * cap[g]:
                down_gradient = np.inf
            for p in range(starts[g], starts[g + 1]):
                j = members[p]
                if gradient[j] > up_gradient:
                    up, up_gradient = j, gradient[j]
                if a[j] > 0.0 and gradient[j] < down_gradient:
                    down, down_gradient = j, gradient[j]
            gap = up_gradient - down_gradient
            if not gap > 0.0 or gap == np.inf:
                continue
            worst = max(worst, gap)
            if up >= 0 and down >= 0:
                step = step_length(gap, H[up, up] + H[down, down] - 2.0 * H[up, down], a[down])
            elif up >= 0:
                step = step_length(gap, H[up, up], room)
            else:
                step = step_length(gap, H[down, down], a[down])
            if up >= 0:
                a[up] += step
                for k in range(len(a)):
                    gradient[k] -= step * H[k, up]
            if down >= 0:
                a[down] = 0.0 if step >= a[down] else a[down] - step
                for k in range(len(a)):
                    gradient[k] += step * H[k, down]
        if worst <= tolerance:
            break
    return worst
