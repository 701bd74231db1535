"""Searches on a signed graph some of whose nodes are anchors: they stay where they are, and no two share a
cluster.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Bools, Floats, Ints

from .matrix import canonical
from .merging import (
    find_root,
    find_slot,
    initial_table,
    join_sums,
    neighbour_chains,
    push,
    renewed_table,
    sift_down,
)
from .moving import descend_sparse, joined_csr


@kernel()
def merge_up_to_size(
    indptr: Ints, indices: Ints, data: Floats, sizes: Ints, most: int, wanted: int, least: float
) -> Ints:
    """Merge the two clusters of largest sum above ``least`` that have ``most`` items together at most, while
    there are more than ``wanted``.

    On a symmetric CSR graph without diagonal, whose nodes stand for ``sizes`` items; -inf forbids a pair.
    Labels are the smallest node of each cluster. A pair of clusters that is too large stays so, and is
    dropped for good.
    """
    n = indptr.shape[0] - 1
    keys, sums, gains, pairs, size = initial_table(indptr, indices, data, least)
    used, count = indices.shape[0] // 2, n
    head, following = neighbour_chains(indptr)
    parent, met, total = np.arange(n), np.full(n, -1, np.int64), sizes.copy()
    while size > 0 and count > wanted:
        gain, pair = gains[0], pairs[0]
        size -= 1
        gains[0], pairs[0] = gains[size], pairs[size]
        sift_down(gains, pairs, 0, size)
        a, b = pair // n, pair % n
        if parent[a] != a or parent[b] != b or total[a] + total[b] > most:
            continue
        if sums[find_slot(keys, pair)] != gain:  # every sum is entered anew when it changes
            continue
        parent[b] = a
        total[a] += total[b]
        count -= 1
        at = head[b]
        while at >= 0:
            here, at = at, following[at]
            x = find_root(parent, indices[here])
            if x == a or met[x] == b:
                continue
            met[x] = b
            slot, _, fresh = join_sums(keys, sums, a, b, x, n)
            if fresh:
                used += 1
                following[here], head[a] = head[a], here
            if sums[slot] > least:
                gains, pairs = push(gains, pairs, size, sums[slot], keys[slot])
                size += 1
        if 2 * used > keys.shape[0]:
            keys, sums, used = renewed_table(keys, sums, parent)
    for i in range(n):
        parent[i] = parent[parent[i]]
    return parent


@kernel()
def summed_csr(n: int, first: Ints, second: Ints, values: Floats) -> tuple[Ints, Ints, Floats]:
    """A symmetric CSR graph of pairs of n nodes, columns in order: the scores of one pair are summed, and
    pairs inside a node left out.

    Two passes of counting sort. A day of nine items made ten such graphs, and scipy took 0.3 ms for each.
    """
    ends = np.zeros(n + 1, np.int64)
    for e in range(values.shape[0]):
        if first[e] != second[e]:
            ends[first[e] + 1] += 1
            ends[second[e] + 1] += 1
    for a in range(n):
        ends[a + 1] += ends[a]
    rows, data, cursor = np.empty(ends[n], np.int64), np.empty(ends[n]), ends[:-1].copy()
    for e in range(values.shape[0]):
        a, b = first[e], second[e]
        if a != b:
            rows[cursor[a]], data[cursor[a]] = b, values[e]
            cursor[a] += 1
            rows[cursor[b]], data[cursor[b]] = a, values[e]
            cursor[b] += 1
    # The transpose of a symmetric matrix is itself, with its columns in order.
    columns, scores = np.empty_like(rows), np.empty_like(data)
    cursor[:] = ends[:-1]
    for a in range(n):
        for at in range(ends[a], ends[a + 1]):
            b = rows[at]
            if cursor[b] > ends[b] and columns[cursor[b] - 1] == a:
                scores[cursor[b] - 1] += data[at]
            else:
                columns[cursor[b]], scores[cursor[b]] = a, data[at]
                cursor[b] += 1
    return closed_up(ends, cursor, columns, scores)


@kernel()
def closed_up(begins: Ints, ends: Ints, columns: Ints, scores: Floats) -> tuple[Ints, Ints, Floats]:
    """Rows that lie at begins[a] : ends[a], moved together in place."""
    n = ends.shape[0]
    indptr, to = np.zeros(n + 1, np.int64), 0
    for a in range(n):
        for at in range(begins[a], ends[a]):
            columns[to], scores[to] = columns[at], scores[at]
            to += 1
        indptr[a + 1] = to
    return indptr, columns[:to], scores[:to]


@kernel()
def by_appearance(labels: Ints, n_labels: int) -> Ints:
    """Labels 0..n_labels-1 renumbered 0, 1, ... by first appearance."""
    names, out, count = np.full(n_labels, -1, np.int64), np.empty_like(labels), 0
    for i in range(labels.shape[0]):
        if names[labels[i]] < 0:
            names[labels[i]] = count
            count += 1
        out[i] = names[labels[i]]
    return out


@kernel()
def components_of_pairs(n: int, pairs: Ints) -> Ints:
    """The component of each of n items, numbered by first appearance, where pairs tie two items each."""
    root = np.arange(n)
    for e in range(pairs.shape[0]):
        a, b = find_root(root, pairs[e, 0]), find_root(root, pairs[e, 1])
        root[max(a, b)] = min(a, b)
    for a in range(n):  # a root is always a smaller node, so one pass in order resolves the chains
        root[a] = root[root[a]]
    return canonical(root)


@kernel()
def components_of_graph(indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """The component of each node under the positive scores of a graph, numbered by first appearance."""
    n = indptr.shape[0] - 1
    root = np.arange(n)
    for i in range(n):
        for at in range(indptr[i], indptr[i + 1]):
            if data[at] > 0.0 and indices[at] < i:
                a, b = find_root(root, i), find_root(root, indices[at])
                root[max(a, b)] = min(a, b)
    for a in range(n):  # a root is always a smaller node, so one pass in order resolves the chains
        root[a] = root[root[a]]
    return canonical(root)


@kernel()
def inside_value(indptr: Ints, indices: Ints, data: Floats, labels: Ints) -> float:
    """Sum of the scores of the pairs of nodes that share a label."""
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        for at in range(indptr[i], indptr[i + 1]):
            if indices[at] < i and labels[indices[at]] == labels[i]:
                total += data[at]
    return total


@kernel()
def settle_with_anchors(
    indptr: Ints, indices: Ints, data: Floats, anchored: Bools, labels: Ints, tolerance: float
) -> Ints:
    """Single moves of nodes that are no anchors, then joins of whole clusters, again and again until neither
    gains anything. No cluster has two anchors, before or after.
    """
    labels, free = canonical(labels), np.flatnonzero(~anchored)
    while True:
        if free.shape[0]:
            descend_sparse(indptr, indices, data, labels, free, tolerance)
        labels = canonical(labels)
        k = labels.max() + 1
        held = np.zeros(k, np.bool_)
        for i in range(labels.shape[0]):
            held[labels[i]] |= anchored[i]
        ends, near, sums = joined_csr(indptr, indices, data, labels, k)
        joined = merge_with_anchors(ends, near, sums, held)
        changed = False
        for i in range(labels.shape[0]):
            changed |= joined[labels[i]] != labels[i]
            labels[i] = joined[labels[i]]
        if not changed:
            return labels


@kernel()
def merge_with_anchors(indptr: Ints, indices: Ints, data: Floats, anchored: Bools) -> Ints:
    """Greedy merging in which two clusters with an anchor each are never merged.

    An anchor counts one and other nodes nothing, and no cluster may count more than one. Labels are the
    smallest node of each cluster. A score of -inf forbids a pair of nodes.
    """
    return merge_up_to_size(indptr, indices, data, anchored.astype(np.int64), 1, 0, 0.0)


@kernel()
def most_to_come(K: Floats, labels: Ints, at: int, k: int, sums: Floats) -> float:
    """No completion gains more: each later node joins its best cluster so far, and later ones that pull."""
    n, most = K.shape[0], 0.0
    for j in range(at, n):
        sums[:k] = 0.0
        for a in range(at):
            sums[labels[a]] += K[a, j]
        best = 0.0
        for c in range(k):
            best = max(best, sums[c])
        for a in range(at, j):
            best += max(K[a, j], 0.0)
        most += best
    return most


@kernel()
def branch_and_bound(
    K: Floats, n_anchors: int, best: float, tolerance: float, budget: int, found: Ints
) -> tuple[bool, int]:
    """The best clustering of a few nodes, the first of them anchors, where it is above ``best``.

    A score of -inf forbids a pair. Whether ``found`` was filled with a better one, and how many steps it
    took; when these are fewer than the budget there is none better.
    """
    n = K.shape[0]
    labels, choice, k = np.arange(n), np.zeros(n + 1, np.int64), np.full(n + 1, n_anchors)
    values, sums = np.zeros(n + 1), np.empty(n + 1)
    at, steps, better = n_anchors, 0, False
    while at >= n_anchors and steps < budget:
        if at == n or choice[at] > k[at]:
            at -= 1
            continue
        c = choice[at]
        choice[at] += 1
        steps += 1
        value = values[at]
        for a in range(at):
            if labels[a] == c:
                value += K[a, at]
        labels[at] = c
        after = max(k[at], c + 1)
        if not value + most_to_come(K, labels, at + 1, after, sums) > best + tolerance:
            continue
        at += 1
        values[at], k[at], choice[at] = value, after, 0
        if at == n:
            best, better = value, True
            found[:] = labels
    return better, steps


@kernel()
def solve_components(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    anchored: Bools,
    members: Ints,
    starts: Ints,
    labels: Ints,
    tolerance: float,
    budget: int,
    budget_each: int,
    solved: Bools,
) -> int:
    """Better labels, where there are, for components: members[starts[p] : starts[p + 1]], anchors first.

    Labels change in place, and so does ``solved``: whether none are better. New clusters are named m, m + 1,
    ... What is left of the budget is returned.
    """
    m = labels.shape[0]
    place, name = np.full(m, -1, np.int64), m
    for p in range(starts.shape[0] - 1):
        nodes = members[starts[p] : starts[p + 1]]
        n = nodes.shape[0]
        if budget <= 0:
            break
        K, n_anchors, now = np.zeros((n, n)), 0, 0.0
        for i in range(n):
            place[nodes[i]] = i
            n_anchors += anchored[nodes[i]]
        for i in range(n):
            for at in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
                j = place[indices[at]]
                if j >= 0:
                    K[i, j] = data[at]
                    if j < i and labels[nodes[i]] == labels[nodes[j]]:
                        now += data[at]
        found = np.empty(n, np.int64)
        better, steps = branch_and_bound(K, n_anchors, now, tolerance, min(budget, budget_each), found)
        solved[p] = steps < min(budget, budget_each)
        budget -= steps
        for i in range(n):
            place[nodes[i]] = -1
            if better:
                labels[nodes[i]] = name + found[i]
        name += n
    return budget
