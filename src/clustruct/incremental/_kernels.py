"""Searches on a signed graph some of whose nodes are anchors: they stay where they are, and no two share a
cluster.
"""

# mypy: allow-untyped-decorators
import numpy as np

from clustruct._jit import kernel
from clustruct._typing import Bools, Floats, Ints
from clustruct.inference.correlation._kernels.bounded import merge_bounded


@kernel()
def merge_anchored(indptr: Ints, indices: Ints, data: Floats, anchored: Bools) -> Ints:
    """Greedy merging in which two clusters with an anchor each are never merged.

    An anchor counts one and other nodes nothing, and no cluster may count more than one. Labels are the
    smallest node of each cluster. A score of -inf forbids a pair of nodes.
    """
    return merge_bounded(indptr, indices, data, anchored.astype(np.int64), 1, 0, 0.0)


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
