"""Pairs that have a rival: what an item's score with another group takes from its pairs.

Two wrong mates of one name (another edition, another size) score as high as the right one: where to cut the
scores does not tell them apart, but that both are there does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores


def less_rivals(scores: PairScores, labels: Ints) -> PairScores:
    """s_ab - max(0, r_a, r_b), r_a the highest score of item a with an item that is not in its cluster.


    Above a threshold t are then the pairs that score t more than every rival, and more than t. Where no
    item has a positive score outside of its cluster nothing changes.

    Parameters
    ----------
    scores : PairScores
        The scores of the pairs.
    labels : array of int
        The clusters that the scores give.

    Returns
    -------
    PairScores
        The lowered scores.

    Examples
    --------
    >>> index, values = np.array([[0, 1], [0, 2], [3, 4]]), np.array([3.0, 2.0, 1.5])
    >>> less_rivals(PairScores(5, index=index, values=values), np.array([0, 0, 1, 2, 2])).values.tolist()
    [1.0, 0.0, 1.5]
    """
    if scores.matrix is not None:
        K = scores.matrix
        outside = np.where(labels[:, None] != labels, K, 0.0)
        best = outside.max(axis=1, initial=0.0)
        lowered = K - np.maximum.outer(best, best)
        np.fill_diagonal(lowered, np.diag(K))
        return replace(scores, matrix=lowered)
    assert scores.index is not None
    assert scores.values is not None
    a, b = scores.index.T
    best = _best_outside(scores, labels)
    return replace(scores, values=scores.values - np.maximum(best[a], best[b]))


def _best_outside(scores: PairScores, labels: Ints) -> Floats:
    """The highest positive score of each item with one of another cluster, else 0."""
    assert scores.index is not None
    assert scores.values is not None
    rows = np.flatnonzero((labels[scores.index[:, 0]] != labels[scores.index[:, 1]]) & (scores.values > 0.0))
    best = np.zeros(scores.n_items)
    for side in scores.index[rows].T:
        np.maximum.at(best, side, scores.values[rows])
    return best
