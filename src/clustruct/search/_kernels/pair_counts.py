"""Compiled searches on listed pairs for losses of pair counts (pairwise F) with margin scaling.

    maximise   H(y) = Delta(a, P) + S(y),    Delta = 100 (1 - (1 + beta^2) a / (P + beta^2 T))

a, P and S are sums over the listed pairs put together, of `trues`, `weights` and `values`. `graph` is
(indptr, indices, rows): the listed pairs of each item, and which pair each is; `sides` is (first, second):
the items of each pair. `form` is (beta^2, beta^2 T). Labels are names in 0..m-1. Plain functions, arrays in,
arrays out.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Bools, Floats, Ints

from .merging import find_root, merge_sparse

Graph = tuple[Ints, Ints, Ints]
Sides = tuple[Ints, Ints]
# trues, weights and values of the pairs.
Pairs = tuple[Floats, Floats, Floats]
Form = tuple[float, float]


@kernel()
def delta(a: float, P: float, form: Form) -> float:
    """Delta, 0 where there is no pair at all."""
    below = P + form[1]
    return 100.0 * (1.0 - (1.0 + form[0]) * a / below) if below > 0.0 else 0.0


@kernel()
def totals(labels: Ints, sides: Sides, pairs: Pairs) -> Floats:
    """(a, P, S)."""
    (first, second), (trues, weights, values) = sides, pairs
    found = np.zeros(3)
    for r in range(values.size):
        if labels[first[r]] == labels[second[r]]:
            found[0] += trues[r]
            found[1] += weights[r]
            found[2] += values[r]
    return found


@kernel()
def _components(sides: Sides, scores: Floats, m: int) -> Ints:
    """Components of the pairs of positive score, by their smallest items."""
    first, second = sides
    parent = np.arange(m)
    for r in range(scores.size):
        if scores[r] > 0.0:
            a, b = find_root(parent, first[r]), find_root(parent, second[r])
            parent[max(a, b)] = min(a, b)
    for i in range(m):
        parent[i] = find_root(parent, i)
    return parent


@kernel()
def _within(graph: Graph, scores: Floats, component: Ints) -> tuple[Ints, Ints, Ints, Floats]:
    """The items with a pair inside their component, and the graph of such pairs between them."""
    indptr, indices, rows = graph
    m = component.size
    place, items, n, n_entries = np.full(m, -1, np.int64), np.empty(m, np.int64), 0, 0
    for i in range(m):
        inside = 0
        for at in range(indptr[i], indptr[i + 1]):
            inside += component[indices[at]] == component[i]
        if inside > 0:
            place[i], items[n] = n, i
            n += 1
            n_entries += inside
    ptr, near, data = np.zeros(n + 1, np.int64), np.empty(n_entries, np.int64), np.empty(n_entries)
    filled = 0
    for q in range(n):
        i = items[q]
        for at in range(indptr[i], indptr[i + 1]):
            if component[indices[at]] == component[i]:
                near[filled], data[filled] = place[indices[at]], scores[rows[at]]
                filled += 1
        ptr[q + 1] = filled
    return items[:n], ptr, near, data


@kernel()
def greedy(graph: Graph, sides: Sides, scores: Floats) -> Ints:
    """Algorithm 3 on listed pairs, within the components of the pairs of positive score: no merge leaves
    them, so that the many items without such a pair cost next to nothing.
    """
    m = graph[0].size - 1
    items, ptr, near, data = _within(graph, scores, _components(sides, scores, m))
    labels, merged = np.arange(m), merge_sparse(ptr, near, data)
    for q in range(items.size):
        labels[items[q]] = items[merged[q]]
    return labels


@kernel()
def _near_clusters(
    item: int, graph: Graph, pairs: Pairs, labels: Ints, slot: Ints, near: Ints, sums: Floats
) -> int:
    """The clusters that an item has a listed pair with, its own first, and the sums of these pairs.

    ``slot`` is scratch of -1 with one entry per cluster name, and is -1 again on return.
    """
    (indptr, indices, rows), (trues, weights, values) = graph, pairs
    near[0], slot[labels[item]], n = labels[item], 0, 1
    sums[0] = 0.0
    for at in range(indptr[item], indptr[item + 1]):
        c, r = labels[indices[at]], rows[at]
        if slot[c] < 0:
            slot[c], near[n] = n, c
            sums[n] = 0.0
            n += 1
        here = sums[slot[c]]
        here[0] += trues[r]
        here[1] += weights[r]
        here[2] += values[r]
    for q in range(n):
        slot[near[q]] = -1
    return n


@kernel()
def _move_pass(
    graph: Graph,
    pairs: Pairs,
    form: Form,
    labels: Ints,
    sizes: Ints,
    now: Floats,
    awake: Bools,
    tolerance: float,
) -> int:
    """Each item that is awake in turn to the cluster where H is highest, of those that it has a listed pair
    with and one of its own. `now` is (a, P, S). The number of moves.

    A move wakes those that have a pair with the item; for others it changes nothing but Delta's slopes.
    """
    m = labels.size
    slot, near, sums = np.full(m, -1, np.int64), np.empty(m + 1, np.int64), np.empty((m + 1, 3))
    free, n_free = np.empty(m, np.int64), 0
    for c in range(m - 1, -1, -1):
        if sizes[c] == 0:
            free[n_free] = c
            n_free += 1
    moves = 0
    for i in range(m):
        if not awake[i] or graph[0][i] == graph[0][i + 1]:
            continue
        awake[i] = False
        n, own = _near_clusters(i, graph, pairs, labels, slot, near, sums), labels[i]
        if sizes[own] > 1:
            near[n] = free[n_free - 1]
            sums[n] = 0.0
            n += 1
        a, P, S = now[0] - sums[0, 0], now[1] - sums[0, 1], now[2] - sums[0, 2]
        best, pick = delta(now[0], now[1], form) + now[2] + tolerance, 0
        for q in range(1, n):
            H = delta(a + sums[q, 0], P + sums[q, 1], form) + S + sums[q, 2]
            if best < H:
                best, pick = H, q
        if pick == 0:
            continue
        target = near[pick]
        n_free -= sizes[target] == 0
        sizes[own] -= 1
        sizes[target] += 1
        if sizes[own] == 0:
            free[n_free] = own
            n_free += 1
        labels[i] = target
        now[0], now[1], now[2] = a + sums[pick, 0], P + sums[pick, 1], S + sums[pick, 2]
        for at in range(graph[0][i], graph[0][i + 1]):
            awake[graph[1][at]] = True
        moves += 1
    return moves


@kernel()
def _between(sides: Sides, pairs: Pairs, labels: Ints) -> tuple[Ints, Floats]:
    """Pairs of clusters (as c m + d, c < d) with a listed pair between them, and the sums of these."""
    (first, second), (trues, weights, values) = sides, pairs
    m, n = labels.size, 0
    keys, rows = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    for r in range(values.size):
        c, d = labels[first[r]], labels[second[r]]
        if c != d:
            keys[n], rows[n] = min(c, d) * m + max(c, d), r
            n += 1
    found, sums, k = np.empty(n, np.int64), np.zeros((n, 3)), 0
    for q in np.argsort(keys[:n], kind="mergesort"):
        if k == 0 or found[k - 1] != keys[q]:
            found[k] = keys[q]
            k += 1
        r = rows[q]
        sums[k - 1, 0] += trues[r]
        sums[k - 1, 1] += weights[r]
        sums[k - 1, 2] += values[r]
    return found[:k], sums[:k]


@kernel()
def _join_pass(
    sides: Sides, pairs: Pairs, form: Form, labels: Ints, sizes: Ints, now: Floats, tolerance: float
) -> int:
    """Joins of clusters that raise H, the best first, each cluster in one join at most. Their number."""
    m = labels.size
    keys, sums = _between(sides, pairs, labels)
    gains = np.empty(keys.size)
    for q in range(keys.size):
        gains[q] = delta(now[0] + sums[q, 0], now[1] + sums[q, 1], form) + sums[q, 2]
    into, joined, joins = np.arange(m), np.zeros(m, np.bool_), 0
    gains -= delta(now[0], now[1], form)
    for q in np.argsort(-gains, kind="mergesort"):
        c, d = keys[q] // m, keys[q] % m
        if gains[q] <= tolerance:
            break
        if joined[c] or joined[d]:
            continue
        before = delta(now[0], now[1], form)  # earlier joins have moved it
        if delta(now[0] + sums[q, 0], now[1] + sums[q, 1], form) + sums[q, 2] <= before + tolerance:
            continue
        joined[c] = joined[d] = True
        into[d] = c
        sizes[c] += sizes[d]
        sizes[d] = 0
        now += sums[q]
        joins += 1
    for i in range(m):
        labels[i] = into[labels[i]]
    return joins


@kernel()
def climb(
    graph: Graph,
    sides: Sides,
    pairs: Pairs,
    form: Form,
    labels: Ints,
    tolerance: float,
    most_passes: int,
) -> Ints:
    """Moves of items, and joins of clusters when none moves, while H rises; so many passes at most."""
    found, now = labels.copy(), totals(labels, sides, pairs)
    sizes = np.bincount(labels, minlength=labels.size)
    awake, all_awake = np.ones(labels.size, np.bool_), True
    for _ in range(most_passes):
        moves = _move_pass(graph, pairs, form, found, sizes, now, awake, tolerance)
        if moves == 0:
            if all_awake and _join_pass(sides, pairs, form, found, sizes, now, tolerance) == 0:
                break
            awake[:] = True
        all_awake = moves == 0
    return found
