"""Ids of groups as a ledger: opaque, never given twice, and resolvable for ever to the groups of today.

An id is *alive* while a group bears it. When its group is taken in by another, or cut up, the id ends and
says what became of it. An ended id stays ended, and what it leads to was alive when it ended: so every
chain ends at a living id, or at nothing where all items are gone, and there are no cycles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from clustruct.core.exceptions import DataError

# Without letters that look like digits. A group's id begins with a letter, or a spreadsheet takes it for a
# number.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 12


@dataclass(frozen=True)
class LedgerEntry:
    """What the ledger says of one id: the numbers of the events that made and ended it (None: alive), the
    groups that its first items came from, and those that its items went to.
    """

    id: str
    made: int
    ended: int | None = None
    origins: tuple[str, ...] = ()
    into: tuple[str, ...] = ()

    @property
    def fate(self) -> str:
        """What became of it, in words.

        >>> LedgerEntry("g", 1, 2, into=("h",)).fate
        'merged into h'
        """
        if self.ended is None:
            return "alive"
        if not self.into:
            return "gone"
        return f"{'merged' if len(self.into) == 1 else 'split'} into {', '.join(self.into)}"


class Ledger:
    """All ids that were ever given, and what became of them.

    >>> ledger = Ledger()
    >>> ledger.issue("g1", 1), ledger.issue("g2", 1), ledger.issue("g3", 1)
    ('g1', 'g2', 'g3')
    >>> ledger.end("g1", 2, into=["g2"])
    >>> ledger.end("g2", 3, into=["g3"])
    >>> ledger.resolve("g1"), ledger["g1"].fate
    (('g3',), 'merged into g2')
    """

    def __init__(self, entries: Iterable[LedgerEntry] = ()) -> None:
        """Entries may come from a file: ids given twice, and chains that lead nowhere or back, are
        refused.
        """
        self._entries: dict[str, LedgerEntry] = {}
        for entry in entries:
            if entry.id in self._entries:
                raise DataError(f"the ledger has the id {entry.id!r} twice")
            self._entries[entry.id] = entry
        for entry in self._entries.values():
            self._check(entry)
        self._check_no_cycle()

    def copy(self) -> Ledger:
        """Another ledger with the same entries."""
        twin = Ledger()
        twin._entries = dict(self._entries)
        return twin

    def __getitem__(self, name: str) -> LedgerEntry:
        try:
            return self._entries[name]
        except KeyError:
            raise DataError(f"there is no group {name!r}, and there never was") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def is_alive(self, name: str) -> bool:
        """Whether a group bears this id now."""
        entry = self._entries.get(name)
        return entry is not None and entry.ended is None

    def issue(self, name: str, at: int, origins: Iterable[str] = ()) -> str:
        """Enter an id that was never given before."""
        if name in self._entries:
            raise ValueError(f"the id {name!r} was given before ({self._entries[name].fate})")
        self._entries[name] = LedgerEntry(name, at, origins=tuple(origins))
        return name

    def end(self, name: str, at: int, into: Iterable[str] = ()) -> None:
        """The group of a living id is gone; its items, if there are any left, are in these living groups."""
        entry, heirs = self[name], tuple(into)
        if entry.ended is not None:
            raise ValueError(f"the group {name!r} is not alive ({entry.fate})")
        for heir in heirs:
            if heir == name or not self.is_alive(heir):
                raise ValueError(
                    f"the group {name!r} cannot lead to {heir!r}, which is not another living group"
                )
        self._entries[name] = LedgerEntry(name, entry.made, at, entry.origins, heirs)

    def resolve(self, name: str) -> tuple[str, ...]:
        """The living groups that an id leads to: itself, or where its items went; nothing where all are
        gone.
        """
        found: dict[str, None] = {}
        seen, waiting = set[str](), [name]
        while waiting:
            entry = self[waiting.pop()]
            if entry.id in seen:
                continue
            seen.add(entry.id)
            if entry.ended is None:
                found[entry.id] = None
            waiting.extend(reversed(entry.into))
        return tuple(found)

    def _check(self, entry: LedgerEntry) -> None:
        if entry.ended is None and entry.into:
            raise DataError(f"the ledger has the id {entry.id!r} both alive and {entry.fate}")
        if entry.ended is not None and entry.ended < entry.made:
            raise DataError(f"the ledger has the id {entry.id!r} ended before it was made")
        for heir in entry.into:
            if heir not in self._entries:
                raise DataError(f"the ledger has {entry.id!r} {entry.fate}, but there is no id {heir!r}")

    def _check_no_cycle(self) -> None:
        """Remove what leads to living or vanished groups alone, again and again; what is left leads back."""
        leads = {entry.id: set(entry.into) for entry in self}
        comes: dict[str, list[str]] = {}
        for entry in self:
            for heir in entry.into:
                comes.setdefault(heir, []).append(entry.id)
        clear = [name for name, into in leads.items() if not into]
        for name in clear:
            for earlier in comes.get(name, ()):
                leads[earlier].discard(name)
                if not leads[earlier]:
                    clear.append(earlier)
        if len(clear) < len(leads):
            name = min(set(leads) - set(clear))
            raise DataError(f"the ledger leads in a circle: {name!r} is {self[name].fate}, and so on")


def fresh_id(*about: object, taken: Container[str] = ()) -> str:
    """An id that says nothing: 60 bits of a digest of what it is made for, so the same run gives the same
    ids.

    Callers name the state they start from, or the number of the event: another state gives other ids. One
    that is taken is passed over.

    >>> fresh_id("run 3", "item a")
    'gmyy1g1qz5cj7'
    >>> fresh_id("run 3", "item a", taken={"gmyy1g1qz5cj7"}) == fresh_id("run 3", "item a")
    False
    """
    attempt = 0
    while True:
        text = "\0".join(map(str, (*about, attempt)))
        number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        name = "g" + "".join(ALPHABET[number >> (5 * at) & 31] for at in range(LENGTH))
        if name not in taken:
            return name
        attempt += 1


def digest(groups: Mapping[str, str]) -> str:
    """A short word for a grouping, whatever the order of its items: the state that fresh ids start from."""
    # With their lengths, no two groupings are one text.
    parts = [f"{len(item)} {len(group)} {item}{group}" for item, group in sorted(groups.items())]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
