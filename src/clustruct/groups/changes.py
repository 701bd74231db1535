"""What changed between two groupings whose groups have ids: which groups grew, merged, split, came and
went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from clustruct.core.formatting import count, html_table

Status = Literal["unchanged", "grown", "shrunk", "changed", "merged", "split", "renamed", "new", "gone"]
STATUSES: tuple[Status, ...] = (
    "unchanged",
    "grown",
    "shrunk",
    "changed",
    "merged",
    "split",
    "renamed",
    "new",
    "gone",
)


class Move(NamedTuple):
    """An item that is in another group than before."""

    item: str
    old: str
    new: str


class GroupChange(NamedTuple):
    """One id, before and after.

    "merged" is said of the group that took in all that is left of another one, and of the one taken in;
    "split" of a group part of which has a new id, and of one whose id is gone and whose items are in
    several groups. ``sources`` are the other old groups that its items came from, ``targets`` the other new
    ones that they went to.
    """

    id: str
    status: Status
    before: int
    after: int
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changes:
    """What became of each group, and which items moved to another group, came or went."""

    moved: tuple[Move, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    _list: Callable[[], tuple[GroupChange, ...]] = field(repr=False, compare=False)

    @cached_property
    def groups(self) -> tuple[GroupChange, ...]:
        """One entry for each id of either side, in order of appearance; made when it is first asked for."""
        return self._list()

    def count(self) -> dict[Status, int]:
        """How many ids there are of each kind; a group that was renamed is one."""
        found = Counter(g.status for g in self.groups if g.before or g.status != "renamed")
        return {status: found[status] for status in STATUSES}

    def of(self, status: Status) -> list[GroupChange]:
        """The groups of one kind."""
        return [group for group in self.groups if group.status == status]

    def _repr_html_(self) -> str:
        """What notebooks show: the summary, and the groups that changed."""
        changed = [group for group in self.groups if group.status != "unchanged"]
        rows = [[group.id, group.status, group.before, group.after] for group in changed]
        return html_table(self.summary(), ["group", "status", "items before", "items now"], rows)

    def summary(self) -> str:
        """One line.

        >>> compare({"a": "g"}, {"a": "g", "b": "g", "c": "h"}).summary()
        '1 group grown, 1 new; 2 items added'
        """
        kinds = [(n, status) for status, n in self.count().items() if n]
        words = [f"{n:,} {s}" if at else f"{count(n, 'group')} {s}" for at, (n, s) in enumerate(kinds)]
        items = (("added", self.added), ("moved", self.moved), ("removed", self.removed))
        parts = [f"{count(len(held), 'item')} {word}" for word, held in items if held]
        return "; ".join([", ".join(words) or "no groups", ", ".join(parts) or "no item moved"])


def compare(
    old: Mapping[str, str], new: Mapping[str, str], *, only: Collection[str] | None = None
) -> Changes:
    """What changed from one grouping to another: each maps items to group ids, and the same id is the same
    group.

    ``only``: ids of the groups in which something may have changed, where that is known; the others are not
    looked at. Cost O(items).

    Parameters
    ----------
    old : mapping
        The group of each item before.
    new : mapping
        The group of each item now.
    only : collection of str, optional
        Ids of the groups that are looked at; all by default.

    Returns
    -------
    Changes
        Groups that changed, and items that moved, came or went.

    Examples
    --------
    >>> found = compare({"a": "g", "b": "g", "c": "h"}, {"a": "g", "b": "g", "c": "g"})
    >>> [(group.id, group.status, group.targets) for group in found.groups]
    [('g', 'merged', ()), ('h', 'merged', ('g',))]
    """
    if only is None:
        return compare_parts(old, new, old, new)
    was = {item: group for item, group in old.items() if group in only}
    now = {item: group for item, group in new.items() if group in only}
    return compare_parts(was, now, old, new)


def compare_parts(
    was: Mapping[str, str], now: Mapping[str, str], old: Mapping[str, str], new: Mapping[str, str]
) -> Changes:
    """`compare` of ``old`` and ``new``, of which ``was`` and ``now`` are all items of the groups in which
    something may have changed. Cost O(these items); the other groups are gone through when they are asked
    for.
    """

    def every() -> tuple[GroupChange, ...]:
        flows, sizes = _Flows(was, now), Counter(old.values())
        looked_at = flows.before.keys() | flows.after.keys()
        return tuple(
            flows.change(name)
            if name in looked_at
            else GroupChange(name, "unchanged", sizes[name], sizes[name])
            for name in dict.fromkeys([*dict.fromkeys(old.values()), *dict.fromkeys(new.values())])
        )

    moved = (Move(item, was[item], now[item]) for item in was if now.get(item, was[item]) != was[item])
    added = tuple(item for item in now if item not in was)
    return Changes(tuple(moved), added, tuple(item for item in was if item not in now), every)


class _Flows:
    """How many items went from which group to which."""

    def __init__(self, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        self.before, self.after = members(old), members(new)
        flow = Counter((old[item], new[item]) for item in old if item in new)
        self.left = Counter(old[item] for item in old if item in new)
        self.targets: dict[str, list[str]] = {}
        self.sources: dict[str, list[str]] = {}
        for g, h in sorted(flow, key=lambda pair: (-flow[pair], pair)):
            if g != h:
                self.targets.setdefault(g, []).append(h)
                self.sources.setdefault(h, []).append(g)
        # The groups that took in all that is left of another group, whose id is gone.
        ended = {(g, h) for (g, h), n in flow.items() if n == self.left[g] and g not in self.after}
        self.takers = {h for _, h in ended}
        self.renamed = {g: h for g, h in ended if h not in self.before and self.sources[h] == [g]}
        self._new_names = frozenset(self.renamed.values())

    def change(self, name: str) -> GroupChange:
        """What became of one group."""
        was, now = self.before.get(name, []), self.after.get(name, [])
        if was == now:  # as nearly all are from one day to the next
            return GroupChange(name, "unchanged", len(was), len(now))
        old_side, new_side = frozenset(was), frozenset(now)
        return GroupChange(
            name,
            self._status(name, old_side, new_side),
            len(was),
            len(now),
            tuple(item for item in now if item not in old_side),
            tuple(item for item in was if item not in new_side),
            tuple(self.sources.get(name, [])),
            tuple(self.targets.get(name, [])),
        )

    def _status(self, name: str, was: frozenset[str], now: frozenset[str]) -> Status:
        targets = self.targets.get(name, [])
        if name in self.renamed or name in self._new_names:
            return "renamed"
        if not was:
            return "merged" if name in self.takers else "new"
        if not now:
            return "gone" if not self.left[name] else "merged" if len(targets) == 1 else "split"
        if any(target not in self.before for target in targets):
            return "split"
        if name in self.takers:
            return "merged"
        if was == now:
            return "unchanged"
        return "grown" if was < now else "shrunk" if now < was else "changed"


def members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """The items of each group, in order of appearance.

    >>> members({"a": "g", "b": "h", "c": "g"})
    {'g': ['a', 'c'], 'h': ['b']}
    """
    found: dict[str, list[str]] = {}
    for item, name in groups.items():
        found.setdefault(name, []).append(item)
    return found
