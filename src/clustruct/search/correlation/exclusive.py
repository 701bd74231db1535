"""Correlation clustering in which items of one source never share a cluster.

    maximise   sum over pairs together of K_ab,     no cluster has two items of one source

Of two sources such clusters are pairs: the best clustering is the best one-to-one matching, which is found
exactly. Of three and more the problem is hard, as matching in three dimensions is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clustruct.core.exceptions import DataError
from clustruct.core.partitions import canonical_labels, connected_items
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores

from .graph import ListedGraph, check_labels, local_search, signed_graph

# Components of more items are not searched with a link for each two items of a source.
MOST_SEARCHED = 1000
# How often each of three sources or more is matched anew.
REMATCHED = 2
# Items of one source that may be tied by likely pairs: each two of them become a constraint.
MOST_TIED = 5000
NO_PAIRS = np.empty((0, 2), np.int64)


def matching(left: Ints, right: Ints, values: Floats) -> Ints:
    """The rows of the pairs (left[r], right[r]) that are matched, in order; the sum of their values is
    largest. Items are numbered from 0 on each side, and each pair is there at most once.

    Exact: an item is added by the shortest augmenting path, which stays in its component of the positive
    pairs. Own code, since scipy's sparse assignment takes 3.5 s for 50,000 items a side with 48,000 positive
    pairs in small components, scipy's dense one for each component 0.3 s, this one 0.01 s; and an oracle asks
    some thousand times.

    Examples
    --------
    >>> matching(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3.0, 2.0, 2.0]))
    array([1, 2])
    """
    from clustruct.search._kernels.best_mates import best_mates

    rows = np.flatnonzero(values > 0.0)
    if not len(rows):
        return rows
    a, b = left[rows], right[rows]
    order = np.argsort(a, kind="stable")
    indptr = np.zeros(int(a.max()) + 2, np.int64)
    np.cumsum(np.bincount(a), out=indptr[1:])
    mate = best_mates(indptr, b[order], values[rows][order], int(b.max()) + 1)
    return rows[mate[a] == b]


def exclusive(K: Any, sources: Any, *, thorough: bool = True, random_state: int = 0) -> Ints:
    """The clusters, numbered by first appearance; scores inside a source are passed over.

    Two sources are matched exactly. With three or more, components of the positive scores of up to 1,000
    items are searched where ``thorough`` (`local_search` with cannot-link). Otherwise, and in larger ones,
    source after source is matched with the clusters so far, which takes no pairs but those listed: for an
    oracle that is called very often.

    Examples
    --------
    >>> scores = PairScores(4, index=np.array([[0, 2], [0, 3], [1, 2]]), values=np.array([3.0, 2.0, 2.0]))
    >>> exclusive(scores, [0, 0, 1, 1])
    array([0, 1, 1, 0])
    """
    graph = signed_graph(K.list_pairs() if isinstance(K, PairScores) else K)
    m, of_item = graph.n_nodes, check_labels(sources, graph.n_nodes)
    if isinstance(graph, ListedGraph):
        index, values = graph.index, graph.values
    else:
        index, values = _upper_pairs(graph.scores())
    across = of_item[index[:, 0]] != of_item[index[:, 1]]
    scores = PairScores(m, index=index[across], values=values[across])
    if not thorough or of_item.max(initial=0) <= 1:
        return canonical_labels(_match_sources(scores, of_item, 0))
    return canonical_labels(_by_component(scores, of_item, random_state))


def _by_component(scores: PairScores, sources: Ints, random_state: int) -> Ints:
    (index, values), labels = scores.pairs_and_scores(), np.arange(scores.n_items, dtype=np.int64)
    for items, pairs in _parts(scores.n_items, index, values):
        number = np.searchsorted(items, index[pairs])
        part = PairScores(len(items), index=number, values=values[pairs])
        found = _solve_component(part, sources[items], random_state)
        _, first, cluster = np.unique(found, return_index=True, return_inverse=True)
        labels[items] = items[first][cluster]
    return labels


def _upper_pairs(scores: Any) -> tuple[Ints, Floats]:
    """The pairs of a dense matrix that have a score."""
    upper = sparse.coo_array(np.triu(scores, 1))
    return np.column_stack(upper.coords).astype(np.int64), upper.data


def _parts(m: int, index: Ints, values: Floats) -> list[tuple[Ints, Ints]]:
    """The items of each component of the positive pairs, in order, and all pairs inside it; of two items and
    more.
    """
    positive = index[values > 0.0]
    component = connected_items(m, positive)
    inside = np.flatnonzero(component[index[:, 0]] == component[index[:, 1]])
    of_pair = component[index[inside, 0]]
    by_pair, by_item = np.argsort(of_pair, kind="stable"), np.argsort(component, kind="stable")
    starts = np.searchsorted(component[by_item], np.arange(int(component.max(initial=-1)) + 2))
    pairs = np.split(inside[by_pair], np.flatnonzero(np.diff(of_pair[by_pair])) + 1) if len(inside) else []
    numbers = [] if not pairs else component[index[[part[0] for part in pairs], 0]].tolist()
    return [(by_item[starts[c] : starts[c + 1]], part) for c, part in zip(numbers, pairs, strict=True)]


def _solve_component(scores: PairScores, sources: Ints, random_state: int) -> Ints:
    """The clusters of a component."""
    if len(sources) == 2:
        return np.zeros(2, np.int64)
    different = np.unique(sources)
    if len(different) == 2 or len(sources) > MOST_SEARCHED:
        return _match_sources(scores, sources, REMATCHED)
    a, b = np.triu_indices(len(sources), 1)
    links = np.column_stack([a, b])[sources[a] == sources[b]]
    return local_search(scores, cannot_link=links, random_state=random_state)


def _match_sources(scores: PairScores, sources: Ints, again: int) -> Ints:
    """Source by source, the largest first: its items are matched with the clusters so far, exactly. Of three
    sources and more each is then taken out and matched with all others, ``again`` and again, which never
    lowers the sum.
    """
    sizes = np.bincount(sources)
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)].tolist()
    owner, done = np.arange(len(sources), dtype=np.int64), np.zeros(len(sources), np.bool_)
    for source in order * (1 if len(order) <= 2 else 1 + again):
        mine = sources == source
        owner = _match_again(scores, owner, done & ~mine, np.flatnonzero(mine))
        done |= mine
    return owner


def _match_again(scores: PairScores, owner: Ints, others: Bools, items: Ints) -> Ints:
    """The clusters of the others, and of the items of one source those that suit them best."""
    index, values = scores.pairs_and_scores()
    new = np.full(len(owner), -1, np.int64)
    new[others] = np.unique(owner[others], return_inverse=True)[1]
    k = int(new.max(initial=-1)) + 1
    mine = np.zeros(len(owner), np.bool_)
    mine[items] = True
    first, second = index.T
    forth, back = others[first] & mine[second], mine[first] & others[second]
    places = np.r_[first[forth], second[back]], np.r_[second[forth], first[back]]
    between = np.r_[values[forth], values[back]]
    sums = sparse.coo_array((between, (new[places[0]], places[1])), shape=(k, len(owner))).tocsr()
    clusters, found = sums.tocoo().coords
    chosen = matching(clusters, found, sums.data)
    new[items] = k + np.arange(len(items))
    new[found[chosen]] = clusters[chosen]
    new[~(others | mine)] = k + len(items) + np.arange(np.count_nonzero(~(others | mine)))
    return new


def source_pairs(sources: Ints, index: Ints, values: Floats, pieces: Ints) -> Ints:
    """The pairs of items of one source that a search could put together: those that positive scores and
    pieces tie. Two of one piece are left as they are.

    >>> pairs, scores = np.array([[0, 2], [1, 2], [2, 3]]), np.array([1.0, 2.0, -1.0])
    >>> source_pairs(np.array([0, 0, 1, 0]), pairs, scores, np.arange(4)).tolist()
    [[0, 1]]
    """
    tied = connected_items(int(pieces.max(initial=-1)) + 1, pieces[index[values > 0.0]])[pieces]
    cell = np.unique(tied * (int(sources.max(initial=0)) + 1) + sources, return_inverse=True)[1]
    order = np.argsort(cell, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    pairs = np.concatenate([NO_PAIRS, *(_all_pairs(items) for items in parts if len(items) > 1)])
    return pairs[pieces[pairs[:, 0]] != pieces[pairs[:, 1]]]


def _all_pairs(items: Ints) -> Ints:
    if len(items) > MOST_TIED:
        raise DataError(
            f"{len(items):,} items of one source are tied by likely pairs: too many to be kept apart one by "
            "one; group them without known groups and constraints"
        )
    a, b = np.triu_indices(len(items), 1)
    return np.column_stack([items[a], items[b]])
