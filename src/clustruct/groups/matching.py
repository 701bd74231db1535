"""Which new cluster keeps which old id: the best one-to-one match of two clusterings of (mostly) the same
items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from clustruct.core.typing import Ints

C = TypeVar("C", bound=Hashable)
# Sums of scaled overlaps stay whole numbers below this, so that the assignment is exact in float64.
EXACT = 2**53
# A component with more cells than this is matched as a sparse graph.
MOST_CELLS = 4_000_000


def match_groups(
    old: Mapping[str, str], new: Mapping[str, C], *, prefer: Collection[str] = ()
) -> dict[C, str | None]:
    r"""The old id that each new cluster keeps, or None for a cluster that needs an id of its own.

    With n_gc the number of items that old group g and new cluster c share,

    .. math:: \max_M \sum_{(g, c) \in M} n_{gc}

    over the one-to-one matches M of groups and clusters that share an item. Items that only one of the two
    has are passed over. The groups in ``prefer`` (confirmed ones, say) get a cluster before any other counts.
    Among equal matches earlier groups (in the order of their ids) keep theirs, then clusters with the
    smallest items get them: the answer depends on the two partitions alone, not on the order of items or
    the names of clusters.

    Parameters
    ----------
    old : mapping
        Group id of each item that had one.
    new : mapping
        Cluster of each item now, any hashable.
    prefer : collection of str, default=()
        Ids that are kept first.

    Returns
    -------
    dict
        The old id, or None, by the new cluster.

    Notes
    -----
    Cost O(items), and an optimal assignment (cubic at worst) inside each set of groups and clusters that
    overlap; where groups keep their items these sets are pairs.

    Examples
    --------
    >>> old = {"a": "g1", "b": "g1", "c": "g2"}
    >>> match_groups(old, {"a": 0, "b": 0, "c": 0, "d": 1})
    {0: 'g1', 1: None}
    >>> match_groups(old, {"a": 0, "b": 1, "c": 2})
    {0: 'g1', 1: None, 2: 'g2'}
    """
    kept: dict[C, str | None] = dict.fromkeys(new.values())
    shared = Counter((old[item], cluster) for item, cluster in new.items() if item in old)
    owned = {cluster: group for group, cluster in shared}
    if len(owned) == len(shared) == len({group for group, _ in shared}):
        return kept | owned  # nobody else wants any of them, as on most days
    groups = sorted({group for group, _ in shared})
    clusters = _by_smallest_item(new, {cluster for _, cluster in shared})
    row = {group: r for r, group in enumerate(groups)}
    column = {cluster: c for c, cluster in enumerate(clusters)}
    overlap = sparse.csr_array(
        (
            np.fromiter(shared.values(), np.int64, len(shared)),
            ([row[group] for group, _ in shared], [column[cluster] for _, cluster in shared]),
        ),
        shape=(len(groups), len(clusters)),
    )
    first = np.array([group in frozenset(prefer) for group in groups])
    for r, c in _best_match(overlap, first):
        kept[clusters[c]] = groups[r]
    return kept


def with_ids(
    new: Mapping[str, C], kept: Mapping[C, str | None], fresh: Callable[[str], str]
) -> dict[str, str]:
    """The group id of each item: the one its cluster keeps, or a fresh one.

    ``fresh`` is asked once for each cluster without an id, with the smallest of its items.

    Parameters
    ----------
    new : mapping
        The cluster of each item.
    kept : mapping
        The id that each cluster keeps, or None.
    fresh : callable
        Makes an id, given an item.

    Returns
    -------
    dict
        The group id of each item.

    Examples
    --------
    >>> with_ids({"a": 0, "b": 1, "c": 1}, {0: "g1", 1: None}, lambda item: f"new-{item}")
    {'a': 'g1', 'b': 'new-b', 'c': 'new-b'}
    """
    wanting = [cluster for cluster, name in kept.items() if name is None]
    made = {cluster: fresh(item) for cluster, item in _smallest_items(new, frozenset(wanting)).items()}
    return {item: kept[cluster] or made[cluster] for item, cluster in new.items()}


def _by_smallest_item(new: Mapping[str, C], wanted: Collection[C]) -> list[C]:
    return list(_smallest_items(new, wanted))


def _smallest_items(new: Mapping[str, C], wanted: Collection[C]) -> dict[C, str]:
    """The smallest item of each cluster wanted, clusters in the order of these."""
    smallest: dict[C, str] = {}
    for item, cluster in new.items():
        if cluster in wanted and item < smallest.get(cluster, item + "\0"):
            smallest[cluster] = item
    return dict(sorted(smallest.items(), key=lambda entry: entry[1]))


def _best_match(overlap: sparse.csr_array, first: np.ndarray) -> Iterable[tuple[int, int]]:
    """(row, column) of each matched pair, component by component."""
    n, k = overlap.shape
    edges = overlap.tocoo()
    rows, columns = (np.asarray(c, dtype=np.int64) for c in edges.coords)
    graph = sparse.coo_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + k, n + k))
    component = sparse.csgraph.connected_components(graph, directed=False)[1]
    order = np.lexsort((columns, rows, component[rows]))
    rows, columns, counts = rows[order], columns[order], edges.data[order]
    starts = np.flatnonzero(np.r_[True, np.diff(component[rows]) > 0])
    for start, stop in zip(starts, np.r_[starts[1:], len(rows)], strict=True):
        if stop - start == 1:
            yield int(rows[start]), int(columns[start])
        else:
            part = slice(start, stop)
            yield from _matched_component(rows[part], columns[part], counts[part], first)


def _matched_component(
    rows: Ints, columns: Ints, counts: Ints, first: np.ndarray
) -> Iterable[tuple[int, int]]:
    groups, r = np.unique(rows, return_inverse=True)
    clusters, c = np.unique(columns, return_inverse=True)
    weights = _weights(counts, r, c, first[rows], len(groups), len(clusters))
    solve = _dense_match if len(groups) * len(clusters) <= MOST_CELLS else _sparse_match
    for at in solve(weights, r, c, (len(groups), len(clusters))):
        yield int(rows[at]), int(columns[at])


def _weights(counts: Ints, r: Ints, c: Ints, first: np.ndarray, n: int, k: int) -> np.ndarray:
    """Overlaps, those of preferred groups above all others, with room below 1 for ties: the earlier the
    better.
    """
    total = int(counts.sum())
    primary = counts + np.where(first, total + 1, 0)
    # A match has at most min(n, k) pairs, so that the second part of its sum stays below `unit`.
    early = (n - r) * k + (k - c)
    unit = min(n, k) * (n + 1) * k + 1
    if int(primary.max()) * min(n, k) * unit >= EXACT:  # ties are then as the solver leaves them
        return primary.astype(np.float64)
    return (primary * unit + early).astype(np.float64)


def _dense_match(weights: np.ndarray, r: Ints, c: Ints, shape: tuple[int, int]) -> Iterable[int]:
    table, place = np.zeros(shape), np.full(shape, -1, np.int64)
    table[r, c], place[r, c] = weights, np.arange(len(r))
    found = place[linear_sum_assignment(table, maximize=True)]
    return [int(at) for at in found if at >= 0]


def _sparse_match(weights: np.ndarray, r: Ints, c: Ints, shape: tuple[int, int]) -> Iterable[int]:
    """The same with a column of its own, worth nothing, for each row that stays unmatched."""
    n, k = shape
    dear = float(weights.max()) + 1.0  # the solver knows no weight 0
    costs = np.r_[dear - weights, np.full(n, dear)]
    padded = sparse.csr_array((costs, (np.r_[r, np.arange(n)], np.r_[c, k + np.arange(n)])), shape=(n, k + n))
    rows, columns = sparse.csgraph.min_weight_full_bipartite_matching(padded)
    chosen = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    return [at for at in range(len(r)) if chosen[int(r[at])] == int(c[at])]
