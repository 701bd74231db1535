"""Violated triangle inequalities e_ac + e_bc - e_ab <= 1."""
# mypy: allow-untyped-decorators

import numpy as np
from numba import njit

from ._types import Floats, Ints


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
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


@njit(cache=True, nogil=True)
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
