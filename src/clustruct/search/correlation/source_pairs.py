"""Items of one source as pairs that must not share a cluster, where pieces do not put them together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from clustruct.core.exceptions import DataError
from clustruct.core.typing import Floats, Ints

# Items of one source that may be tied by likely pairs: each two of them become a constraint.
MOST_TIED = 5000
NO_PAIRS = np.empty((0, 2), np.int64)


def source_pairs(sources: Ints, index: Ints, values: Floats, pieces: Ints) -> Ints:
    """The pairs of items of one source that a search could put together: those that positive scores and
    pieces tie. Two of one piece are left as they are.

    >>> pairs, scores = np.array([[0, 2], [1, 2], [2, 3]]), np.array([1.0, 2.0, -1.0])
    >>> source_pairs(np.array([0, 0, 1, 0]), pairs, scores, np.arange(4)).tolist()
    [[0, 1]]
    """
    tied = _components(pieces[index[values > 0.0]], int(pieces.max(initial=-1)) + 1)[pieces]
    cell = np.unique(tied * (int(sources.max(initial=0)) + 1) + sources, return_inverse=True)[1]
    order = np.argsort(cell, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    pairs = np.concatenate([NO_PAIRS, *(_all_pairs(items) for items in parts if len(items) > 1)])
    return pairs[pieces[pairs[:, 0]] != pieces[pairs[:, 1]]]


def _components(pairs: Ints, size: int) -> Ints:
    graph = sparse.coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1], np.int64)


def _all_pairs(items: Ints) -> Ints:
    if len(items) > MOST_TIED:
        raise DataError(
            f"{len(items):,} items of one source are tied by likely pairs: too many to be kept apart one by "
            "one; group them without known groups and constraints"
        )
    a, b = np.triu_indices(len(items), 1)
    return np.column_stack([items[a], items[b]])
