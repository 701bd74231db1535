"""The best one-to-one matching of two sides, on a sparse graph of scores.

    maximise   sum over matched pairs (i, j) of K_ij,     each item in one pair at most

Pairs of no positive score are never matched, and no item must be.
"""

from __future__ import annotations

import numpy as np

from clustruct.core.typing import Floats, Ints


def matching(left: Ints, right: Ints, values: Floats) -> Ints:
    """The rows of the pairs (left[r], right[r]) that are matched, in order; the sum of their values is
    largest.

    Parameters
    ----------
    left, right : array of int
        Numbers of the items of each side, from 0 on; each pair at most once.
    values : array of float
        Their scores.

    Returns
    -------
    array of int
        Row numbers of the matched pairs.

    Notes
    -----
    Exact: an item is added by the shortest augmenting path, which stays in its component of the positive
    pairs. Own code, since scipy's sparse assignment takes 3.5 s for 50,000 items a side with 48,000 positive
    pairs in small components, scipy's dense one for each component 0.3 s, this one 0.01 s; and an oracle asks
    some thousand times.

    Examples
    --------
    >>> matching(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0]))
    array([1, 2])
    """
    from ._kernels.matching import best_mates

    rows = np.flatnonzero(values > 0.0)
    if not len(rows):
        return rows
    a, b = left[rows], right[rows]
    order = np.argsort(a, kind="stable")
    indptr = np.zeros(int(a.max()) + 2, np.int64)
    np.cumsum(np.bincount(a), out=indptr[1:])
    mate = best_mates(indptr, b[order], values[rows][order], int(b.max()) + 1)
    return rows[mate[a] == b]
