"""Compiled: CEAF losses, for which clusters are matched one to one with true clusters.

P is the weight V of the best matching. A step that keeps the matching elsewhere gives a weight that is surely
reached, so a bound of Delta; only steps whose bound beats the best one so far are matched anew, and of these
the clusters alone that hang together with those that change.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints
from clustruct.losses._kernels import violation

from .best_mates import best_mates
from .table_increments import Contingency, Form, Rule, delta_of, value, weight

# The mate of each cluster, and of each true cluster the two best clusters that have none, and their weights.
Matching = tuple[Ints, Ints, Floats]
# Bounds and values of one step may differ by this share from rounding.
ROUNDING = 1e-10


@kernel()
def matching_weight(
    alive: Ints, sizes: Ints, counts: Ints, form: Form, mate: Ints, c: int, d: int, item_t: int
) -> float:
    """The weight of the best matching of these clusters, and their mates where ``mate`` has places for them.

    d >= 0 and item_t < 0: after a merge of c and d. item_t >= 0: after an item of that true cluster went
    from c to d (d = -1: to a cluster of its own).
    """
    merged = item_t < 0 and d >= 0
    n_true, n_rows = counts.shape[1], alive.size + 1
    indptr = np.zeros(n_rows + 1, np.int64)
    columns, values = np.empty(form[1].size + 1, np.int64), np.empty(form[1].size + 1)
    k = 0
    for i in range(alive.size):
        e = alive[i]
        if not (merged and e == d):
            size = sizes[e]
            if merged and e == c:
                size += sizes[d]
            elif item_t >= 0 and (e in (c, d)):
                size += -1 if e == c else 1
            for t in range(n_true):
                n = counts[e, t]
                if merged and e == c:
                    n += counts[d, t]
                elif t == item_t and (e in (c, d)):
                    n += -1 if e == c else 1
                if n > 0:
                    columns[k], values[k] = t, weight(n, size, t, form)
                    k += 1
        indptr[i + 1] = k
    if item_t >= 0 and d < 0:
        columns[k], values[k] = item_t, weight(1, 1, item_t, form)
        k += 1
    indptr[n_rows] = k
    mates = best_mates(indptr, columns[:k], values[:k], n_true)
    V = 0.0
    for i in range(n_rows):
        if mates[i] >= 0:
            for place in range(indptr[i], indptr[i + 1]):
                if columns[place] == mates[i]:
                    V += values[place]
    if mate.size:
        mate[:] = -1
        for i in range(alive.size):
            mate[alive[i]] = mates[i]
    return V


@kernel()
def _hanging_together(c: int, d: int, t: int, alive: Ints, counts: Ints) -> Ints:
    """The clusters that hang together with c, d (where it is one) or t (where it is one) by shared items."""
    met, seen = np.zeros(counts.shape[0], np.bool_), np.zeros(counts.shape[1], np.bool_)
    waiting, n, done = np.empty(counts.shape[0], np.int64), 0, 0
    for e in (c, d):
        if e >= 0 and not met[e]:
            met[e], waiting[n] = True, e
            n += 1
    while True:
        if t >= 0 and not seen[t]:
            seen[t] = True
            for e in alive:
                if counts[e, t] > 0 and not met[e]:
                    met[e], waiting[n] = True, e
                    n += 1
        t = -1
        if done == n:
            return waiting[:n]
        e = waiting[done]
        for other in range(counts.shape[1]):
            if counts[e, other] > 0 and not seen[other]:
                t = other
                break
        if t < 0:
            done += 1


@kernel()
def _own(c: int, t: int, table: Contingency, form: Form) -> float:
    return 0.0 if t < 0 else weight(table[1][c, t], table[0][c], t, form)


@kernel()
def weight_after_step(
    V: float, alive: Ints, table: Contingency, matching: Matching, form: Form, c: int, d: int, item_t: int
) -> float:
    """`matching_weight` after a step, from V and the mates before it: only clusters that hang together with
    those that change are matched anew.
    """
    sizes, counts, _ = table
    some = _hanging_together(c, d, item_t, alive, counts)
    for e in some:
        V -= _own(e, matching[0][e], table, form)
    return V + matching_weight(some, sizes, counts, form, np.empty(0, np.int64), c, d, item_t)


@kernel()
def match(alive: Ints, table: Contingency, form: Form) -> tuple[float, Matching]:
    """V, the mates, and of each true cluster the two best weights of clusters without a mate, and whose."""
    sizes, counts, _ = table
    mate = np.full(sizes.size, -1, np.int64)
    V = matching_weight(alive, sizes, counts, form, mate, -1, -1, -1)
    spare, worth = np.full((counts.shape[1], 2), -1, np.int64), np.zeros((counts.shape[1], 2))
    for e in alive:
        if mate[e] >= 0:
            continue
        for t in range(counts.shape[1]):
            if counts[e, t] > 0:
                w = weight(counts[e, t], sizes[e], t, form)
                if w > worth[t, 0]:
                    worth[t, 1], spare[t, 1] = worth[t, 0], spare[t, 0]
                    worth[t, 0], spare[t, 0] = w, e
                elif w > worth[t, 1]:
                    worth[t, 1], spare[t, 1] = w, e
    return V, (mate, spare, worth)


@kernel()
def _spare(t: int, c: int, d: int, matching: Matching) -> float:
    """The weight of the best cluster without a mate for t, if t is left free; not c or d."""
    if t < 0:
        return 0.0
    for place in range(2):
        e = matching[1][t, place]
        if e >= 0 and e != c and e != d:
            return float(matching[2][t, place])
    return 0.0


@kernel()
def move_bound(c: int, d: int, t: int, V: float, table: Contingency, matching: Matching, form: Form) -> float:
    """A weight that is surely reached after an item of t went from c to d (-1: a new cluster)."""
    sizes, counts, _ = table
    tc, td = matching[0][c], matching[0][d] if d >= 0 else -1
    without = 0.0
    if tc >= 0:
        without = weight(counts[c, tc] - (tc == t), sizes[c] - 1, tc, form)
    there = 0.0
    if td >= 0:
        there = weight(counts[d, td] + (td == t), sizes[d] + 1, td, form)
    best = max(without, _spare(tc, c, d, matching)) + there
    if td < 0 and tc == t:  # d takes the mate of c
        if d < 0:
            best = max(best, weight(1, 1, t, form))
        else:
            best = max(best, weight(counts[d, t] + 1, sizes[d] + 1, t, form))
    own = 0.0 if d < 0 else _own(d, td, table, form)
    return V - _own(c, tc, table, form) - own + best


@kernel()
def highest(low: float, high: float, k: int, gain: float, form: Form, rule: Rule) -> float:
    """H at most, where V is in low..high: H rises with Delta, or falls where slacks are scaled by less than
    0.
    """
    return max(value(low, 0.0, k, gain, form, rule), value(high, 0.0, k, gain, form, rule))


@kernel()
def _join_bounds(
    alive: Ints,
    sums: Floats,
    near: Floats,
    gain: float,
    V: float,
    table: Contingency,
    matching: Matching,
    form: Form,
    rule: Rule,
) -> Floats:
    """H at most after each merge, by a matched loss."""
    k = alive.size
    kind, m, n_true, constant = form[0], float(form[1].size - 1), form[3].size, form[4]
    sizes, counts, _ = table
    true_sizes, mate, spare, worth = form[3], matching[0], matching[1], matching[2]
    values = np.full((k, k), -np.inf)
    for i in range(k):
        c = alive[i]
        for j in range(i + 1, k):
            d = alive[j]
            if near.size and near[c, d] == 0.0:
                continue
            s, tc, td = sizes[c] + sizes[d], mate[c], mate[d]
            low, best = V, 0.0
            for turn in range(2):
                # The union takes the mate t of one, a cluster without a mate that of the other.
                t, other, own = (tc, td, c) if turn == 0 else (td, tc, d)
                if t < 0:
                    continue
                n = counts[c, t] + counts[d, t]
                w = float(n) if kind == 3 else 2.0 * n / (s + true_sizes[t])
                n = counts[own, t]
                low -= float(n) if kind == 3 else 2.0 * n / (sizes[own] + true_sizes[t])
                if other >= 0:
                    for place in range(2):
                        e = spare[other, place]
                        if e >= 0 and e != c and e != d:
                            w += worth[other, place]
                            break
                best = max(best, w)
            # One of the two in the place of the union loses what the other has there, at most.
            high = V + (min(sizes[c], sizes[d]) if kind == 3 else 1.0)
            least = delta_of(high, 0.0, k - 1, kind, m, n_true, constant)
            most = delta_of(low + best, 0.0, k - 1, kind, m, n_true, constant)
            here = gain + sums[c, d]
            values[i, j] = max(
                violation(least, here, rule[0], rule[1]), violation(most, here, rule[0], rule[1])
            )
    return values


@kernel()
def best_matched_join(
    alive: Ints,
    sums: Floats,
    near: Floats,
    gain: float,
    P: float,
    table: Contingency,
    matching: Matching,
    form: Form,
    rule: Rule,
) -> tuple[float, int, int]:
    """The same by a matched loss: the merge of the highest bound is matched, then those whose bound is above
    what it has.
    """
    k = alive.size
    bounds = _join_bounds(alive, sums, near, gain, P, table, matching, form, rule)
    first, second = int(np.argmax(bounds)) // k, int(np.argmax(bounds)) % k
    if bounds[first, second] == -np.inf:
        return -np.inf, 0, 1
    c, d = alive[first], alive[second]
    V = weight_after_step(P, alive, table, matching, form, c, d, -1)
    threshold = value(V, 0.0, k - 1, gain + sums[c, d], form, rule)
    best, top_i, top_j = -np.inf, first, second
    for i in range(k):
        c = alive[i]
        for j in range(i + 1, k):
            if bounds[i, j] < threshold - ROUNDING * (1.0 + abs(threshold)):
                continue
            d = alive[j]
            V = weight_after_step(P, alive, table, matching, form, c, d, -1)
            H = value(V, 0.0, k - 1, gain + sums[c, d], form, rule)
            threshold = max(threshold, H)
            if best < H:
                best, top_i, top_j = H, i, j
    return best, top_i, top_j
