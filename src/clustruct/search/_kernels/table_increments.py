"""Compiled: losses of the table of clusters by true clusters, and what steps of a search do to them.

`Form` is (kind, cell, divisor, true sizes, constant) of a `TableForm`, and which pairs of items are listed (0
or 1; no array: all are): clusters without a listed pair between them are not merged, and no item goes to a
cluster that it has no listed pair with. Kinds 0 to 2 (B-cubed, LEA, information) add up over clusters: of a
`Contingency` (sizes, counts, parts) the parts are A, B and o of each cluster, and a step changes the totals
P and R by what it does to two clusters.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints
from clustruct.losses._kernels import violation

Rule = tuple[bool, bool]
Form = tuple[int, Floats, Floats, Floats, float, Floats]
Contingency = tuple[Ints, Ints, Floats]
# From this kind on clusters are matched one to one.
MATCHED = 3


@kernel()
def delta_of(P: float, R: float, k: int, kind: int, m: float, n_true: int, constant: float) -> float:
    """Delta of the totals. Numbers alone: arrays as arguments cost more than the work here."""
    if kind == 2:
        return max(100.0 * (constant + R - 2.0 * P) / (m * np.log(max(m, 2.0))), 0.0)
    if kind == 3:
        return max(100.0 * (1.0 - P / m), 0.0)
    if kind == 4:
        return max(100.0 * (1.0 - 2.0 * P / (k + n_true)), 0.0)
    if P + R <= 0.0:
        return 100.0
    return max(100.0 * (1.0 - 2.0 * P * R / (m * (P + R))), 0.0)


@kernel()
def delta(P: float, R: float, k: int, form: Form) -> float:
    """Delta of the totals."""
    return float(delta_of(P, R, k, form[0], float(form[1].size - 1), form[3].size, form[4]))


@kernel()
def value(P: float, R: float, k: int, gain: float, form: Form, rule: Rule) -> float:
    return violation(delta(P, R, k, form), gain, rule[0], rule[1])


@kernel()
def part(kind: int, s: float, A: float, B: float, alone: float) -> tuple[float, float]:
    """p and r of one cluster."""
    if s == 0.0:
        return 0.0, 0.0
    if kind == 0:
        return A / s, B
    if kind == 1:
        return (alone, B + alone) if s == 1.0 else (A / (s - 1.0), B)
    return A, s * np.log(s)


@kernel()
def weight(n: int, s: int, t: int, form: Form) -> float:
    """What a cluster of s items, n of them of the true cluster t, is worth as its mate."""
    return float(n) if form[0] == 3 else 2.0 * n / (s + form[3][t])


@kernel()
def put(c: int, t: int, step: int, counts: Ints, parts: Floats, form: Form) -> None:
    """An item of true cluster t comes to cluster c (step 1) or goes (-1)."""
    change = form[1][counts[c, t] + step] - form[1][counts[c, t]]
    counts[c, t] += step
    parts[c, 0] += change
    parts[c, 1] += change / form[2][t]
    parts[c, 2] += step * (form[3][t] == 1.0)


@kernel()
def count(truth: Ints, labels: Ints, n_slots: int, form: Form) -> Contingency:
    """Sizes, counts and sums of the clusters."""
    counts = np.zeros((n_slots, form[3].size), dtype=np.int64)
    parts = np.zeros((n_slots, 3))
    for a in range(truth.size):
        c, t = labels[a], truth[a]
        put(c, t, 1, counts, parts, form)
    return np.bincount(labels, minlength=n_slots), counts, parts


@kernel()
def totals(sizes: Ints, parts: Floats, form: Form) -> tuple[float, float]:
    """P and R of an additive loss."""
    P = R = 0.0
    for c in range(sizes.size):
        p, r = part(form[0], sizes[c], parts[c, 0], parts[c, 1], parts[c, 2])
        P, R = P + p, R + r
    return P, R


@kernel()
def crossing(c: int, d: int, counts: Ints, form: Form) -> tuple[float, float]:
    """What A and B of a union are above the sums of its two clusters."""
    A = B = 0.0
    for t in range(counts.shape[1]):
        n, o = counts[c, t], counts[d, t]
        if n > 0 and o > 0:
            more = form[1][n + o] - form[1][n] - form[1][o]
            A, B = A + more, B + more / form[2][t]
    return A, B


@kernel()
def merge_change(c: int, d: int, sizes: Ints, counts: Ints, parts: Floats, form: Form) -> tuple[float, float]:
    """What P and R change by when c and d merge."""
    kind = form[0]
    A, B = crossing(c, d, counts, form)
    A += parts[c, 0] + parts[d, 0]
    B += parts[c, 1] + parts[d, 1]
    one = part(kind, sizes[c], parts[c, 0], parts[c, 1], parts[c, 2])
    two = part(kind, sizes[d], parts[d, 0], parts[d, 1], parts[d, 2])
    both = part(kind, sizes[c] + sizes[d], A, B, parts[c, 2] + parts[d, 2])
    return both[0] - one[0] - two[0], both[1] - one[1] - two[1]
