"""Compiled greedy and local search for H with losses that depend on counts alone.

    Delta = max(0, (a_0 + a_Q Q + a_k k) / (b_0 + b_k k + b_P P)),  0 where the denominator is 0
    P = pairs together
    Q = p * P + q * (pairs together in both) + z * (occupied cells)

`form` is the array (a_0, a_Q, a_k, b_0, b_k, p, q, z, b_P) of a CountForm; `rule` says whether slacks are
scaled, and whether they are quadratic. Plain functions, arrays in, arrays out. The steps are those of
`violation_search`, in the same order.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints
from clustruct.losses._kernels import violation

Rule = tuple[bool, bool]


@kernel()
def _objective(gain: float, Q: float, P: int, k: int, form: Floats, rule: Rule) -> float:
    below = form[3] + form[4] * k + form[8] * P
    delta = 0.0
    if below != 0.0:
        delta = max((form[0] + form[1] * Q + form[2] * k) / below, 0.0)
    return violation(delta, gain, rule[0], rule[1])


@kernel()
def _count(truth: Ints, labels: Ints, n_slots: int) -> tuple[Ints, Ints]:
    """Sizes s_c and counts n_ct of the clusters."""
    counts = np.zeros((n_slots, truth.max() + 1), dtype=np.int64)
    for a in range(truth.size):
        counts[labels[a], truth[a]] += 1
    return np.bincount(labels, minlength=n_slots), counts


@kernel()
def _statistic(sizes: Ints, counts: Ints, form: Floats) -> float:
    """Q of the partition."""
    Q = 0.0
    for c in range(sizes.size):
        Q += form[5] * (sizes[c] * (sizes[c] - 1) // 2)
        for t in range(counts.shape[1]):
            n = counts[c, t]
            if n > 0:
                Q += form[6] * (n * (n - 1) // 2) + form[7]
    return Q


@kernel()
def _pairs_together(sizes: Ints) -> int:
    """P of the partition."""
    P = 0
    for c in range(sizes.size):
        P += sizes[c] * (sizes[c] - 1) // 2
    return P


@kernel()
def _merge_change(c: int, d: int, sizes: Ints, counts: Ints, form: Floats) -> float:
    """Change of Q when clusters c and d merge."""
    change = form[5] * (sizes[c] * sizes[d])
    for t in range(counts.shape[1]):
        both = counts[c, t] * counts[d, t]
        if both > 0:
            change += form[6] * both - form[7]
    return float(change)


@kernel()
def _best_join(
    alive: Ints, sums: Floats, changes: Floats, gain: float, Q: float, form: Floats, rule: Rule
) -> tuple[float, int, int]:
    """The highest H after one merge, and the places in `alive` of the two clusters.

    With k fixed Delta is base + slope Q, so the division is done once and not for each pair.
    """
    k = alive.size
    below = form[3] + form[4] * (k - 1)
    unit = 0.0 if below == 0.0 else 1.0 / below
    base = unit * (form[0] + form[1] * Q + form[2] * (k - 1))
    slope = unit * form[1]
    best, first, second = -np.inf, -1, -1
    for i in range(k):
        c = alive[i]
        for j in range(i + 1, k):
            d = alive[j]
            H = violation(max(base + slope * changes[c, d], 0.0), gain + sums[c, d], rule[0], rule[1])
            if best < H:
                best, first, second = H, i, j
    return best, first, second


@kernel()
def _best_join_of_ratio(
    alive: Ints,
    sums: Floats,
    changes: Floats,
    sizes: Ints,
    gain: float,
    Q: float,
    P: int,
    form: Floats,
    rule: Rule,
) -> tuple[float, int, int]:
    """`_best_join` where the pairs together stand in the denominator too."""
    k = alive.size
    best, first, second = -np.inf, -1, -1
    for i in range(k):
        c = alive[i]
        for j in range(i + 1, k):
            d = alive[j]
            joined = P + sizes[c] * sizes[d]
            H = _objective(gain + sums[c, d], Q + changes[c, d], joined, k - 1, form, rule)
            if best < H:
                best, first, second = H, i, j
    return best, first, second


@kernel()
def greedy(
    K: Floats, truth: Ints, labels: Ints, form: Floats, rule: Rule, truth_score: float, tolerance: float
) -> Ints:
    """Algorithm 4 from singletons (`labels` must be 0..m-1). O(m^3) at worst, O(m^2) numbers held."""
    m = truth.size
    found = labels.copy()
    alive = np.arange(m)
    sizes, counts = _count(truth, found, m)
    sums = K.copy()
    changes = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            changes[a, b] = form[5] + (form[6] - form[7]) * (truth[a] == truth[b])
    gain, Q, P = -truth_score, _statistic(sizes, counts, form), _pairs_together(sizes)
    while alive.size > 1:
        now = _objective(gain, Q, P, alive.size, form, rule)
        if form[8] == 0.0:
            best, i, j = _best_join(alive, sums, changes, gain, Q, form, rule)
        else:
            best, i, j = _best_join_of_ratio(alive, sums, changes, sizes, gain, Q, P, form, rule)
        if not best > now + tolerance:
            break
        c, d = alive[i], alive[j]
        gain += sums[c, d]
        Q += changes[c, d]
        P += sizes[c] * sizes[d]
        sizes[c] += sizes[d]
        counts[c] += counts[d]
        alive = np.concatenate((alive[:j], alive[j + 1 :]))
        found[found == d] = c
        for e in alive:
            if e != c:
                sums[c, e] += sums[d, e]
                sums[e, c] = sums[c, e]
                changes[c, e] = _merge_change(c, int(e), sizes, counts, form)
                changes[e, c] = changes[c, e]
    return found


@kernel()
def _best_move(
    item: int,
    truth: Ints,
    source: int,
    alive: Ints,
    pull: Floats,
    sizes: Ints,
    counts: Ints,
    gain: float,
    Q: float,
    P: int,
    form: Floats,
    rule: Rule,
) -> tuple[float, int, float, float]:
    """The highest H after moving the item, the place in `alive` (its length: a new one), gain and Q then."""
    t, k = truth[item], alive.size
    own = counts[source, t]
    leave = form[5] * (sizes[source] - 1) + form[6] * (own - 1) + form[7] * (own == 1)
    rest = k - (sizes[source] == 1)
    best, place, best_gain, best_Q = -np.inf, -1, gain, Q
    for i in range(k + 1):
        new_gain, new_Q, new_k = gain - pull[item, source], Q - leave, rest
        new_P = P - (sizes[source] - 1)
        if i == k:
            new_Q += form[7]
            new_k += 1
        else:
            c = alive[i]
            if c == source:
                continue
            new_gain += pull[item, c]
            new_P += sizes[c]
            new_Q += form[5] * sizes[c] + form[6] * counts[c, t] + form[7] * (counts[c, t] == 0)
        H = _objective(new_gain, new_Q, new_P, new_k, form, rule)
        if best < H:
            best, place, best_gain, best_Q = H, i, new_gain, new_Q
    return best, place, best_gain, best_Q


@kernel()
def _carry(
    item: int, source: int, target: int, K: Floats, t: int, pull: Floats, sizes: Ints, counts: Ints
) -> None:
    """Book the move of an item from one slot to another."""
    for b in range(K.shape[0]):
        pull[b, source] -= K[b, item]
        pull[b, target] += K[b, item]
    sizes[source] -= 1
    sizes[target] += 1
    counts[source, t] -= 1
    counts[target, t] += 1
    if sizes[source] == 0:
        pull[:, source] = 0.0  # rounding must not stay behind in an empty slot


@kernel()
def _join_tables(
    alive: Ints, found: Ints, pull: Floats, sizes: Ints, counts: Ints, form: Floats
) -> tuple[Floats, Floats]:
    """What each merge adds to S and to Q. O(m k + k^2 k_true)."""
    m = found.size
    sums, changes = np.zeros((m, m)), np.zeros((m, m))
    for a in range(m):
        for d in alive:
            sums[found[a], d] += pull[a, d]
    for i in range(alive.size):
        for j in range(i + 1, alive.size):
            changes[alive[i], alive[j]] = _merge_change(alive[i], alive[j], sizes, counts, form)
    return sums, changes


@kernel()
def hill_climb(
    K: Floats, truth: Ints, labels: Ints, form: Floats, rule: Rule, truth_score: float, tolerance: float
) -> Ints:
    """Moves of items and joins of clusters from `labels`, while H rises."""
    m = truth.size
    found = labels.copy()
    alive = np.arange(labels.max() + 1)
    sizes, counts = _count(truth, found, m)
    pull = np.zeros((m, m))
    gain, Q, P = -truth_score, _statistic(sizes, counts, form), _pairs_together(sizes)
    for a in range(m):
        for b in range(m):
            pull[a, found[b]] += K[a, b]
        gain += pull[a, found[a]] / 2
    while True:
        moved = False
        for item in range(m):
            source = found[item]
            now = _objective(gain, Q, P, alive.size, form, rule)
            best, place, new_gain, new_Q = _best_move(
                item, truth, source, alive, pull, sizes, counts, gain, Q, P, form, rule
            )
            if not best > now + tolerance:
                continue
            if place == alive.size:
                alive = np.append(alive, np.argmin(sizes))  # an empty slot
            target = alive[place]
            P += sizes[target] - (sizes[source] - 1)
            _carry(item, source, target, K, truth[item], pull, sizes, counts)
            found[item], gain, Q, moved = target, new_gain, new_Q, True
            if sizes[source] == 0:
                alive = alive[alive != source]
        if moved:
            continue
        sums, changes = _join_tables(alive, found, pull, sizes, counts, form)
        now = _objective(gain, Q, P, alive.size, form, rule)
        if form[8] == 0.0:
            best, i, j = _best_join(alive, sums, changes, gain, Q, form, rule)
        else:
            best, i, j = _best_join_of_ratio(alive, sums, changes, sizes, gain, Q, P, form, rule)
        if not best > now + tolerance:
            return found
        c, d = alive[i], alive[j]
        gain += sums[c, d]
        Q += changes[c, d]
        P += sizes[c] * sizes[d]
        for item in range(m):
            if found[item] == d:
                _carry(item, d, c, K, truth[item], pull, sizes, counts)
                found[item] = c
        alive = alive[alive != d]
