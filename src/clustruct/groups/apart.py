"""Items of one source as pairs that must not share a group, where people's word does not say otherwise."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from clustruct.core.exceptions import DataError
from clustruct.core.typing import Floats, Ints

# Items of one source that may be tied by likely pairs: each two of them become a constraint.
MOST_TIED = 5000


def source_links(sources: Ints, index: Ints, values: Floats, groups: Ints, must: Ints) -> Ints:
    """The pairs of items of one source that a search could put together: those that positive scores, known
    groups and must-link tie. Two of one known group, or of one piece under must-link, are left as they are.

    >>> pairs, scores = np.array([[0, 2], [1, 2], [2, 3]]), np.array([1.0, 2.0, -1.0])
    >>> source_links(np.array([0, 0, 1, 0]), pairs, scores, np.full(4, -1), np.zeros((0, 2), int)).tolist()
    [[0, 1]]
    """
    m = len(sources)
    known = np.flatnonzero(groups >= 0)
    told = np.concatenate([must, np.column_stack([known, m + groups[known]])])
    size = m + int(groups.max(initial=-1)) + 1
    piece = _components(told, size)[:m]
    tied = _components(np.concatenate([told, index[values > 0.0]]), size)[:m]
    cell = np.unique(tied * (int(sources.max()) + 1) + sources, return_inverse=True)[1]
    order = np.argsort(cell, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    found = [np.zeros((0, 2), np.int64), *(_all_pairs(items) for items in parts if len(items) > 1)]
    pairs = np.concatenate(found)
    return pairs[piece[pairs[:, 0]] != piece[pairs[:, 1]]]


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
