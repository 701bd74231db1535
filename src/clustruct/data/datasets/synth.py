"""Synth: pairs whose features tell which two clusters they join, under noise (Finley 2009, section 4.5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.random import RandomStateLike, as_generator
from clustruct.data.itemsets import ItemSet

__all__ = ["make_synth"]

# With noise 0.2 a good optimiser makes no error at all. `python -m studies.kmeans2008`, mean test losses
# of Iterative, Spectral, Pair and None: 5, 9, 4, 77 at 0.4; 52, 61, 48, 77 at 0.5; 71, 73, 69, 77 at 0.6; and
# at 0.8 nothing is learned.


def make_synth(
    n_sets: int = 5,
    n_clusters: int = 5,
    cluster_size: int = 20,
    region_size: int = 50,
    active: int = 5,
    noise: float = 0.2,
    random_state: RandomStateLike = 0,
) -> tuple[list[ItemSet], list[NDArray[np.int64]]]:
    """Item sets with one region of pair features for each unordered pair of clusters, own pairs included.

    A pair of items of clusters i and j has ``active`` ones, drawn anew for each pair, among the
    ``region_size`` features of region {i, j}; before that each of i and j is replaced by a uniform
    cluster with probability ``noise``. The defaults are those of the dissertation: 5 sets of 5 clusters of 20
    items, 15 regions, 750 features. Returns the sets (CSR pair features) and their labels; unlike in
    real tasks the label numbers mean the same in every set.

    Parameters
    ----------
    n_sets : int, default=5
        How many sets.
    n_clusters : int, default=5
        How many clusters each has.
    cluster_size : int, default=20
        How many items a cluster has.
    region_size : int, default=50
        How many features a region has.
    active : int, default=5
        How many of them are 1 for a pair.
    noise : float, default=0.2
        The probability that a cluster is replaced by another one.
    random_state : int, Generator or None, default=0
        Seed, or a generator, of whatever is drawn.

    Returns
    -------
    tuple of list of ItemSet, list of array
        The sets, and the labels of each.

    Examples
    --------
    >>> X, y = make_synth(n_sets=2, cluster_size=4)
    >>> X[0], len(y)
    (ItemSet(m=20, N_n=0, N_p=750), 2)
    >>> int(X[0].pairs.sum()) == 5 * 20 * 19 // 2
    True
    """
    for name, value in (("n_sets", n_sets), ("n_clusters", n_clusters), ("cluster_size", cluster_size)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")
    if n_clusters * cluster_size < 2:
        raise ValueError("a set needs two items at least: raise n_clusters or cluster_size")
    if not 1 <= active <= region_size:
        raise ValueError(f"active must be between 1 and region_size, {region_size}, not {active}")
    if not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise is a probability, not {noise}")
    rng = as_generator(random_state)
    labels = [rng.permutation(np.repeat(np.arange(n_clusters), cluster_size)) for _ in range(n_sets)]
    sets = [_item_set(y, n_clusters, region_size, active, noise, rng) for y in labels]
    return sets, labels


def _item_set(
    y: NDArray[np.int64],
    n_clusters: int,
    region_size: int,
    active: int,
    noise: float,
    rng: np.random.Generator,
) -> ItemSet:
    a, b = np.triu_indices(len(y), 1)
    ends = np.stack([y[a], y[b]])
    replaced = rng.random(ends.shape) < noise
    ends = np.sort(np.where(replaced, rng.integers(0, n_clusters, ends.shape), ends), axis=0)
    region = ends[1] * (ends[1] + 1) // 2 + ends[0]
    # The places of the smallest of region_size random numbers are a uniform choice without repetition.
    chosen = np.argpartition(rng.random((len(a), region_size)), active - 1, axis=1)[:, :active]
    columns = np.sort(region[:, None] * region_size + chosen, axis=1).ravel()
    n_features = n_clusters * (n_clusters + 1) // 2 * region_size
    starts = np.arange(len(a) + 1) * active
    pairs = sparse.csr_array((np.ones(columns.size), columns, starts), shape=(len(a), n_features))
    return ItemSet(pairs=pairs)
