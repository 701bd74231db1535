"""Clusters get names: known groups keep their ids when new items come, or when items are grouped anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from clustruct.core.typing import Bools, Ints
from clustruct.data import Evidence, PairScores

from .changes import Changes, compare, compare_parts
from .item_assignment import NEW, Assignment, Proposal, assign
from .ledger import digest, fresh_id

C = TypeVar("C", bound=Hashable)
# Sums of scaled overlaps stay whole numbers below this, so that the assignment is exact in float64.
EXACT = 2**53
# A component with more cells than this is matched as a sparse graph.
MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class Update:
    """Groups after a run, by item, and what became of each.

    ``proposals`` are merges and splits of known groups that were not done, the largest gain first; ``freed``
    are old items that a decision has taken out of their group. ``confidence``, if it was asked for, says how
    sure the place of each item is that is new or has moved. So many new items were compared with nothing.
    """

    groups: Mapping[str, str]
    changes: Changes
    proposals: tuple[Proposal[str], ...]
    freed: tuple[str, ...]
    confidence: Mapping[str, float] | None = None
    n_uncompared: int = 0


def update_groups(
    existing: Mapping[str, str],
    items: Sequence[str],
    scores: PairScores,
    *,
    evidence: Evidence | None = None,
    revise: bool = False,
    loose: Collection[str] | None = None,
    fresh: Callable[[str], str] | None = None,
    sweeps: int = 100,
    random_state: int = 0,
) -> Update:
    """Put new items into known groups (`assign`), by the names of items and groups; ids are kept.

    Parameters
    ----------
    existing : mapping
        Group id of each known item. Those that are not among ``items`` stay where they are.
    items : sequence of str
        Names of the items that the scores are for, in their order; those without a group are new.
    scores : PairScores
        Scores of pairs of these items, at least of those that touch a new one.
    evidence : Evidence, optional
        What is known of the items, which holds exactly; a revision neither splits nor merges labelled pieces.
    revise : bool, default=False
        Whether known groups are merged and split where that gains.
    loose : collection of str, optional
        With ``revise``, the known items that may leave their group, or be merged with another; None: all.
    fresh : callable, optional
        Makes an id for a new group, given its first item; by default one that no group of ``existing``
        has, the same for the same state.
    sweeps, random_state
        As for `assign`.

    Returns
    -------
    Update
        The group of each item, and proposals for known groups.

    Examples
    --------
    >>> scores = PairScores(3, index=np.array([[0, 2], [1, 2]]), values=np.array([2.0, -1.0]))
    >>> found = update_groups({"a": "g1", "b": "g2"}, ["a", "b", "c"], scores)
    >>> found.groups, found.changes.summary()
    ({'a': 'g1', 'b': 'g2', 'c': 'g1'}, '1 group unchanged, 1 grown; 1 item added')
    """
    numbers = dict(zip(items, range(len(items)), strict=True))
    if len(numbers) < len(items):
        twice = next(name for a, name in enumerate(items) if numbers[name] != a)
        raise ValueError(f"the item {twice!r} is there twice")
    names, known = number_groups([*map(existing.get, items)])
    found = assign(
        scores,
        known,
        evidence=evidence,
        revise=revise,
        settled=None if loose is None else (known != NEW) & _where_not(items, loose),
        sweeps=sweeps,
        random_state=random_state,
    )
    touched = _changed_items(known, found.labels)
    prefer = set[str]()
    if evidence is not None:  # confirmed groups
        labelled = np.append(evidence.labelled, np.False_)[evidence.piece]
        prefer = {existing[items[a]] for a in np.flatnonzero(labelled & (known != NEW)).tolist()}
    groups = _with_names(existing, items, found.labels, touched, prefer, fresh)
    proposals = _proposals(found, items, names)
    some = [items[a] for a in touched.tolist()]
    changes = _changes(existing, groups, some, whole=len(existing) == np.count_nonzero(known != NEW))
    return Update(groups, changes, proposals, tuple(items[a] for a in found.freed))


def _where_not(items: Sequence[str], some: Collection[str]) -> Bools:
    return np.fromiter((item not in some for item in items), np.bool_, len(items))


def _changes(
    existing: Mapping[str, str], groups: Mapping[str, str], some: Sequence[str], *, whole: bool
) -> Changes:
    """What changed, which is in the groups of some items; ``whole``: these are all items of their groups."""
    was = {item: existing[item] for item in some if item in existing}
    now = {item: groups[item] for item in some}
    if whole:
        return compare_parts(was, now, existing, groups)
    return compare(existing, groups, only={*was.values(), *now.values()})


def number_groups(groups: Sequence[C | None]) -> tuple[list[C], Ints]:
    """The groups of items in the order of first appearance, and the number of each item's; `NEW` for None.

    >>> number_groups(["g", None, "h", "g"])
    (['g', 'h'], array([ 0, -1,  1,  0]))
    """
    names = [name for name in dict.fromkeys(groups) if name is not None]
    number: dict[C | None, int] = {name: g for g, name in enumerate(names)}
    number[None] = NEW
    return names, np.fromiter(map(number.__getitem__, groups), np.int64, len(groups))


def _changed_items(known: Ints, labels: Ints) -> Ints:
    """The items of known groups and clusters that are not each other: all others are as they were.

    >>> _changed_items(np.array([0, 0, 1, 2, NEW]), np.array([0, 0, 1, 2, 2])).tolist()
    [3, 4]
    """
    low, high = np.full(len(labels), len(labels)), np.full(len(labels), -2)
    np.minimum.at(low, labels, known)
    np.maximum.at(high, labels, known)
    mixed = (low != high)[labels] | (known == NEW)
    first, last = np.full(len(labels), len(labels)), np.full(len(labels), -1)
    old = known != NEW
    np.minimum.at(first, known[old], labels[old])
    np.maximum.at(last, known[old], labels[old])
    mixed[old] |= (first != last)[known[old]]
    # A group with one item in a mixed cluster is looked at as a whole, and so is the cluster.
    hit = np.zeros(len(labels), np.bool_)
    hit[labels[mixed]] = True
    return np.flatnonzero(hit[labels])


def _with_names(
    existing: Mapping[str, str],
    items: Sequence[str],
    labels: Ints,
    touched: Ints,
    prefer: Collection[str],
    fresh: Callable[[str], str] | None,
) -> dict[str, str]:
    """The clusters of the items touched with the ids that they keep; all others stay in their groups."""
    new = {items[a]: y for a, y in zip(touched.tolist(), labels[touched].tolist(), strict=True)}
    kept = match_groups(existing, new, prefer=prefer)
    if fresh is None:
        # The state as far as this run has to do with it; the number of items distinguishes days.
        near = digest({item: existing.get(item, "") for item in new})
        state, taken = (near, len(existing)), set(existing.values())
        fresh = lambda item: fresh_id(*state, item, taken=taken)  # noqa: E731
    return {**existing, **with_ids(new, kept, fresh)}


def _proposals(found: Assignment, items: Sequence[str], names: Sequence[str]) -> tuple[Proposal[str], ...]:
    return tuple(
        Proposal(
            p.kind,
            tuple(names[g] for g in p.groups),
            p.gain,
            tuple(tuple(items[a] for a in part) for part in p.parts),
        )
        for p in found.proposals
    )


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
