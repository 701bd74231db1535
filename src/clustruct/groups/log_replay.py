"""The state of all groups as the replay of a log: runs place items, people's decisions move, merge and split.

An event changes the groups by placing items; ids are issued and ended as follows from that. The same rules
work on groups held in memory and on those of the store, which both are a `View`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from clustruct.core.exceptions import DataError

from .decisions import JUDGEMENTS, Decision, PairJudgement, judgements_of
from .ledger import Ledger, fresh_id

# Where items go; None: out of all groups.
Places = Mapping[str, str | None]


@dataclass(frozen=True)
class LoggedRun:
    """A run that placed items in groups (None: the item is no more).

    >>> str(LoggedRun(3, {"a": "g"}))
    'run 3'
    """

    number: int
    places: Places
    author: str = ""
    time: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"run {self.number}"


Event = Decision | LoggedRun


class View(Protocol):
    """Groups as they are now."""

    def group_of(self, item: str) -> str | None:
        """The group of an item, None for an item without one."""

    def members(self, group: str) -> Sequence[str]:
        """The items of a living group."""

    def size(self, group: str) -> int:
        """How many items it has; 0 for an id that is not alive."""

    def resolve(self, group: str) -> tuple[str, ...]:
        """The living groups that an id leads to. An id that was never given is a `DataError`."""

    def was_given(self, group: str) -> bool:
        """Whether an id was ever given."""


@dataclass(frozen=True)
class Transition:
    """What an event changes: where items are now, ids issued (with their origins) and ended (with their
    heirs).
    """

    places: Places
    issued: Mapping[str, tuple[str, ...]]
    ended: Mapping[str, tuple[str, ...]]


def transition(places: Places, view: View) -> Transition:
    """What follows from placing items: new ids are issued, and an id whose last item leaves ends.

    Cost in proportion to the items that are placed.
    """
    moved = {item: group for item, group in places.items() if view.group_of(item) != group}
    left: Counter[str] = Counter()
    come = Counter(group for group in moved.values() if group is not None)
    flow: dict[tuple[str, str], int] = Counter()
    for item, group in moved.items():
        old = view.group_of(item)
        if old is not None:
            left[old] += 1
            if group is not None:
                flow[old, group] += 1
    heirs, origins = _both_ways(flow)
    ended = {g: tuple(heirs.get(g, ())) for g, n in left.items() if n == view.size(g) and not come[g]}
    issued = {}
    for group in come:
        if not view.was_given(group):
            issued[group] = tuple(origins.get(group, ()))
        elif not view.size(group):
            raise DataError(f"the id {group!r} is of a group that is no more, and is not given again")
    return Transition(moved, issued, ended)


def _both_ways(flow: Mapping[tuple[str, str], int]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Where the items of each group went, and where those of each group came from; most items first.

    >>> _both_ways({("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 3})
    ({'b': ['x'], 'a': ['y', 'x']}, {'x': ['b', 'a'], 'y': ['a']})
    """
    heirs: dict[str, list[str]] = {}
    origins: dict[str, list[str]] = {}
    for (old, new), _ in sorted(flow.items(), key=lambda entry: (-entry[1], entry[0])):
        heirs.setdefault(old, []).append(new)
        origins.setdefault(new, []).append(old)
    return heirs, origins


def places_of(decision: Decision, view: View) -> Places:
    """Where a decision puts items. Judgements move nothing: they bind the runs that follow."""
    if decision.kind == "move":
        target = decision.into
        if target is not None and view.was_given(target):
            target = living(target, view, decision)
        return dict.fromkeys(decision.items, target)
    if decision.kind == "merge":
        group, into = (living(str(name), view, decision) for name in (decision.group, decision.into))
        return {} if group == into else dict.fromkeys(view.members(group), into)
    if decision.kind == "split":
        group = living(str(decision.group), view, decision)
        for item in decision.items:
            if view.group_of(item) != group:
                raise DataError(f"{decision} splits {item!r} from the group {group!r}, where it is not")
        if len(decision.items) == view.size(group):
            raise DataError(f"{decision} splits all items from the group {group!r}; some must stay")
        return dict.fromkeys(decision.items, decision.into)
    if decision.kind == "confirm":
        group = living(str(decision.group), view, decision)
        if inside := [item for item in decision.items if view.group_of(item) == group]:
            raise DataError(f"{decision} says that {inside[0]!r} is not in the group {group!r}, where it is")
    return {}


def living(group: str, view: View, decision: Decision) -> str:
    """The one living group that a decision means by an id, through merges."""
    if not view.was_given(group):
        raise DataError(f"{decision} names the group {group!r}, and there never was one")
    found = view.resolve(group)
    if len(found) == 1:
        return found[0]
    now = f"is now {', '.join(found)}" if found else "has no items any more"
    raise DataError(f"{decision} names the group {group!r}, which {now}")


def with_id(decision: Decision, taken: View) -> Decision:
    """The decision with an id for the group that it makes, where it makes one."""
    if decision.into is not None or decision.kind not in ("move", "split"):
        return decision
    name = fresh_id("decision", decision.number, *sorted(decision.items))
    while taken.was_given(name):
        name = fresh_id(name)
    return Decision(**{**decision.__dict__, "into": name})


@dataclass
class State:
    """Groups, their ids, and people's judgements, after a number of events.

    Attributes
    ----------
    groups : dict
        Group id of each item.
    ledger : Ledger
        All ids.
    void : dict
        Decisions that say nothing any more (they name a group that an undo has taken away), and why.
    """

    groups: dict[str, str] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    void: dict[int, str] = field(default_factory=dict)
    _members: dict[str, dict[str, None]] = field(default_factory=dict, repr=False)
    _judged: list[PairJudgement] = field(default_factory=list, repr=False)
    # The last decision that put an item beside others: items of one number are meant to be together.
    _bound: dict[str, Decision] = field(default_factory=dict, repr=False)
    _parted: list[tuple[Decision, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list, repr=False)

    @classmethod
    def start(cls, groups: Mapping[str, str]) -> State:
        """Groups that somebody has made before any event."""
        state = cls()
        state.change(transition(groups, state), 0)
        return state

    @classmethod
    def standing(cls, groups: dict[str, str], ledger: Ledger) -> State:
        """Groups and ids as they were kept; nobody has said anything."""
        state = cls(groups=groups, ledger=ledger)
        for item, group in groups.items():
            state._members.setdefault(group, {})[item] = None
        return state

    def after(self, groups: Mapping[str, str], at: int = 0) -> State:
        """The state after a run has put items into groups; this one stays as it is.

        >>> before = State.start({"a": "g"})
        >>> before.after({"a": "g", "b": "h"}).groups, before.groups
        ({'a': 'g', 'b': 'h'}, {'a': 'g'})
        """
        what = transition(groups, self)
        places = [*map(self.groups.get, what.places), *what.places.values()]
        own = {group: dict(self._members.get(group, ())) for group in places if group is not None}
        state = replace(
            self, groups=dict(self.groups), ledger=self.ledger.copy(), _members={**self._members, **own}
        )
        state.change(what, at)
        return state

    def group_of(self, item: str) -> str | None:
        """The group of an item."""
        return self.groups.get(item)

    def members(self, group: str) -> list[str]:
        """The items of a group, in the order in which they came."""
        return list(self._members.get(group, ()))

    def size(self, group: str) -> int:
        """How many items a group has."""
        return len(self._members.get(group, ()))

    def resolve(self, group: str) -> tuple[str, ...]:
        """The living groups that an id leads to."""
        return self.ledger.resolve(group)

    def was_given(self, group: str) -> bool:
        """Whether an id was ever given."""
        return group in self.ledger

    def change(self, what: Transition, at: int) -> None:
        """Place items, issue and end ids."""
        for group, origins in what.issued.items():
            self.ledger.issue(group, at, origins)
        for item, place in what.places.items():
            old = self.groups.pop(item, None)
            if old is not None:
                del self._members[old][item]
            if place is not None:
                self.groups[item] = place
                self._members.setdefault(place, {})[item] = None
        for group, heirs in what.ended.items():
            self.ledger.end(group, at, heirs)

    def apply(self, event: Event, after_undo: bool = False) -> None:
        """One event that counts; ``after_undo``: in a log part of which does not."""
        if isinstance(event, LoggedRun):
            places = self._places_after_undo(event) if after_undo else event.places
            self.change(transition(places, self), event.number)
            return
        decision = with_id(event, self)
        places = places_of(decision, self)
        self._remember(decision, places)
        self.change(transition(places, self), decision.number)

    def _remember(self, decision: Decision, places: Places) -> None:
        """What a decision says of items, which runs that follow must hold."""
        if decision.kind in JUDGEMENTS:
            self._judged += judgements_of(decision)
        elif decision.kind == "confirm":
            own = self.members(living(str(decision.group), self, decision))
            self._bind(decision, own)
            if decision.items:
                self._parted.append((decision, decision.items, tuple(own)))
        elif decision.kind in ("move", "split", "merge"):
            for old in dict.fromkeys(self.groups.get(item) for item in places):
                if old is not None and decision.kind != "merge":
                    rest = tuple(i for i in self.members(old) if places.get(i, old) == old)
                    self._parted.append(
                        (decision, tuple(i for i in places if self.groups.get(i) == old), rest)
                    )
            beside = [i for target in set(places.values()) if target for i in self.members(target)]
            self._bind(decision, [*beside, *places])

    def _bind(self, decision: Decision, items: Iterable[str]) -> None:
        self._bound.update(dict.fromkeys(items, decision))

    def _places_after_undo(self, run: LoggedRun) -> Places:
        """Where a run puts items, when an undo has taken away groups that it knew: where these lead to."""
        places: dict[str, str | None] = {}
        for item, group in run.places.items():
            if group is not None and self.was_given(group) and not self.ledger.is_alive(group):
                heirs = self.resolve(group)
                group = heirs[0] if heirs else fresh_id("in place of", group, run.number)
            places[item] = group
        return places

    def take_back(self, decision: Decision, finally_: bool = False) -> None:
        """A decision that was undone: an id that it gave leads to where its items are without it.

        Where they are nowhere, a later run may give the id; ``finally_`` enters it if none has.
        """
        name = decision.into
        if decision.kind in ("move", "split") and name is not None and not self.was_given(name):
            places = Counter(g for item in decision.items if (g := self.groups.get(item)) is not None)
            heirs = [group for group, _ in places.most_common()]
            if heirs or finally_:
                self.ledger.issue(name, decision.number, heirs)
                self.ledger.end(name, decision.number, heirs)

    def confirmed_items(self) -> dict[str, int]:
        """The items of confirmed groups, to which nothing else belongs, with the number of the decision."""
        whole = ((item, by) for item, by in self._bound.items() if by.kind == "confirm" and not by.items)
        return {item: by.number for item, by in whole}

    def judgements(self) -> list[PairJudgement]:
        """What all decisions say of pairs of items, later ones before earlier ones that they replace.

        A decision about a group says that its items belong together (as a star from the first), one that
        takes items out of a group, or confirms it beside others, says that they differ from those in it,
        unless a later one has joined them.
        """
        found = list(self._judged)
        first: dict[int, str] = {}
        for item, by in self._bound.items():
            centre = first.setdefault(by.number, item)
            if centre != item:
                found.append(PairJudgement(centre, item, "same", by))
        seen = set[tuple[object, object]]()
        for by, part, rest in self._parted:
            for a in part:
                for b in rest:
                    sides = (self._side(a), self._side(b))
                    if sides[0] != sides[1] and sides not in seen:
                        seen.update({sides, sides[::-1]})
                        found.append(PairJudgement(a, b, "different", by))
        return sorted(found, key=lambda judged: judged.by.number)

    def _side(self, item: str) -> object:
        by = self._bound.get(item)
        return item if by is None else by.number


def undone(events: Sequence[Event]) -> dict[int, Decision]:
    """The numbers of decisions that do not count, and by which undo. An undo can be undone in its turn.

    An undo of what is no decision, of one that is undone already, or of a later one, is refused.
    """
    known: dict[int, Event] = {}
    undos: list[Decision] = []
    out: dict[int, Decision] = {}
    for event in events:
        if isinstance(event, Decision) and event.kind == "undo":
            number = event.undoes or 0
            what = known.get(number)
            if not isinstance(what, Decision):
                why = "runs are not undone" if what is not None else "there is none before it"
                raise DataError(f"{event} undoes decision {number}, but {why}")
            if number in out:
                raise DataError(f"{event} undoes decision {number}, which is undone already by {out[number]}")
            undos.append(event)
            out = _out(undos)
        known[event.number] = event
    return out


def _out(undos: Sequence[Decision]) -> dict[int, Decision]:
    """From the last undo back: one that counts takes away what it names, be it an undo."""
    out: dict[int, Decision] = {}
    for undo in reversed(undos):
        if undo.number not in out:
            out.setdefault(undo.undoes or 0, undo)
    return out


def replay(events: Sequence[Event], groups: Mapping[str, str] | None = None) -> State:
    """The state after all events, from groups that were there before (none by default).

    Decisions that were undone do not count. One that names a group which an undo has taken away says
    nothing any more, and is listed in ``void``; where nothing was undone it is an error.

    Parameters
    ----------
    events : sequence of Event
        Runs and decisions, in order.
    groups : mapping, optional
        Groups that were there before.

    Returns
    -------
    State
        The groups, the ids, and people's judgements.

    Examples
    --------
    >>> from clustruct.groups import Decision
    >>> log = [LoggedRun(1, {"a": "g", "b": "g", "c": "h"}), Decision("merge", group="h", into="g", number=2)]
    >>> replay(log).groups
    {'a': 'g', 'b': 'g', 'c': 'g'}
    >>> replay([*log, Decision("undo", undoes=2, number=3)]).groups
    {'a': 'g', 'b': 'g', 'c': 'h'}
    """
    state, out = State.start(groups or {}), undone(events)
    for event in events:
        if isinstance(event, Decision) and event.number in out:
            state.take_back(event)
            continue
        try:
            state.apply(event, after_undo=bool(out))
        except DataError as error:
            if not out or isinstance(event, LoggedRun):
                raise
            state.void[event.number] = str(error)
            state.take_back(event)  # now: later events move its items on, and the id leads there through them
    for event in events:
        if isinstance(event, Decision) and (event.number in out or event.number in state.void):
            state.take_back(event, finally_=True)
    return state
