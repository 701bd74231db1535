"""Compiled greedy and local search for H with losses of the table of clusters by true clusters.

The steps are those of `violation_search`, in the same order.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints
from clustruct.losses._kernels import violation

from .matched_losses import Matching, best_matched_join, highest, match, move_bound, weight_after_step
from .table_increments import (
    MATCHED,
    Contingency,
    Form,
    Rule,
    count,
    crossing,
    delta_of,
    merge_change,
    part,
    put,
    totals,
    value,
)


@kernel()
def _best_additive_join(
    alive: Ints,
    sums: Floats,
    near: Floats,
    changes: Floats,
    gain: float,
    P: float,
    R: float,
    form: Form,
    rule: Rule,
) -> tuple[float, int, int]:
    """The highest H after one merge, by an additive loss, and the places in `alive` of the two clusters."""
    k, kind, m, n_true, constant = alive.size, form[0], float(form[1].size - 1), form[3].size, form[4]
    best, first, second = -np.inf, -1, -1
    for i in range(k):
        c = alive[i]
        for j in range(i + 1, k):
            d = alive[j]
            if near.size and near[c, d] == 0.0:
                continue
            after = delta_of(P + changes[c, d, 0], R + changes[c, d, 1], k - 1, kind, m, n_true, constant)
            H = violation(after, gain + sums[c, d], rule[0], rule[1])
            if best < H:
                best, first, second = H, i, j
    return best, first, second


@kernel()
def _best_join(
    alive: Ints,
    sums: Floats,
    near: Floats,
    changes: Floats,
    gain: float,
    P: float,
    R: float,
    table: Contingency,
    matching: Matching,
    form: Form,
    rule: Rule,
) -> tuple[float, int, int]:
    """The highest H after one merge, and the places in `alive` of the two clusters.

    near : listed pairs between clusters (no array: all are)
    """
    if form[0] < MATCHED:
        return _best_additive_join(alive, sums, near, changes, gain, P, R, form, rule)
    return best_matched_join(alive, sums, near, gain, P, table, matching, form, rule)


@kernel()
def _all_changes(alive: Ints, m: int, table: Contingency, form: Form) -> Floats:
    """`merge_change` of all pairs of clusters; nothing where clusters are matched."""
    if form[0] >= MATCHED:
        return np.zeros((1, 1, 2))
    sizes, counts, parts = table
    changes = np.zeros((m, m, 2))
    for i in range(alive.size):
        for j in range(i + 1, alive.size):
            c, d = alive[i], alive[j]
            changes[c, d] = merge_change(c, d, sizes, counts, parts, form)
            changes[d, c] = changes[c, d]
    return changes


@kernel()
def _state(alive: Ints, table: Contingency, form: Form) -> tuple[float, float, Matching]:
    """P and R (V and 0 where clusters are matched), and the matching."""
    if form[0] >= MATCHED:
        V, matching = match(alive, table, form)
        return V, 0.0, matching
    P, R = totals(table[0], table[2], form)
    return P, R, (np.empty(0, np.int64), np.empty((0, 2), np.int64), np.empty((0, 2)))


@kernel()
def _merge(c: int, d: int, table: Contingency, form: Form) -> None:
    """Book the merge of d into c."""
    sizes, counts, parts = table
    A, B = crossing(c, d, counts, form)
    parts[c, 0] += parts[d, 0] + A
    parts[c, 1] += parts[d, 1] + B
    parts[c, 2] += parts[d, 2]
    counts[c] += counts[d]
    sizes[c] += sizes[d]
    counts[d], parts[d], sizes[d] = 0, 0.0, 0


@kernel()
def greedy(
    K: Floats, truth: Ints, labels: Ints, form: Form, rule: Rule, truth_score: float, tolerance: float
) -> Ints:
    """Algorithm 4 from singletons (`labels` must be 0..m-1)."""
    m = truth.size
    found, alive, sums, near = labels.copy(), np.arange(m), K.copy(), form[5].copy()
    table = count(truth, found, m, form)
    changes = _all_changes(alive, m, table, form)
    gain = -truth_score
    P, R, matching = _state(alive, table, form)
    while alive.size > 1:
        now = value(P, R, alive.size, gain, form, rule)
        best, i, j = _best_join(alive, sums, near, changes, gain, P, R, table, matching, form, rule)
        if not best > now + tolerance:
            break
        c, d = alive[i], alive[j]
        gain += sums[c, d]
        _merge(c, d, table, form)
        alive = np.concatenate((alive[:j], alive[j + 1 :]))
        found[found == d] = c
        for e in alive:
            if e != c:
                sums[c, e] += sums[d, e]
                sums[e, c] = sums[c, e]
                if near.size:
                    near[c, e] += near[d, e]
                    near[e, c] = near[c, e]
                if form[0] < MATCHED:
                    changes[c, e] = merge_change(c, int(e), table[0], table[1], table[2], form)
                    changes[e, c] = changes[c, e]
        P, R, matching = _state(alive, table, form)
    return found


@kernel()
def _after_move(
    c: int, d: int, t: int, P: float, R: float, table: Contingency, form: Form
) -> tuple[float, float]:
    """P and R of an additive loss after an item of t went from c to d (-1: a new cluster)."""
    sizes, counts, parts = table
    kind, lonely = form[0], 1.0 if form[3][t] == 1.0 else 0.0
    p, r = part(kind, sizes[c], parts[c, 0], parts[c, 1], parts[c, 2])
    P, R = P - p, R - r
    less = form[1][counts[c, t]] - form[1][counts[c, t] - 1]
    p, r = part(kind, sizes[c] - 1, parts[c, 0] - less, parts[c, 1] - less / form[2][t], parts[c, 2] - lonely)
    P, R = P + p, R + r
    if d < 0:
        more = form[1][1] - form[1][0]
        p, r = part(kind, 1, more, more / form[2][t], lonely)
        return P + p, R + r
    p, r = part(kind, sizes[d], parts[d, 0], parts[d, 1], parts[d, 2])
    P, R = P - p, R - r
    more = form[1][counts[d, t] + 1] - form[1][counts[d, t]]
    p, r = part(kind, sizes[d] + 1, parts[d, 0] + more, parts[d, 1] + more / form[2][t], parts[d, 2] + lonely)
    return P + p, R + r


@kernel()
def _best_move(
    item: int,
    t: int,
    source: int,
    alive: Ints,
    pull: Floats,
    touch: Floats,
    gain: float,
    P: float,
    R: float,
    table: Contingency,
    matching: Matching,
    form: Form,
    rule: Rule,
) -> tuple[float, int]:
    """The highest H after moving the item, and the place in `alive` (its length: a new one)."""
    k = alive.size
    rest = k - (table[0][source] == 1)
    best, place = -np.inf, -1
    for i in range(k + 1):
        d = alive[i] if i < k else -1
        if d == source or (d >= 0 and touch.size and touch[item, d] == 0.0):
            continue
        new_gain, new_k = gain - pull[item, source], rest
        if d >= 0:
            new_gain += pull[item, d]
        else:
            new_k += 1
        if form[0] < MATCHED:
            p, r = _after_move(source, d, t, P, R, table, form)
            H = value(p, r, new_k, new_gain, form, rule)
        else:
            V = move_bound(source, d, t, P, table, matching, form)
            H = highest(V, P + 2.0, new_k, new_gain, form, rule)
            if best < H:
                V = weight_after_step(P, alive, table, matching, form, source, d, t)
                H = value(V, 0.0, new_k, new_gain, form, rule)
        if best < H:
            best, place = H, i
    return best, place


@kernel()
def hill_climb(
    K: Floats, truth: Ints, labels: Ints, form: Form, rule: Rule, truth_score: float, tolerance: float
) -> Ints:
    """Moves of items and joins of clusters from `labels`, while H rises."""
    found, alive = labels.copy(), np.arange(labels.max() + 1)
    table = count(truth, found, truth.size, form)
    pull, touch = _pulls(K, found), _pulls(form[5], found)
    gain = -truth_score
    for a in range(truth.size):
        gain += pull[a, found[a]] / 2
    going = True
    while going:
        going, gain, alive = _move_items(
            K, truth, found, alive, pull, touch, gain, table, form, rule, tolerance
        )
        if not going and alive.size > 1:
            going, gain, alive = _join_two(K, found, alive, pull, touch, gain, table, form, rule, tolerance)
    return found


@kernel()
def _pulls(K: Floats, found: Ints) -> Floats:
    """What each item has with each cluster, by place m x m; nothing of no array."""
    pull = np.zeros(K.shape)
    for a in range(K.shape[0]):
        for b in range(K.shape[0]):
            pull[a, found[b]] += K[a, b]
    return pull


@kernel()
def _move_items(
    K: Floats,
    truth: Ints,
    found: Ints,
    alive: Ints,
    pull: Floats,
    touch: Floats,
    gain: float,
    table: Contingency,
    form: Form,
    rule: Rule,
    tolerance: float,
) -> tuple[bool, float, Ints]:
    """One pass: each item goes where H is highest, if that raises it. Whether any did, gain and `alive`."""
    sizes, counts, parts = table
    P, R, matching = _state(alive, table, form)
    moved = False
    for item in range(truth.size):
        source, t = found[item], truth[item]
        now = value(P, R, alive.size, gain, form, rule)
        best, place = _best_move(item, t, source, alive, pull, touch, gain, P, R, table, matching, form, rule)
        if not best > now + tolerance:
            continue
        if place == alive.size:
            alive = np.append(alive, np.argmin(sizes))  # an empty slot
            pull[:, alive[place]] = 0.0
        target = alive[place]
        gain += pull[item, target] - pull[item, source]
        _carry(item, source, target, K, pull)
        _carry(item, source, target, form[5], touch)
        put(source, t, -1, counts, parts, form)
        put(target, t, 1, counts, parts, form)
        sizes[source] -= 1
        sizes[target] += 1
        found[item], moved = target, True
        if sizes[source] == 0:
            parts[source] = 0.0
            alive = alive[alive != source]
        P, R, matching = _state(alive, table, form)
    return moved, gain, alive


@kernel()
def _join_two(
    K: Floats,
    found: Ints,
    alive: Ints,
    pull: Floats,
    touch: Floats,
    gain: float,
    table: Contingency,
    form: Form,
    rule: Rule,
    tolerance: float,
) -> tuple[bool, float, Ints]:
    """The best join of two clusters, if it raises H. Whether it did, gain and `alive`."""
    m = found.size
    sums, near = _between(pull, found, alive), _between(touch, found, alive)
    changes = _all_changes(alive, m, table, form)
    P, R, matching = _state(alive, table, form)
    now = value(P, R, alive.size, gain, form, rule)
    best, i, j = _best_join(alive, sums, near, changes, gain, P, R, table, matching, form, rule)
    if not best > now + tolerance:
        return False, gain, alive
    c, d = alive[i], alive[j]
    for item in range(m):
        if found[item] == d:
            _carry(item, d, c, K, pull)
            _carry(item, d, c, form[5], touch)
            found[item] = c
    _merge(c, d, table, form)
    return True, gain + sums[c, d], alive[alive != d]


@kernel()
def _between(pull: Floats, found: Ints, alive: Ints) -> Floats:
    """What each two clusters have between them, from what items have with clusters."""
    sums = np.zeros(pull.shape)
    for a in range(pull.shape[0]):
        for d in alive:
            sums[found[a], d] += pull[a, d]
    return sums


@kernel()
def _carry(item: int, source: int, target: int, K: Floats, pull: Floats) -> None:
    """Book what the move of an item does to the pulls of clusters."""
    for b in range(K.shape[0]):
        pull[b, source] -= K[b, item]
        pull[b, target] += K[b, item]
