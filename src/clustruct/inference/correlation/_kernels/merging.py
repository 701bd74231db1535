"""Greedy merging on a dense matrix of cluster-to-cluster sums."""

# mypy: allow-untyped-decorators
import numpy as np
from numba import njit

from clustruct._typing import Floats, Ints


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def merge_dense(W: Floats) -> Ints:
    """Algorithm 3 on symmetric W, which is destroyed. Labels are the smallest node of each cluster.

    Equal gains: the pair whose clusters have the smallest first nodes wins, as everywhere in this room.
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
        u = np.argmax(value)
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


@njit(cache=True, nogil=True)
def drop(living: Ints, v: int) -> int:
    """Remove v from the sorted list in place and return its new length."""
    at = int(np.searchsorted(living, v))
    for j in range(at, living.shape[0] - 1):
        living[j] = living[j + 1]
    return len(living) - 1


@njit(cache=True, nogil=True)
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
