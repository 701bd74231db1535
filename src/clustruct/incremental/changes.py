"""What changed between two groupings whose groups have ids: which groups grew, merged, split, came and
went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from clustruct.text import count

Status = Literal["unchanged", "grown", "shrunk", "changed", "merged", "split", "new", "gone"]
STATUSES: tuple[Status, ...] = (
    "unchanged",
    "grown",
    "shrunk",
    "changed",
    "merged",
    "split",
    "new",
    "gone",
)


class Move(NamedTuple):
    """An item that is in another group than before."""

    item: str
    old: str
    new: str


@dataclass(frozen=True)
class GroupChange:
    """One id, before and after.

    status : one word for it; of several that fit, the first of split, merged, changed, grown, shrunk
    before, after : how many items it had and has
    gained, lost : items that came and went, wherever from and to
    sources : for a group that is there now, the other old groups that items of it came from
    targets : for a group that was there before, the other groups that items of it are in now

    "merged" is said of the group that took in all that is left of another one, and of the one taken in;
    "split" of a group part of which has a new id, and of one whose id is gone and whose items are in
    several groups.
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
    """What became of each group, and which items moved, came or went.

    groups : one entry for each id of either side, in order of appearance
    moved : items whose group id is another one now
    added, removed : items that only the new, or only the old grouping has
    """

    groups: tuple[GroupChange, ...]
    moved: tuple[Move, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def count(self) -> dict[Status, int]:
        """How many groups there are of each kind."""
        found = Counter(group.status for group in self.groups)
        return {status: found[status] for status in STATUSES}

    def of(self, status: Status) -> list[GroupChange]:
        """The groups of one kind."""
        return [group for group in self.groups if group.status == status]

    def summary(self) -> str:
        """One line.

        >>> compare({"a": "g"}, {"a": "g", "b": "g", "c": "h"}).summary()
        '1 group grown, 1 new; 2 items added'
        """
        kinds = [(n, status) for status, n in self.count().items() if n]
        words = [f"{n:,} {s}" if at else f"{count(n, 'group')} {s}" for at, (n, s) in enumerate(kinds)]
        items = (("added", self.added), ("moved", self.moved), ("removed", self.removed))
        told = [f"{count(len(held), 'item')} {word}" for word, held in items if held]
        return "; ".join([", ".join(words) or "no groups", ", ".join(told) or "no item moved"])


def compare(old: Mapping[str, str], new: Mapping[str, str]) -> Changes:
    """What changed from one grouping to another: each maps items to group ids, and the same id is the same
    group.

    Cost O(items).

    >>> found = compare({"a": "g", "b": "g", "c": "h"}, {"a": "g", "b": "g", "c": "g"})
    >>> [(group.id, group.status, group.targets) for group in found.groups]
    [('g', 'merged', ()), ('h', 'merged', ('g',))]
    """
    before, after = members(old), members(new)
    stays = {item for item in old if item in new}
    left = Counter(old[item] for item in stays)
    flow = Counter((old[item], new[item]) for item in stays)
    targets: dict[str, list[str]] = {}
    sources: dict[str, list[str]] = {}
    for (g, h), _ in sorted(flow.items(), key=lambda entry: (-entry[1], entry[0])):
        if g != h:
            targets.setdefault(g, []).append(h)
            sources.setdefault(h, []).append(g)
    # The groups that took in all that is left of another group, whose id is gone.
    takers = {h for (g, h), n in flow.items() if g != h and n == left[g] and g not in after}
    found = []
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name, []), after.get(name, [])
        old_side, new_side = frozenset(was), frozenset(now)
        found.append(
            GroupChange(
                name,
                _status(name, old_side, new_side, targets.get(name, []), before, takers, bool(left[name])),
                len(was),
                len(now),
                tuple(item for item in now if item not in old_side),
                tuple(item for item in was if item not in new_side),
                tuple(sources.get(name, [])),
                tuple(targets.get(name, [])),
            )
        )
    return Changes(
        tuple(found),
        tuple(Move(item, old[item], new[item]) for item in old if item in stays and old[item] != new[item]),
        tuple(item for item in new if item not in old),
        tuple(item for item in old if item not in new),
    )


def _status(
    name: str,
    was: frozenset[str],
    now: frozenset[str],
    targets: list[str],
    before: Mapping[str, object],
    takers: set[str],
    any_left: bool,
) -> Status:
    if not was:
        return "merged" if name in takers else "new"
    if not now:
        return "gone" if not any_left else "merged" if len(targets) == 1 else "split"
    if any(target not in before for target in targets):
        return "split"
    if name in takers:
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
