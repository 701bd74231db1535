"""Moves of single items, annealing and descent to a local optimum: on a dense matrix, and on a sparse graph
in O(degree) per visit.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints

from .matrix import canonical
from .merging import merge_dense, merge_sparse

Words: TypeAlias = NDArray[np.uint64]
# A target worse than the best by more than this many temperatures is never drawn (exp(-8) = 3e-4). 20 gave
# the same values and took half as long again.
REACH = 8.0


@kernel()
def next_uniform(state: Words) -> float:
    """Next number in [0, 1) of the splitmix64 generator (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel()
def affinities(W: Floats, labels: Ints, n_rows: int) -> tuple[Floats, Ints, Ints, int]:
    """A[c, i] = sum of W_ij over j in cluster c, one row per cluster; sizes; list of clusters in use."""
    m = W.shape[0]
    A = np.zeros((n_rows, m))
    sizes = np.bincount(labels, minlength=n_rows)
    for i in range(m):
        target, row = A[labels[i]], W[i]
        for j in range(m):
            target[j] += row[j]
    order = np.empty(n_rows, np.int64)  # clusters in use first, free rows behind them
    used, free = 0, np.count_nonzero(sizes)
    for c in range(n_rows):
        if sizes[c] > 0:
            order[used] = c
            used += 1
        else:
            order[free] = c
            free += 1
    return A, sizes, order, used


@kernel()
def with_new_row(A: Floats, sizes: Ints, order: Ints, used: int) -> tuple[Floats, Ints, Ints]:
    """The first free row made ready for a cluster; twice the rows where none is free."""
    n_rows, m = A.shape
    if used == n_rows:
        extra = min(n_rows, m - n_rows)
        A = np.concatenate((A, np.zeros((extra, m))))
        sizes = np.concatenate((sizes, np.zeros(extra, np.int64)))
        order = np.concatenate((order, np.arange(n_rows, n_rows + extra)))
    A[order[used]] = 0.0
    return A, sizes, order


@kernel()
def shift_item(W: Floats, A: Floats, sizes: Ints, labels: Ints, i: int, target: int) -> None:
    """Put item i into row ``target``."""
    source = labels[i]
    leave, enter, row = A[source], A[target], W[i]
    for j in range(row.shape[0]):
        leave[j] -= row[j]
        enter[j] += row[j]
    sizes[source] -= 1
    sizes[target] += 1
    labels[i] = target


@kernel()
def release(order: Ints, used: int, c: int) -> int:
    """Take an emptied cluster out of the list of clusters in use."""
    at = 0
    while order[at] != c:
        at += 1
    order[at], order[used - 1] = order[used - 1], c
    return used - 1


@kernel()
def draw(scores: Floats, n: int, temperature: float, uniform: float) -> int:
    """Index drawn with probability proportional to exp(score / temperature)."""
    top = scores[0]
    for q in range(1, n):
        top = max(top, scores[q])
    floor = top - REACH * temperature
    total = 0.0
    for q in range(n):
        if scores[q] > floor:
            scores[q] = np.exp((scores[q] - top) / temperature)
            total += scores[q]
        else:
            scores[q] = 0.0
    left = uniform * total
    last = 0
    for q in range(n):
        if scores[q] > 0.0:
            left -= scores[q]
            last = q
            if left < 0.0:
                break
    return last


@kernel()
def anneal_dense(W: Floats, labels: Ints, temperatures: Floats, state: Words) -> Ints:
    """Heat-bath sweeps, one per temperature; returns the best labels seen at the end of a sweep.

    Each item in turn leaves its cluster and draws a new one, c with probability ~ exp(A[c, i] / T), a new
    cluster having A = 0. O(k) to draw, O(m) for a change of cluster.
    """
    m = W.shape[0]
    labels = labels.copy()
    best, gain, best_labels = 0.0, 0.0, labels.copy()
    A, sizes, order, used = affinities(W, labels, min(labels.max() + 65, m))
    scores = np.empty(m + 1)
    still = 0
    for temperature in temperatures:
        moves = 0
        for i in range(m):
            own = labels[i]
            alone = sizes[own] == 1
            for q in range(used):
                scores[q] = A[order[q], i]
            scores[used] = 0.0  # a cluster of its own
            pick = draw(scores, used + (0 if alone else 1), temperature, next_uniform(state))
            if pick == used:
                A, sizes, order = with_new_row(A, sizes, order, used)
                used += 1
            target = order[pick]
            if target != own:
                gain += A[target, i] - A[own, i]
                shift_item(W, A, sizes, labels, i, target)
                if alone:
                    used = release(order, used, own)
                moves += 1
        if gain > best:
            best = gain
            best_labels[:] = labels
        still = still + 1 if moves == 0 else 0
        if still == 3:  # frozen: colder sweeps would not move anything either
            break
    return best_labels


@kernel()
def descend_dense(W: Floats, labels: Ints, tolerance: float) -> None:
    """Best single moves, item by item, until none gains more than the tolerance; labels change in place.

    Labels must lie in 0..m-1.
    """
    m = W.shape[0]
    A, sizes, order, used = affinities(W, labels, min(labels.max() + 9, m))
    quiet, i = 0, 0
    while quiet < m:
        own = labels[i]
        score, pick = 0.0, used
        for q in range(used):
            if A[order[q], i] > score:
                score, pick = A[order[q], i], q
        gain = score - A[own, i]
        quiet += 1
        if gain > tolerance and not (pick == used and sizes[own] == 1):
            if pick == used:
                A, sizes, order = with_new_row(A, sizes, order, used)
                used += 1
            shift_item(W, A, sizes, labels, i, order[pick])
            if sizes[own] == 0:
                used = release(order, used, own)
            quiet = 0
        i = i + 1 if i + 1 < m else 0


@kernel()
def cluster_sums(W: Floats, labels: Ints) -> Floats:
    """S[c, d] = sum of W_ij over i in c, j in d, the matrix on which whole clusters are joined."""
    k = labels.max() + 1
    S = np.zeros((k, k))
    for i in range(W.shape[0]):
        sums, row = S[labels[i]], W[i]
        for j in range(W.shape[0]):
            sums[labels[j]] += row[j]
    return S


@kernel()
def settle_dense(W: Floats, labels: Ints, tolerance: float) -> Ints:
    """Single moves, then joins of whole clusters, again and again until neither gains anything."""
    labels = canonical(labels)
    while True:
        descend_dense(W, labels, tolerance)
        labels = canonical(labels)
        joined = merge_dense(cluster_sums(W, labels))
        changed = False
        for i in range(labels.shape[0]):
            changed |= joined[labels[i]] != labels[i]
            labels[i] = joined[labels[i]]
        if not changed:
            return labels


@kernel()
def free_names(labels: Ints) -> tuple[Ints, Ints, int]:
    """Cluster sizes, and a stack of the names 0..m-1 that no cluster bears, smallest on top."""
    m = labels.shape[0]
    sizes = np.bincount(labels, minlength=m)
    unused = np.flatnonzero(sizes == 0)[::-1]
    free = np.empty(m, np.int64)
    free[: len(unused)] = unused
    return sizes, free, len(unused)


@kernel()
def sums_to_neighbours(
    indptr: Ints, indices: Ints, data: Floats, labels: Ints, i: int, slot: Ints, near: Ints, sums: Floats
) -> int:
    """Clusters that item i has an edge to, with the sum of the edges; its own cluster is always first.

    ``slot`` is scratch of -1 with one entry per cluster name, and is -1 again on return.
    """
    near[0], sums[0] = labels[i], 0.0
    slot[labels[i]] = 0
    n = 1
    for at in range(indptr[i], indptr[i + 1]):
        c = labels[indices[at]]
        if slot[c] < 0:
            slot[c], near[n], sums[n] = n, c, 0.0
            n += 1
        sums[slot[c]] += data[at]
    for q in range(n):
        slot[near[q]] = -1
    return n


@kernel()
def anneal_sparse(
    indptr: Ints, indices: Ints, data: Floats, labels: Ints, temperatures: Floats, state: Words
) -> Ints:
    """Heat-bath sweeps as in the dense kernel; clusters without an edge to the item are not drawn."""
    return anneal_some(
        indptr, indices, data, labels, np.arange(labels.shape[0]), temperatures, state, -np.inf
    )


@kernel()
def anneal_some(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    labels: Ints,
    items: Ints,
    temperatures: Floats,
    state: Words,
    least: float,
) -> Ints:
    """Heat-bath sweeps over some items, the others stay: the best labels seen at the end of a sweep, or those
    given where no sweep gains more than ``least``.
    """
    m = labels.shape[0]
    labels = labels.copy()
    sizes, free, n_free = free_names(labels)
    slot, near = np.full(m, -1, np.int64), np.empty(m + 1, np.int64)
    sums, weights = np.empty(m + 1), np.empty(m + 1)
    best, gain, best_labels = least, 0.0, labels.copy()
    still = 0
    for temperature in temperatures:
        moves = 0
        for i in items:
            n = sums_to_neighbours(indptr, indices, data, labels, i, slot, near, sums)
            if sizes[labels[i]] > 1:
                near[n], sums[n] = free[n_free - 1], 0.0
                n += 1
            weights[:n] = sums[:n]
            pick = draw(weights, n, temperature, next_uniform(state))
            if pick == 0:
                continue
            moves += 1
            gain += sums[pick] - sums[0]
            n_free = rename(labels, sizes, free, n_free, i, near[pick])
        if gain > best:
            best = gain
            best_labels[:] = labels
        still = still + 1 if moves == 0 else 0
        if still == 3:  # frozen: colder sweeps would not move anything either
            break
    return best_labels


@kernel()
def rename(labels: Ints, sizes: Ints, free: Ints, n_free: int, i: int, target: int) -> int:
    """Give item i the label ``target``, keep sizes and free names true, return the number of free names."""
    own = labels[i]
    if sizes[target] == 0:
        n_free -= 1  # a new cluster always takes the name on top
    sizes[own] -= 1
    sizes[target] += 1
    labels[i] = target
    if sizes[own] == 0:
        free[n_free] = own
        n_free += 1
    return n_free


@kernel()
def descend_sparse(
    indptr: Ints, indices: Ints, data: Floats, labels: Ints, nodes: Ints, tolerance: float
) -> None:
    """Best single moves of the nodes, in turn, until none gains more than the tolerance; labels change in
    place.
    """
    m = labels.shape[0]
    sizes, free, n_free = free_names(labels)
    slot, near, sums = np.full(m, -1, np.int64), np.empty(m + 1, np.int64), np.empty(m + 1)
    quiet, at = 0, 0
    while quiet < nodes.shape[0]:
        i = nodes[at]
        n = sums_to_neighbours(indptr, indices, data, labels, i, slot, near, sums)
        if sizes[labels[i]] > 1:
            near[n], sums[n] = free[n_free - 1], 0.0
            n += 1
        pick = np.argmax(sums[:n])
        quiet += 1
        if sums[pick] - sums[0] > tolerance:
            n_free = rename(labels, sizes, free, n_free, i, near[pick])
            quiet = 0
        at = at + 1 if at + 1 < nodes.shape[0] else 0


@kernel()
def joined_csr(indptr: Ints, indices: Ints, data: Floats, labels: Ints, k: int) -> tuple[Ints, Ints, Floats]:
    """The graph between k clusters: edges summed, edges inside a cluster left out."""
    m = labels.shape[0]
    begin = np.zeros(k + 1, np.int64)
    for i in range(m):
        begin[labels[i] + 1] += 1
    for c in range(k):
        begin[c + 1] += begin[c]
    members, cursor = np.empty(m, np.int64), begin[:-1].copy()
    for i in range(m):
        members[cursor[labels[i]]] = i
        cursor[labels[i]] += 1
    ends, near = np.zeros(k + 1, np.int64), np.empty(indices.shape[0], np.int64)
    sums, slot = np.empty(indices.shape[0]), np.full(k, -1, np.int64)
    n = 0
    for c in range(k):
        for i in members[begin[c] : begin[c + 1]]:
            for at in range(indptr[i], indptr[i + 1]):
                d = labels[indices[at]]
                if d == c:
                    continue
                if slot[d] < ends[c]:  # not met in this row
                    slot[d], near[n], sums[n] = n, d, 0.0
                    n += 1
                sums[slot[d]] += data[at]
        ends[c + 1] = n
    return ends, near[:n], sums[:n]


@kernel()
def settle_sparse(indptr: Ints, indices: Ints, data: Floats, labels: Ints, tolerance: float) -> Ints:
    """Single moves, then joins of whole clusters, again and again until neither gains anything."""
    labels, nodes = canonical(labels), np.arange(labels.shape[0])
    while True:
        descend_sparse(indptr, indices, data, labels, nodes, tolerance)
        labels = canonical(labels)
        joined = merge_sparse(*joined_csr(indptr, indices, data, labels, labels.max() + 1))
        changed = False
        for i in range(labels.shape[0]):
            changed |= joined[labels[i]] != labels[i]
            labels[i] = joined[labels[i]]
        if not changed:
            return labels
