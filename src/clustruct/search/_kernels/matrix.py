"""Passes over a dense matrix: checks of scores, and violated inequalities of the clustering programme."""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints

BLOCK = 64


@kernel()
def inspect(K: Floats) -> tuple[float, float, float, Ints]:
    """Return (largest |K_ab|, sum of |K_ab| over a<b, largest asymmetry, places).

    ``places`` = (a, b) of a non-finite entry or (-1, -1), then (a, b) of the largest asymmetry.
    Blocks keep both triangles in cache: 9 million entries take 20 ms, the row-by-row form 100 ms.
    """
    m = K.shape[0]
    places = np.full(4, -1, np.int64)
    largest, total, asymmetry = 0.0, 0.0, 0.0
    for block_a in range(0, m, BLOCK):
        for block_b in range(block_a, m, BLOCK):
            for a in range(block_a, min(block_a + BLOCK, m)):
                for b in range(max(block_b, a + 1), min(block_b + BLOCK, m)):
                    upper, lower = K[a, b], K[b, a]
                    if not (np.isfinite(upper) and np.isfinite(lower)):
                        places[0], places[1] = (b, a) if np.isfinite(upper) else (a, b)
                        return largest, total, asymmetry, places
                    size = abs(upper)
                    total += size
                    largest = max(largest, size)
                    difference = abs(upper - lower)
                    if difference > asymmetry:
                        asymmetry = difference
                        places[2], places[3] = a, b
    return largest, total, asymmetry, places


@kernel()
def first_bad_pair(m: int, index: Ints, values: Floats) -> int:
    """The first pair that does not name two of the items 0..m-1 or has no finite score, or -1."""
    for e in range(values.shape[0]):
        a, b = index[e, 0], index[e, 1]
        if a < 0 or b < 0 or a >= m or b >= m or a == b or not np.isfinite(values[e]):
            return e
    return -1


@kernel()
def mirror(K: Floats) -> Floats:
    """A copy with the upper triangle in both triangles and zeros on the diagonal."""
    m = K.shape[0]
    W = np.empty((m, m))
    for block_a in range(0, m, BLOCK):
        for block_b in range(block_a, m, BLOCK):
            for a in range(block_a, min(block_a + BLOCK, m)):
                for b in range(max(block_b, a + 1), min(block_b + BLOCK, m)):
                    W[a, b] = K[a, b]
                    W[b, a] = K[a, b]
    for a in range(m):
        W[a, a] = 0.0
    return W


@kernel()
def pairs_together_dense(K: Floats, labels: Ints) -> float:
    """Sum of K_ab over unordered pairs with equal labels (upper triangle)."""
    total = 0.0
    for a in range(K.shape[0]):
        mine = labels[a]
        for b in range(a + 1, K.shape[0]):
            if labels[b] == mine:
                total += K[a, b]
    return total


@kernel()
def canonical(labels: Ints) -> Ints:
    """Renumber labels 0, 1, 2, ... by first appearance; the labels lie in 0..m-1."""
    names = np.full(labels.shape[0], -1, np.int64)
    out = np.empty(labels.shape[0], np.int64)
    count = 0
    for i in range(labels.shape[0]):
        old = labels[i]
        if names[old] < 0:
            names[old] = count
            count += 1
        out[i] = names[old]
    return out


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
