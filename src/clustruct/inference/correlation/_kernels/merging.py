"""Greedy merging: on a dense matrix of cluster-to-cluster sums, and on a sparse graph with a table of sums
and a heap of possible merges (24,000 nodes with 430,000 edges take a second).
"""

# mypy: allow-untyped-decorators
import numpy as np

from clustruct._jit import kernel
from clustruct._typing import Floats, Ints

EMPTY = -1


@kernel(fastmath={"nnan", "nsz"})
def row_best(W: Floats, absent: Floats, i: int) -> tuple[float, int]:
    """Largest W_ij over living j > i, and the smallest such j. ``absent`` is 0 for the living, else -inf."""
    row = W[i]
    best = -np.inf
    for j in range(i + 1, row.shape[0]):
        best = max(best, row[j] + absent[j])
    if best > -np.inf:
        for j in range(i + 1, row.shape[0]):
            if row[j] + absent[j] == best:
                return best, j
    return -np.inf, -1


@kernel()
def merge_rows(W: Floats, absent: Floats, living: Ints, value: Floats, column: Ints, u: int, v: int) -> None:
    """Add cluster v to cluster u < v, and repair the row maxima that the merge touches."""
    kept, gone = W[u], W[v]
    for j in range(kept.shape[0]):
        kept[j] += gone[j]
    absent[v] = -np.inf
    value[v] = -np.inf
    for i in living:
        if i >= v:
            W[i, u] = kept[i]
            continue
        new = kept[i]
        W[i, u] = new
        if i < u:
            lost = column[i] == u or column[i] == v
            if new > value[i] or (new == value[i] and (lost or u < column[i])):
                value[i], column[i] = new, u
            elif lost:
                value[i], column[i] = row_best(W, absent, i)
        elif i > u and column[i] == v:
            value[i], column[i] = row_best(W, absent, i)
    value[u], column[u] = row_best(W, absent, u)


@kernel()
def merge_dense(W: Floats) -> Ints:
    """Algorithm 3 on symmetric W, which is destroyed. Labels are the smallest node of each cluster.

    Equal gains: the pair whose clusters have the smallest first nodes wins.
    -inf forbids a pair, and stays -inf through every sum.
    """
    n = W.shape[0]
    names = np.arange(n)
    parent = np.arange(n)
    absent, value, column = np.zeros(n), np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        value[i], column[i] = row_best(W, absent, i)
    living = np.arange(n)
    alive = n
    while alive > 1:
        u = int(np.argmax(value))
        if not value[u] > 0.0:
            break
        v = column[u]
        parent[names[v]] = names[u]
        merge_rows(W, absent, living[:alive], value, column, u, v)
        alive = drop(living[:alive], v)
        if 2 * alive <= W.shape[0] and alive > 32:
            W, names, value, column = compact(W, names, value, column, living[:alive])
            absent = np.zeros(alive)
            living = np.arange(alive)
    for i in range(n):  # a parent is always a smaller node, so one pass in order resolves the chains
        parent[i] = parent[parent[i]]
    return parent


@kernel()
def drop(living: Ints, v: int) -> int:
    """Remove v from the sorted list in place and return its new length."""
    at = int(np.searchsorted(living, v))
    for j in range(at, living.shape[0] - 1):
        living[j] = living[j + 1]
    return len(living) - 1


@kernel()
def compact(
    W: Floats, names: Ints, value: Floats, column: Ints, living: Ints
) -> tuple[Floats, Ints, Floats, Ints]:
    """Keep only the living rows and columns, so that later rows are short. The order is unchanged."""
    count = living.shape[0]
    smaller = np.empty((count, count))
    place = np.full(W.shape[0], -1, np.int64)
    for a in range(count):
        place[living[a]] = a
        for b in range(count):
            smaller[a, b] = W[living[a], living[b]]
    columns = np.empty(count, np.int64)
    for a in range(count):
        old = column[living[a]]
        columns[a] = place[old] if old >= 0 else -1
    return smaller, names[living], value[living], columns


@kernel()
def find_slot(keys: Ints, key: int) -> int:
    """Slot of ``key`` in the open-addressing table, or of the empty place where it belongs."""
    mask = keys.shape[0] - 1
    slot = (key * 0x9E3779B97F4A7C1) >> 17 & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@kernel()
def grown_table(keys: Ints, sums: Floats) -> tuple[Ints, Floats]:
    """The same table with twice the slots."""
    new_keys = np.full(2 * keys.shape[0], EMPTY, np.int64)
    new_sums = np.empty(2 * keys.shape[0])
    for old in range(keys.shape[0]):
        if keys[old] != EMPTY:
            slot = find_slot(new_keys, keys[old])
            new_keys[slot], new_sums[slot] = keys[old], sums[old]
    return new_keys, new_sums


@kernel()
def before(gains: Floats, pairs: Ints, x: int, y: int) -> bool:
    """Heap order: larger gain first, then the smaller pair of first nodes."""
    return bool(gains[x] > gains[y] or (gains[x] == gains[y] and pairs[x] < pairs[y]))


@kernel()
def swap(gains: Floats, pairs: Ints, x: int, y: int) -> None:
    """Exchange two heap entries."""
    gains[x], gains[y] = gains[y], gains[x]
    pairs[x], pairs[y] = pairs[y], pairs[x]


@kernel()
def sift_up(gains: Floats, pairs: Ints, at: int) -> None:
    """Move the entry at ``at`` towards the root until its parent comes first."""
    while at > 0 and before(gains, pairs, at, (at - 1) // 2):
        swap(gains, pairs, at, (at - 1) // 2)
        at = (at - 1) // 2


@kernel()
def sift_down(gains: Floats, pairs: Ints, at: int, size: int) -> None:
    """Move the entry at ``at`` towards the leaves until both children come later."""
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and before(gains, pairs, child + 1, child):
            child += 1
        if not before(gains, pairs, child, at):
            return
        swap(gains, pairs, child, at)
        at = child


@kernel()
def initial_table(indptr: Ints, indices: Ints, data: Floats) -> tuple[Ints, Floats, Floats, Ints, int]:
    """Table of all edges (key = smaller node * n + larger), and a heap of the positive ones."""
    n, n_edges = indptr.shape[0] - 1, indices.shape[0] // 2
    n_slots = 16
    while n_slots < 4 * n_edges:
        n_slots *= 2
    keys, sums = np.full(n_slots, EMPTY, np.int64), np.empty(n_slots)
    gains, pairs, size = np.empty(n_edges + 16), np.empty(n_edges + 16, np.int64), 0
    for a in range(n):
        for at in range(indptr[a], indptr[a + 1]):
            b = indices[at]
            if b > a:
                slot = find_slot(keys, a * n + b)
                keys[slot], sums[slot] = a * n + b, data[at]
                if data[at] > 0.0:
                    gains[size], pairs[size] = data[at], a * n + b
                    size += 1
    for at in range(size // 2 - 1, -1, -1):
        sift_down(gains, pairs, at, size)
    return keys, sums, gains, pairs, size


@kernel()
def neighbour_chains(indptr: Ints, indices: Ints) -> tuple[Ints, Ints, Ints]:
    """Neighbour lists as chains of (node, next) cells, to which a merge can append."""
    n = indptr.shape[0] - 1
    head = np.full(n, -1, np.int64)
    cells = np.empty((indices.shape[0] + 16, 2), np.int64)
    for a in range(n):
        for at in range(indptr[a], indptr[a + 1]):
            cells[at, 0], cells[at, 1] = indices[at], head[a]
            head[a] = at
    return head, cells, np.array([indices.shape[0]])


@kernel()
def link(head: Ints, cells: Ints, n_cells: Ints, a: int, b: int) -> Ints:
    """Make a and b neighbours of each other; the cells are returned because they may have grown."""
    if n_cells[0] + 2 > cells.shape[0]:
        cells = np.concatenate((cells, np.empty_like(cells)))
    for here, there in ((a, b), (b, a)):
        cells[n_cells[0], 0], cells[n_cells[0], 1] = there, head[here]
        head[here] = n_cells[0]
        n_cells[0] += 1
    return cells


@kernel()
def push(gains: Floats, pairs: Ints, size: int, gain: float, pair: int) -> tuple[Floats, Ints]:
    """Add one possible merge to the heap, which may have grown."""
    if size == gains.shape[0]:
        gains = np.concatenate((gains, np.empty_like(gains)))
        pairs = np.concatenate((pairs, np.empty_like(pairs)))
    gains[size], pairs[size] = gain, pair
    sift_up(gains, pairs, size)
    return gains, pairs


@kernel()
def merge_sparse(indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """Algorithm 3 on a symmetric CSR graph without diagonal; absent pairs count 0.

    A cluster is named by its smallest node; cluster b is poured into a < b with one table look-up per
    neighbour of b. A heap entry whose gain is no longer the table's is out of date and skipped. Same merges
    as the dense kernel: the sums are formed in the same order, so they are equal to the last bit.
    """
    n = indptr.shape[0] - 1
    keys, sums, gains, pairs, size = initial_table(indptr, indices, data)
    used = indices.shape[0] // 2
    head, cells, n_cells = neighbour_chains(indptr, indices)
    parent = np.arange(n)
    while size > 0:
        gain, pair = gains[0], pairs[0]
        size -= 1
        gains[0], pairs[0] = gains[size], pairs[size]
        sift_down(gains, pairs, 0, size)
        a, b = pair // n, pair % n
        if parent[a] != a or parent[b] != b or sums[find_slot(keys, pair)] != gain:
            continue
        parent[b] = a
        cell = head[b]
        while cell >= 0:
            x, cell = cells[cell, 0], cells[cell, 1]
            if x == a or parent[x] != x:
                continue
            moved = sums[find_slot(keys, min(b, x) * n + max(b, x))]
            joined = min(a, x) * n + max(a, x)
            slot = find_slot(keys, joined)
            if keys[slot] == EMPTY:
                keys[slot], sums[slot] = joined, moved
                used += 1
                cells = link(head, cells, n_cells, a, x)
            else:
                sums[slot] += moved
            if sums[slot] > 0.0:
                gains, pairs = push(gains, pairs, size, sums[slot], joined)
                size += 1
            if 2 * used > keys.shape[0]:
                keys, sums = grown_table(keys, sums)
    for i in range(n):  # a parent is always a smaller node, so one pass in order resolves the chains
        parent[i] = parent[parent[i]]
    return parent
