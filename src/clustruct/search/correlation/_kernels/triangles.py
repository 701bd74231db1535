"""Violated inequalities of the clustering programme: triangles e_ac + e_bc - e_ab <= 1, and stars."""

# mypy: allow-untyped-decorators
import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints


@kernel(fastmath={"nnan", "nsz"})
def worst_third(first: Floats, second: Floats, bound: float) -> int:
    """The c of the largest e_ac + e_bc, if that is above the bound; else -1."""
    top = bound
    for c in range(first.shape[0]):
        top = max(top, first[c] + second[c])
    if top <= bound:
        return -1
    for c in range(first.shape[0]):
        if first[c] + second[c] == top:
            return c
    return -1


@kernel()
def violated_triangles(E: Floats, tolerance: float) -> Ints:
    """For each pair (a, b) the most violated triangle over it, as rows (a, b, c). O(m^3).

    One triangle per pair spreads the new rows: all violated ones would be many times more and mostly
    implied by these once the programme is solved again. E has -inf on its diagonal.
    """
    m = E.shape[0]
    found, n = np.empty((m * (m - 1) // 2, 3), np.int64), 0
    for a in range(m):
        for b in range(a + 1, m):
            c = worst_third(E[a], E[b], 1.0 + E[a, b] + tolerance)
            if c >= 0:
                found[n, 0], found[n, 1], found[n, 2] = a, b, c
                n += 1
    return found[:n]


@kernel()
def grow_star(E: Floats, a: int, first: int, members: Ints) -> tuple[int, float]:
    """Items T round a, each adding most to sum e_at - sum e_st; returns (size of T, excess over 1)."""
    m = E.shape[0]
    gain = E[a].copy()  # what c would add: e_ac minus its degrees to T
    members[0] = first
    size, total = 1, gain[first]
    newest = first
    while True:
        gain[newest] = -np.inf
        pick, best = -1, 1e-9
        for c in range(m):
            gain[c] -= max(E[newest, c], 0.0)
            if c != a and gain[c] > best:
                pick, best = c, gain[c]
        if pick < 0:
            return size, total - 1.0
        members[size] = pick
        size += 1
        total += best
        newest = pick


@kernel()
def violated_stars(E: Floats, tolerance: float) -> tuple[Ints, Ints, Ints]:
    """Rows sum_T e_at - sum_{s<t in T} e_st <= 1 that are violated, found greedily from each pair (a, first).

    They hold for every clustering (with k items of T beside a the row counts at most k - k (k - 1) / 2 <= 1)
    and cut off the half-integral solutions that triangles allow. Grötschel and Wakabayashi (1989):
    2-partition inequalities with one item on one side. Returns the a's, where each T starts, and the T's one
    after another. O(m^3 |T|).
    """
    m = E.shape[0]
    centres, starts = np.empty(m * m, np.int64), np.zeros(m * m + 1, np.int64)
    stars, n, used = np.empty(64, np.int64), 0, 0
    members = np.empty(m, np.int64)
    for a in range(m):
        for first in range(m):
            if first == a or not 1e-6 < E[a, first] < 1.0 - 1e-6:
                continue
            size, excess = grow_star(E, a, first, members)
            if size >= 3 and excess > tolerance:
                while used + size > stars.shape[0]:
                    stars = np.concatenate((stars, np.empty_like(stars)))
                stars[used : used + size] = np.sort(members[:size])
                used += size
                centres[n] = a
                n += 1
                starts[n] = used
    return centres[:n], starts[: n + 1], stars[:used]
