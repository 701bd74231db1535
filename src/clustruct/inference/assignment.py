"""The best one-to-one matching of two sides, on a sparse graph of scores.

    maximise   sum over matched pairs (i, j) of K_ij,     each item in one pair at most

Pairs of no positive score are never matched, and no item must be. Components of the positive pairs are
matched one by one, each by an exact assignment algorithm.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from clustruct._typing import Floats, Ints

# A component of up to so many possible pairs is matched as a dense matrix; the sparse algorithm takes more
# time for a step, but only for pairs that are there.
MOST_DENSE = 250_000


def matching(left: Ints, right: Ints, values: Floats) -> Ints:
    """The rows of the pairs (left[r], right[r]) that are matched, in order; the sum of their values is
    largest.

    Parameters
    ----------
    left, right : numbers of the items of each side, from 0 on; each pair at most once
    values : their scores

    Exact. Cost O(pairs log pairs) for the components, and for each of n items by Jonker and Volgenant's
    algorithm O(n^3) at worst; those of one pair, which most are, take no time. 100,000 items a side with
    300,000 pairs in small components take a second.

    >>> matching(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0]))
    array([1, 2])
    """
    rows = np.flatnonzero(values > 0.0)
    if not len(rows):
        return rows
    a = np.unique(left[rows], return_inverse=True)[1]
    b = np.unique(right[rows], return_inverse=True)[1]
    n = int(a.max()) + 1
    alone = (np.bincount(a)[a] == 1) & (np.bincount(b)[b] == 1)
    found, rest = [rows[alone]], np.flatnonzero(~alone)
    for part in _components(a[rest], b[rest], n):
        mine = rest[part]
        found.append(rows[mine[_best(a[mine], b[mine], values[rows[mine]])]])
    return np.sort(np.concatenate(found))


def _components(a: Ints, b: Ints, n: int) -> list[Ints]:
    """The pairs of each component of the graph of the two sides."""
    if not len(a):
        return []
    size = n + int(b.max()) + 1
    graph = sparse.coo_array((np.ones(len(a), np.int8), (a, n + b)), shape=(size, size))
    of_pair = sparse.csgraph.connected_components(graph, directed=False)[1][a]
    order = np.argsort(of_pair, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(of_pair[order])) + 1)


def _best(a: Ints, b: Ints, values: Floats) -> Ints:
    """The pairs of one component that are matched."""
    a, b = (np.unique(side, return_inverse=True)[1] for side in (a, b))
    n, k = int(a.max()) + 1, int(b.max()) + 1
    if n == 1 or k == 1:
        return np.array([np.argmax(values)])
    if n * k <= MOST_DENSE:
        scores = np.zeros((n, k))
        scores[a, b] = values
        mate = np.full(n, -1)
        chosen, mates = linear_sum_assignment(scores, maximize=True)
        mate[chosen] = mates
    else:
        mate = _sparse_mates(a, b, values, n, k)
    return np.flatnonzero(mate[a] == b)


def _sparse_mates(a: Ints, b: Ints, values: Floats, n: int, k: int) -> Ints:
    """The mate of each item of the first side, k and more for none.

    Every item of the first side is matched, if need be with a stranger of its own at score 0; so that no
    score is 0, which would be no pair, all are raised by the same.
    """
    own = np.arange(n)
    raised = 1.0 + np.concatenate([values / values.max(), np.zeros(n)])
    places = np.concatenate([a, own]), np.concatenate([b, k + own])
    graph = sparse.csr_matrix((raised, places), shape=(n, k + n))
    chosen, mates = sparse.csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    mate = np.empty(n, np.int64)
    mate[chosen] = mates
    return mate
