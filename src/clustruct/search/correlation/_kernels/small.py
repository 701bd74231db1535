"""Components of a few nodes, solved exactly in less time than it takes to set up a search."""

# mypy: allow-untyped-decorators
import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints


@kernel()
def small_matrix(indptr: Ints, indices: Ints, data: Floats) -> Floats:
    """The scores of a few nodes as a dense matrix."""
    n = indptr.shape[0] - 1
    W = np.zeros((n, n))
    for a in range(n):
        for at in range(indptr[a], indptr[a + 1]):
            W[a, indices[at]] = data[at]
    return W


@kernel()
def merge_three(indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """Greedy on three nodes, which is exact: the best pair, and the third node where that gains.

    With x >= y >= z the three scores, the optimum is max(0, x, x + y + z), and x > 0 in a component.
    """
    W = small_matrix(indptr, indices, data)
    a, b, c = 0, 1, 2
    if W[0, 2] > W[a, b]:
        a, b, c = 0, 2, 1
    if W[1, 2] > W[a, b]:
        a, b, c = 1, 2, 0
    labels = np.empty(3, np.int64)
    labels[a] = labels[b] = a
    labels[c] = c
    if W[min(a, c), max(a, c)] + W[min(b, c), max(b, c)] > 0.0:
        labels[:] = 0
    return labels


@kernel()
def bounds(W: Floats) -> Floats:
    """For each node i, what the nodes from i on can add at most: their positive scores to earlier ones."""
    n = W.shape[0]
    rest = np.zeros(n + 1)
    for i in range(n - 1, -1, -1):
        rest[i] = rest[i + 1]
        for j in range(i):
            rest[i] += max(W[i, j], 0.0)
    return rest


@kernel()
def best_partition(indptr: Ints, indices: Ints, data: Floats, known: Ints, tolerance: float) -> Ints:
    """The partition of highest value; ``known`` where none is better by more than the tolerance.

    All partitions as strings of cluster numbers that start new clusters in order, depth first; a beginning
    that cannot get above the best is left.
    """
    W = small_matrix(indptr, indices, data)
    n = W.shape[0]
    rest, sums = bounds(W), np.zeros(n + 1)
    labels, used = np.full(n + 1, -1, np.int64), np.zeros(n + 1, np.int64)
    best, best_labels = 0.0, known
    for a in range(n):
        for b in range(a):
            if known[a] == known[b]:
                best += W[a, b]
    i = 0
    while i >= 0:
        labels[i] += 1
        if labels[i] > used[i]:
            labels[i] = -1
            i -= 1
            continue
        value = sums[i]
        for j in range(i):
            if labels[j] == labels[i]:
                value += W[i, j]
        if value + rest[i + 1] <= best + tolerance:
            continue
        if i == n - 1:
            best, best_labels = value, labels[:n].copy()
            continue
        sums[i + 1], used[i + 1] = value, max(used[i], labels[i] + 1)
        i += 1
    return best_labels
