"""Moves of single items on a sparse graph: the twins of the dense kernels, O(degree) per visit."""

# mypy: allow-untyped-decorators
import numpy as np
from numba import njit

from clustruct._typing import Floats, Ints

from ._types import Words
from .moving import draw, next_uniform


@njit(cache=True, nogil=True)
def free_names(labels: Ints) -> tuple[Ints, Ints, int]:
    """Cluster sizes, and a stack of the names 0..m-1 that no cluster bears, smallest on top."""
    m = labels.shape[0]
    sizes = np.zeros(m, np.int64)
    for i in range(m):
        sizes[labels[i]] += 1
    free, n_free = np.empty(m, np.int64), 0
    for c in range(m - 1, -1, -1):
        if sizes[c] == 0:
            free[n_free] = c
            n_free += 1
    return sizes, free, n_free


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def anneal_sparse(
    indptr: Ints, indices: Ints, data: Floats, labels: Ints, temperatures: Floats, state: Words
) -> Ints:
    """Heat-bath sweeps as in the dense kernel; clusters without an edge to the item are not drawn."""
    m = labels.shape[0]
    labels = labels.copy()
    sizes, free, n_free = free_names(labels)
    slot, near = np.full(m, -1, np.int64), np.empty(m + 1, np.int64)
    sums, weights = np.empty(m + 1), np.empty(m + 1)
    best, gain, best_labels = 0.0, 0.0, labels.copy()
    still = 0
    for temperature in temperatures:
        moves = 0
        for i in range(m):
            n = sums_to_neighbours(indptr, indices, data, labels, i, slot, near, sums)
            own = labels[i]
            if sizes[own] > 1:
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def descend_sparse(indptr: Ints, indices: Ints, data: Floats, labels: Ints, tolerance: float) -> None:
    """Best single moves, item by item, until none gains more than the tolerance; labels change in place."""
    m = labels.shape[0]
    sizes, free, n_free = free_names(labels)
    slot, near, sums = np.full(m, -1, np.int64), np.empty(m + 1, np.int64), np.empty(m + 1)
    quiet, i = 0, 0
    while quiet < m:
        n = sums_to_neighbours(indptr, indices, data, labels, i, slot, near, sums)
        if sizes[labels[i]] > 1:
            near[n], sums[n] = free[n_free - 1], 0.0
            n += 1
        pick = np.argmax(sums[:n])
        quiet += 1
        if sums[pick] - sums[0] > tolerance:
            n_free = rename(labels, sizes, free, n_free, i, near[pick])
            quiet = 0
        i = i + 1 if i + 1 < m else 0
