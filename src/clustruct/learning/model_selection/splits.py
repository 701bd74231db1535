"""Cutting labelled data into sets, and sets into folds."""

from __future__ import annotations

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.random import RandomStateLike, as_generator
from clustruct.core.typing import Ints, LabelsLike


def split_by_clusters(labels: LabelsLike, n_sets: int, *, random_state: RandomStateLike = 0) -> list[Ints]:
    """Cut a labelled set into ``n_sets`` parts of whole clusters, of nearly equal size.

    A clusterer learns from several sets, and chooses C by holding sets out. Where there is one large set,
    as in record linkage, its clusters are dealt out: the largest first, each to the part that has fewest
    items so far, equal ones in random order. No cluster is cut, so every part is a right clustering
    of its items. Returns the item numbers of each part, in their original order.

    Parameters
    ----------
    labels : array-like
        The cluster of each item.
    n_sets : int
        How many parts.
    random_state : int, Generator or None, default=0
        Seed, or a generator, of whatever is drawn.

    Returns
    -------
    list of array of int
        The item numbers of each part.

    Examples
    --------
    >>> [part.tolist() for part in split_by_clusters(["a", "a", "b", "c", "b", "d"], 2)]
    [[0, 1, 3], [2, 4, 5]]
    """
    y = canonical_labels(labels)
    sizes = np.bincount(y)
    if not 1 <= n_sets <= len(sizes):
        raise ValueError(f"n_sets must be between 1 and the number of clusters, {len(sizes)}, not {n_sets}")
    rng = as_generator(random_state)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    # scikit-learn's GroupKFold deals in the same way, but orders equal clusters otherwise for a given seed.
    filled = np.zeros(n_sets, np.int64)
    part = np.empty(len(sizes), np.intp)
    for c in order:
        part[c] = np.argmin(filled)
        filled[part[c]] += sizes[c]
    return [np.flatnonzero(part[y] == p) for p in range(n_sets)]
