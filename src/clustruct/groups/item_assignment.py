"""New items for known groups: each joins one or opens a new one; what would be better is proposed, or
done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from clustruct.core.partitions import canonical_labels, chained_pairs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, PairScores
from clustruct.search.correlation.constrained import (
    listed_pairs,
    numbers,
    search_nodes,
    tied_items,
    touched_graph,
    without_anchors,
)
from clustruct.search.correlation.exclusive import source_pairs

NEW = -1
T = TypeVar("T", int, str)


@dataclass(frozen=True)
class Proposal(Generic[T]):
    """A change of known groups that the scores speak for and that was not made, what the sum of scores would
    gain, and the items of each part of a split. Groups and items are numbers or ids.
    """

    kind: Literal["merge", "split"]
    groups: tuple[T, ...]
    gain: float
    parts: tuple[tuple[T, ...], ...] = ()


@dataclass(frozen=True)
class Assignment:
    """Clusters of all items, old and new, numbered by first appearance.

    ``freed`` are old items that had to leave their group, since a constraint sets them apart from others in
    it; ``proposals`` are merges and splits of known groups that were not done, the largest gain first.
    """

    labels: Ints
    freed: tuple[int, ...] = ()
    proposals: tuple[Proposal[int], ...] = field(default=())


def assign(
    scores: PairScores,
    groups: Any,
    *,
    evidence: Evidence | None = None,
    revise: bool = False,
    settled: Any = None,
    sweeps: int = 100,
    random_state: int = 0,
) -> Assignment:
    r"""Put new items into known groups, or into new ones.

    .. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab}

    over the clusterings y that keep each known group together and any two of them apart. Evidence comes
    first: known groups that a piece ties are one group, and of two items of one group that differ the one
    with the weaker ties leaves it, alone or with the part of the group that its scores put beside it,
    whichever scores more.

    Parameters
    ----------
    scores : PairScores
        Scores of listed pairs: those that touch a new item, and as many pairs of old items as there are.
        Pairs that are not listed count 0. Where they have sources, no new item joins one of its own
        source.
    groups : object
        For each item the number of its known group (0, 1, ...), or -1 for a new item.
    evidence : Evidence, optional
        What is known of the items. Labelled pieces are what people have confirmed to be one group: they stay
        together, and apart from each other, also where groups are revised. Complete ones are refused.
    revise : bool, default=False
        Also merge and split known groups where that gains. A group is split only where the pairs inside
        it are listed (enough of them to connect its items); otherwise it moves as a whole.
    settled : object, optional
        For each item whether it stays in its group even so; such groups are not merged with each other.
    sweeps, random_state
        As for `clustruct.search.correlation.local_search`.

    Returns
    -------
    Assignment
        The cluster of each item, and the changes of known groups that scores speak for.

    Notes
    -----
    Cost O(items) to look at the groups; the search costs in proportion to the listed pairs.

    Examples
    --------
    >>> pairs = np.array([[0, 3], [1, 3], [2, 4], [3, 4]])
    >>> scores = PairScores(5, index=pairs, values=np.array([2.0, 1.0, -1.0, -3.0]))
    >>> assign(scores, [0, 0, 1, -1, -1]).labels
    array([0, 0, 1, 0, 2])
    """
    index, values = listed_pairs(scores)
    known = numbers(groups, scores.n_items, "groups")
    given = Evidence.of_pairs(scores.n_items) if evidence is None else evidence
    if given.complete.any():
        raise ValueError("complete groups do not go with new items, which may join any group")
    must, cannot = given.must_link, given.cannot_link
    if scores.sources is not None:
        tied = tied_items(len(known), np.concatenate([chained_pairs(known), must]))
        cannot = np.concatenate([cannot, source_pairs(scores.sources, index, values, tied)])
    fixed = np.where(np.append(given.labelled, np.False_)[given.piece], given.piece, NEW)
    calm = np.full(len(known), not revise) if settled is None else np.asarray(settled, np.bool_)
    near = _near(known, index, must, cannot)
    place = np.cumsum(near) - 1
    index, must, cannot = place[index], place[must], place[cannot]
    search = _AnchoredSearch(index, values, cannot, sweeps, random_state)
    found = _assign_near(search, known[near], must, fixed[near], calm[near], revise)
    return _for_all(found, known, near)


def _assign_near(
    search: _AnchoredSearch, known: Ints, must: Ints, fixed: Ints, calm: Bools, revise: bool
) -> Assignment:
    """The answer for new items and the groups near them."""
    labels, kept, freed = _loosen_and_place(search, known, must)
    if revise:
        free = _revisable(kept, search.index) & ~calm
        nodes, anchored = _tie_items(np.where(free, NEW, kept), must, fixed)
        anchored[nodes[calm & (kept >= 0)]] = True
        labels = search.run(nodes, anchored, start=labels)
        kept = np.where(calm, kept, NEW)
        if not (kept >= 0).any():
            return Assignment(labels, freed)
    proposals = [*search.merges(labels, kept), *search.splits(labels, kept, must)]
    return Assignment(labels, freed, tuple(sorted(proposals, key=lambda p: (-p.gain, p.groups))))


def _loosen_and_place(search: _AnchoredSearch, known: Ints, must: Ints) -> tuple[Ints, Ints, tuple[int, ...]]:
    """The clusters where nothing is revised, the known groups without the items that had to leave, and these.

    Of a group with items that differ one of them leaves, or the part of the group that goes with it:
    whichever scores more.
    """
    kept, freed = _loosen(known, must, search, _weaker_side)
    labels = search.run(*_tie_items(kept, must))
    if not freed:
        return labels, kept, freed
    cut, parted = _loosen(known, must, search, _smaller_part)
    found = search.run(*_tie_items(cut, must))
    better = search.value(found) > search.value(labels)
    return (found, cut, parted) if better else (labels, kept, freed)


def _near(groups: Ints, *pairs: Ints) -> Bools:
    """The new items, and those of groups that a pair touches: all others stay as they are."""
    k = int(groups.max(initial=-1)) + 1
    touched = np.zeros(k + 1, np.bool_)  # the last entry is for new items
    for ends in pairs:
        touched[groups[ends.ravel()]] = True
    touched[k] = True
    return touched[groups]


def _for_all(found: Assignment, groups: Ints, near: Bools) -> Assignment:
    """An answer for some items as one for all of them."""
    from clustruct.search._kernels.anchored import by_appearance

    items, n_found = np.flatnonzero(near), int(found.labels.max(initial=-1)) + 1
    labels = groups + n_found
    labels[near] = found.labels
    freed = tuple(items[list(found.freed)].tolist())
    parts = [tuple(tuple(items[list(part)].tolist()) for part in p.parts) for p in found.proposals]
    proposals = (replace(p, parts=part) for p, part in zip(found.proposals, parts, strict=True))
    n_labels = n_found + int(groups.max(initial=-1)) + 1
    return Assignment(by_appearance(labels, n_labels), freed, tuple(proposals))


def _tie_items(groups: Ints, must: Ints, fixed: Ints | None = None) -> tuple[Ints, Bools]:
    """The node of each item, items that stay together (known groups, must-links, confirmed items) in one, and
    which nodes hold a known group; with ``fixed``, something confirmed instead.
    """
    ties = [chained_pairs(groups), must] + ([] if fixed is None else [chained_pairs(fixed)])
    nodes = tied_items(len(groups), np.concatenate(ties))
    anchors = groups if fixed is None else fixed
    anchored = np.zeros(int(nodes.max(initial=-1)) + 1, np.bool_)
    anchored[nodes[anchors >= 0]] = True
    return nodes, anchored


# Who leaves: asked with the search, the known groups, the must-links, two items that must not be together,
# and all that are tied to them.
_Leaving: TypeAlias = "Callable[[_AnchoredSearch, Ints, Ints, Ints, Ints], Ints]"


def _loosen(
    groups: Ints, must: Ints, search: _AnchoredSearch, leaving: _Leaving
) -> tuple[Ints, tuple[int, ...]]:
    """The known groups without items that a constraint separates from others in them, and these items."""
    kept, freed, cannot = groups.copy(), list[int](), search.cannot
    while len(cannot):
        whole = tied_items(len(groups), np.concatenate([chained_pairs(kept), must]))
        clash = cannot[whole[cannot[:, 0]] == whole[cannot[:, 1]]]
        if not len(clash):
            break
        rest = np.flatnonzero(whole == whole[clash[0, 0]])
        out = leaving(search, kept, must, clash[0], rest)
        kept[out] = NEW
        freed += out.tolist()
    return kept, tuple(sorted(freed))


def _weaker_side(search: _AnchoredSearch, groups: Ints, must: Ints, clash: Ints, rest: Ints) -> Ints:
    """Of two items that must not be together the one (with all that must be with it) that has the weaker ties
    to the rest; where they are equal the one with fewer such items, then the later one.
    """
    piece = tied_items(len(groups), must)
    sides = [np.flatnonzero(piece == piece[item]) for item in clash]
    return min(sides, key=lambda s: (_tie(s, rest, search.index, search.values), len(s), -int(s[0])))


def _smaller_part(search: _AnchoredSearch, groups: Ints, must: Ints, clash: Ints, rest: Ints) -> Ints:
    """Of two items that must not be together the one with fewer items on its side, where the group is cut in
    two as its scores have it. A group whose pairs are not listed is not cut.
    """
    nodes = _tie_items(np.where(_revisable(groups, search.index), NEW, groups), must)[0]
    if nodes[clash[0]] == nodes[clash[1]]:
        return _weaker_side(search, groups, must, clash, rest)
    sides = search.cut(nodes, clash, rest)
    return min(sides, key=lambda side: (len(side), -int(side[0])))


def _tie(side: Ints, whole: Ints, index: Ints, values: Floats) -> float:
    inside = np.isin(index, side)
    other = np.isin(index, np.setdiff1d(whole, side))
    crossing = (inside[:, 0] & other[:, 1]) | (inside[:, 1] & other[:, 0])
    return float(values[crossing].sum())


def _revisable(groups: Ints, index: Ints) -> Bools:
    """The items of groups whose listed pairs connect them."""
    first, second = groups[index[:, 0]], groups[index[:, 1]]
    part = tied_items(len(groups), index[(first == second) & (first >= 0)])
    old = np.flatnonzero(groups >= 0)
    k = int(groups.max(initial=-1)) + 1
    leader, whole = np.zeros(k + 1, np.int64), np.ones(k + 1, np.bool_)
    leader[groups[old]] = part[old]
    whole[groups[old[part[old] != leader[groups[old]]]]] = False
    whole[k] = False  # where new items look
    return whole[groups]


@dataclass(frozen=True)
class _AnchoredSearch:
    """Listed scores and constraints, searched by nodes."""

    index: Ints
    values: Floats
    cannot: Ints
    sweeps: int
    random_state: int

    def run(self, nodes: Ints, anchored: Bools, start: Ints | None = None) -> Ints:
        """Canonical labels of all items."""
        return search_nodes(
            self.index,
            self.values,
            nodes,
            anchored,
            self.cannot,
            start=start,
            sweeps=self.sweeps,
            random_state=self.random_state,
        )

    def value(self, labels: Ints) -> float:
        """The sum of the scores inside clusters."""
        first, second = labels[self.index].T
        return float(self.values[first == second].sum())

    def cut(self, nodes: Ints, clash: Ints, items: Ints) -> list[Ints]:
        """Some items in two parts, with an item of the clash in each: what would go with neither is on the
        side it scores better with, or on that of the first.
        """
        inside = np.zeros(len(nodes), np.bool_)
        inside[items] = True
        listed = inside[self.index].all(axis=1)
        apart = self.cannot[inside[self.cannot].all(axis=1)]
        apart = apart[nodes[apart[:, 0]] != nodes[apart[:, 1]]]
        part = replace(self, index=self.index[listed], values=self.values[listed], cannot=apart)
        anchored = np.zeros(int(nodes.max()) + 1, np.bool_)
        anchored[nodes[clash]] = True
        labels = part.run(nodes, anchored)
        pairs = np.concatenate([part.index, apart])
        scores = np.concatenate([part.values, np.full(len(apart), -np.inf)])
        ends, scores = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([scores, scores])
        sums = np.zeros((2, int(labels.max()) + 1))
        for side, sum_ in zip(labels[clash], sums, strict=True):
            to = labels[ends[:, 1]] == side
            np.add.at(sum_, labels[ends[to, 0]], scores[to])
        second = sums[1] > sums[0]
        second[labels[clash]] = [False, True]
        return [items[~second[labels[items]]], items[second[labels[items]]]]

    def merges(self, labels: Ints, groups: Ints) -> list[Proposal[int]]:
        """Sets of clusters with a known group each whose union scores more."""
        from clustruct.search._kernels.anchored import merge_with_anchors

        every = np.ones(int(labels.max(initial=-1)) + 1, np.bool_)
        graph, touched, apart = touched_graph(self.index, self.values, labels, every, self.cannot)
        if not len(touched):
            return []
        free = without_anchors(graph.with_apart(apart, np.inf))
        joined = merge_with_anchors(*free.csr, free.anchored)
        owner = np.full(int(labels.max()) + 1, NEW)
        owner[labels[groups >= 0]] = groups[groups >= 0]
        found = []
        for cluster in np.flatnonzero(np.bincount(joined) > 1):
            members = np.flatnonzero(joined == cluster)
            old = np.unique(owner[touched[members]])
            old = old[old >= 0]
            if len(old) > 1:
                gain = graph.value(np.where(joined == cluster, 0, 1 + np.arange(len(joined))))
                found.append(Proposal("merge", tuple(old.tolist()), gain))
        return found

    def splits(self, labels: Ints, groups: Ints, must: Ints) -> list[Proposal[int]]:
        """Known groups whose items, with the new ones among them, score more when they are cut up."""
        first, second = labels[self.index].T
        inside = first == second
        wanted = _of_one_group(labels, groups, _revisable(groups, self.index))
        doubtful = np.zeros(len(wanted), np.bool_)
        doubtful[first[inside & (self.values < 0.0)]] = True
        pairs = np.flatnonzero(inside & (wanted & doubtful)[first])
        if not len(pairs):
            return []
        # All at once: no score ties one cluster to another.
        values, cluster = self.values[pairs], first[pairs]
        cut = replace(self, index=self.index[pairs], values=values, cannot=self.cannot[:0])
        nodes = tied_items(len(labels), must)
        parts = cut.run(nodes, np.zeros(int(nodes.max()) + 1, np.bool_))
        apart = parts[cut.index[:, 0]] != parts[cut.index[:, 1]]
        gain = -np.bincount(cluster, weights=values * apart)
        scale = np.bincount(cluster, weights=np.abs(values)) / np.maximum(np.bincount(cluster), 1)
        found = np.flatnonzero(gain > 1e-9 * scale)
        return [_split(np.flatnonzero(labels == c), parts, groups, float(gain[c])) for c in found.tolist()]


def _of_one_group(labels: Ints, groups: Ints, free: Bools) -> Bools:
    """Which clusters have items of one known group, all of which may be moved, and of no other."""
    n, old = int(labels.max(initial=-1)) + 1, groups >= 0
    low, high = np.full(n, len(labels)), np.full(n, NEW)
    np.minimum.at(low, labels[old], groups[old])
    np.maximum.at(high, labels[old], groups[old])
    bound = np.zeros(n, np.bool_)
    bound[labels[old & ~free]] = True
    return (low == high) & ~bound


def _split(items: Ints, parts: Ints, groups: Ints, gain: float) -> Proposal[int]:
    """The parts of a cluster, in the order of their first items."""
    mine = canonical_labels(parts[items])
    members = tuple(tuple(items[mine == p].tolist()) for p in range(int(mine.max()) + 1))
    return Proposal("split", (int(groups[items].max()),), gain, members)
