"""A run on groups that live on: new items are scored, put into groups, and the groups keep their ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from clustruct.core.typing import Bools, Ints
from clustruct.data import PairScores

from .assign import NEW, Assignment, assign
from .changes import Changes, compare, compare_parts
from .constraints import Constraints
from .ledger import digest, fresh_id
from .matching import match_groups, with_ids

G = TypeVar("G", bound=Hashable)


@dataclass(frozen=True)
class NamedProposal:
    """A change of groups that the scores speak for and that was not made, by ids.

    Attributes
    ----------
    kind : {"merge", "split"}
        "merge" or "split".
    groups : tuple of str
        Ids of the groups that would be merged, or of the one that would be split.
    gain : float
        By how much the score would rise.
    parts : tuple of tuple of str, default=()
        For a split, the items of each part.
    """

    kind: Literal["merge", "split"]
    groups: tuple[str, ...]
    gain: float
    parts: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Update:
    """Groups after a run.

    Attributes
    ----------
    groups : mapping
        Group id of each item, old and new.
    changes : Changes
        What became of each group.
    proposals : tuple of NamedProposal
        Merges and splits of known groups that were not done, the largest gain first.
    freed : tuple of str
        Old items that a decision has taken out of their group.
    """

    groups: Mapping[str, str]
    changes: Changes
    proposals: tuple[NamedProposal, ...]
    freed: tuple[str, ...]


def update_groups(
    existing: Mapping[str, str],
    items: Sequence[str],
    scores: PairScores,
    *,
    constraints: Constraints | None = None,
    confirmed: Mapping[str, int] | None = None,
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
    constraints : Constraints, optional
        What people said; it holds exactly.
    confirmed : mapping, optional
        Items of confirmed groups (`State.confirmed`), which a revision neither splits nor merges.
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
    names, known = numbered([*map(existing.get, items)])
    held = constraints or Constraints()
    found = assign(
        scores,
        known,
        must_link=held.must_link(numbers),
        cannot_link=held.cannot_link(numbers),
        confirmed=np.array([confirmed.get(item, NEW) for item in items]) if confirmed else None,
        revise=revise,
        settled=None if loose is None else (known != NEW) & _where_not(items, loose),
        sweeps=sweeps,
        random_state=random_state,
    )
    touched = _touched(known, found.labels)
    groups = _named(existing, items, found.labels, touched, confirmed or {}, fresh)
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


def numbered(groups: Sequence[G | None]) -> tuple[list[G], Ints]:
    """The groups of items in the order of first appearance, and the number of each item's; `NEW` for None.

    >>> numbered(["g", None, "h", "g"])
    (['g', 'h'], array([ 0, -1,  1,  0]))
    """
    names = [name for name in dict.fromkeys(groups) if name is not None]
    number: dict[G | None, int] = {name: g for g, name in enumerate(names)}
    number[None] = NEW
    return names, np.fromiter(map(number.__getitem__, groups), np.int64, len(groups))


def _touched(known: Ints, labels: Ints) -> Ints:
    """The items of known groups and clusters that are not each other: all others are as they were.

    >>> _touched(np.array([0, 0, 1, 2, NEW]), np.array([0, 0, 1, 2, 2])).tolist()
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


def _named(
    existing: Mapping[str, str],
    items: Sequence[str],
    labels: Ints,
    touched: Ints,
    confirmed: Mapping[str, int],
    fresh: Callable[[str], str] | None,
) -> dict[str, str]:
    """The clusters of the items touched with the ids that they keep; all others stay in their groups."""
    new = {items[a]: y for a, y in zip(touched.tolist(), labels[touched].tolist(), strict=True)}
    prefer = {existing[item] for item in confirmed if item in existing}
    kept = match_groups(existing, new, prefer=prefer)
    if fresh is None:
        # The state as far as this run has to do with it; the number of items tells days apart.
        near = digest({item: existing.get(item, "") for item in new})
        state, taken = (near, len(existing)), set(existing.values())
        fresh = lambda item: fresh_id(*state, item, taken=taken)  # noqa: E731
    return {**existing, **with_ids(new, kept, fresh)}


def _proposals(found: Assignment, items: Sequence[str], names: Sequence[str]) -> tuple[NamedProposal, ...]:
    return tuple(
        NamedProposal(
            p.kind,
            tuple(names[g] for g in p.groups),
            p.gain,
            tuple(tuple(items[a] for a in part) for part in p.parts),
        )
        for p in found.proposals
    )
