"""A store: items, groups with their ids, runs and all decisions of people in one SQLite file.

The log of runs and decisions is only ever added to; the groups of today are its replay, kept beside it so
that they can be read at once. Every change is one transaction: a process that is killed leaves the state
before it or after it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Self

from clustruct.core.exceptions import DataError, ModelFileError

from .decisions import Decision
from .log_replay import Event, Places, State, Transition, places_of, transition, undone, with_id
from .schema import check_tables, make_file, make_project, make_room_for
from .store_reader import Item, StoredGroups, plain

# What moves items; all else only binds the runs that follow.
MOVING = ("move", "merge", "split")


class Store(StoredGroups):
    """Groups that live on in a file.

    Parameters
    ----------
    path : path
        The file; `create` makes one.
    shared : bool, default=False
        Whether others read while one writes (by the write-ahead log of SQLite).

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store.create(os.path.join(folder.name, "people.db"))
    >>> store.add_items([Item("a", {"name": "Ann"}), Item("b", {"name": "Anne"}), Item("c", {"name": "Bob"})])
    3
    >>> run = store.record_run({"a": "g1", "b": "g1", "c": "g2"})
    >>> number = store.decide(Decision("merge", group="g2", into="g1", author="ann"))
    >>> store.groups(), store.resolve("g2")
    ({'a': 'g1', 'b': 'g1', 'c': 'g1'}, ('g1',))
    >>> number = store.decide(Decision("undo", undoes=number))
    >>> store.group_of("c")
    'g2'
    >>> store.close(); folder.cleanup()
    """

    @classmethod
    def create(cls, path: str | PathLike[str]) -> Self:
        """Make an empty store where there is no file yet."""
        make_file(Path(path))
        return cls(path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside happen together, or none of them; others may read meanwhile, but not write."""
        with self._name_file():
            if self._db.in_transaction:  # part of a larger one
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _do(self, what: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._name_file():
            self._db.executemany(what, rows)

    def add_items(self, items: Iterable[Item]) -> int:
        """Add items, or replace the fields of those that are there; how many are new."""
        rows = [
            (i.id, json.dumps(dict(i.fields), ensure_ascii=False, default=plain), i.source) for i in items
        ]
        with self.transaction():
            (before,) = self._ask("SELECT count(*) FROM items")[0]
            put = "INSERT INTO items VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET fields = excluded.fields"
            other = "fields IS NOT excluded.fields OR source IS NOT excluded.source"
            self._do(f"{put}, source = excluded.source WHERE {other}", rows)
            (after,) = self._ask("SELECT count(*) FROM items")[0]
        return int(after - before)

    def decide(self, decision: Decision) -> int:
        """Write down a decision, and change the groups as it says; its number in the log.

        One that names unknown items or groups is refused. Number and time are given here; the cost is in
        proportion to the items that it moves. An undo of what was not the last to move something replays
        the log.
        """
        with self.transaction():
            decision = replace(decision, number=self.next_number(), time=decision.time or _now())
            if not _is_unicode(json.dumps(decision.content(), ensure_ascii=False) + decision.author):
                raise DataError(f"{decision} has a name that is not Unicode: it cannot be kept")
            for item in self.unknown(decision.items):
                raise DataError(f"{decision} names {item!r}, and there is no such item in {self.path}")
            if decision.kind == "undo":
                undone([*self._events({}), decision])  # refuses what cannot be undone
            decision = with_id(decision, self)
            places = places_of(decision, self)
            change = transition(places, _Prefetched(self, places))
            make_room_for(self._db, decision.kind)
            self._write(decision.number, decision.kind, decision.author, decision.time, _content(decision))
            if decision.kind == "undo":
                self._take_back(decision)
            else:
                self._keep_before(decision.number, change.places, [*change.issued, *change.ended])
                self._change(change, decision.number)
        return decision.number

    def record_run(
        self,
        groups: Mapping[str, str],
        *,
        removed: Iterable[str] = (),
        author: str = "",
        note: str = "",
    ) -> int:
        """Write down where a run has put items (those not named stay where they are); its number in the log.

        Ids that are new are entered in the ledger, those whose last item went end.
        """
        places: dict[str, str | None] = {**groups, **dict.fromkeys(removed)}
        with self.transaction():
            for item in self.unknown(places):
                raise DataError(f"{self.path}: there is no item {item!r} to be put into a group")
            number = self.next_number()
            try:
                change = transition(places, _Prefetched(self, places))
            except DataError as error:
                raise DataError(f"{self.path}: {error}") from None
            self._write(number, "run", author, _now(), {"note": note} if note else {})
            rows = ((number, item, group) for item, group in change.places.items())
            self._do("INSERT INTO places VALUES (?, ?, ?)", rows)
            self._change(change, number)
        return number

    def _write(self, number: int, kind: str, author: str, time: str, content: Mapping[str, Any]) -> None:
        row = (number, kind, author, time, json.dumps(content, ensure_ascii=False))
        self._do("INSERT INTO log VALUES (?, ?, ?, ?, ?)", [row])

    def _change(self, change: Transition, at: int) -> None:
        self._do("DELETE FROM members WHERE item = ?", ((item,) for item in change.places))
        put = ((item, group) for item, group in change.places.items() if group is not None)
        self._do("INSERT INTO members VALUES (?, ?)", put)
        issued = ((name, at, None, json.dumps(origins), "[]") for name, origins in change.issued.items())
        self._do("INSERT INTO ids VALUES (?, ?, ?, ?, ?)", issued)
        ended = ((at, json.dumps(heirs), name) for name, heirs in change.ended.items())
        self._do("UPDATE ids SET ended = ?, heirs = ? WHERE id = ?", ended)

    def _keep_before(self, event: int, items: Iterable[str], ids: Iterable[str]) -> None:
        with self._name_file():
            make_project(self._db)
            _keep_before_event(self._db, event, items, ids)

    def _take_back(self, undo: Decision) -> None:
        """The groups without what an undo names: put back where that was the last to move something, else by
        a replay of the log.
        """
        events, number = self._events({}), undo.undoes or 0
        about = _base_of(number, events)
        if about is not None and about.kind not in MOVING:
            return
        with self._name_file():
            make_project(self._db)
            if _is_last_to_move(self._db, number):
                event = next(e for e in events if e.number == number)
                _put_back(self._db, event, undo.number)
                return
        self._become(self.replay_log(), undo.number)

    def _become(self, state: State, at: int) -> None:
        """The groups and ids of a state, where they differ from those that are kept."""
        kept = self.groups()
        moved = [i for i in {**kept, **state.groups} if kept.get(i) != state.groups.get(i)]
        before = {entry.id: entry for entry in self.ledger()}
        changed = [entry for entry in state.ledger if before.get(entry.id) != entry]
        self._keep_before(at, moved, (entry.id for entry in changed))
        self._do("DELETE FROM members WHERE item = ?", ((item,) for item in moved))
        put = ((item, state.groups[item]) for item in moved if item in state.groups)
        self._do("INSERT INTO members VALUES (?, ?)", put)
        rows = ((e.id, e.made, e.ended, json.dumps(e.origins), json.dumps(e.into)) for e in changed)
        self._do("INSERT OR REPLACE INTO ids VALUES (?, ?, ?, ?, ?)", rows)

    def keep_model(self, content: bytes, about: Mapping[str, Any]) -> int:
        """Keep a model file, with what is known of it; its number."""
        with self.transaction():
            make_project(self._db)
            (number,) = self._ask("SELECT coalesce(max(number), 0) + 1 FROM models")[0]
            row = (number, _now(), json.dumps(dict(about), ensure_ascii=False), content)
            self._do("INSERT INTO models VALUES (?, ?, ?, ?)", [row])
        return int(number)

    def set_up(self, **settings: Any) -> None:
        """Keep settings of a project (values as in JSON) by their names."""
        rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in settings.items()]
        with self.transaction():
            make_project(self._db)
            self._do("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)

    def import_decisions(self, decisions: Iterable[Decision]) -> list[int]:
        """Write down all decisions of a file (`read_labels`), or none of them; the numbers they got.

        An undo in the file means a decision of the file. A decision that is there already, with the same
        time and author, is passed over.
        """
        numbers: dict[int, int] = {}
        fresh = []
        with self.transaction():
            there = {_key(form): d.number for d in self.decisions() if d.time for form in _forms(d)}
            for decision in decisions:
                if decision.undoes is not None:
                    if decision.undoes not in numbers:
                        which = f"decision {decision.undoes}, which is not before it in the file"
                        raise DataError(f"{decision} undoes {which}")
                    decision = replace(decision, undoes=numbers[decision.undoes])
                number = there.get(_key(decision)) if decision.time else None
                if number is None:
                    number = self.decide(decision)
                    fresh.append(number)
                numbers[decision.number] = number
        return fresh

    def verify(self) -> None:
        """Look through the whole file, and replay the log: a `ModelFileError` where something is not as it
        must be.
        """
        with self._name_file():
            check_tables(self._db, self.path, thoroughly=True)
            state = self.replay_log()
            if state.groups != self.groups() or set(state.ledger) != set(self.ledger()):
                raise ModelFileError(
                    f"{self.path}: the store is damaged (its groups are not those of its log)"
                )


def _is_unicode(text: str) -> bool:
    """Whether a text has no halves of characters, which no file of text can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _content(decision: Decision) -> dict[str, Any]:
    where = {"source": decision.source, "line": decision.line}
    return {**decision.content(), **{name: value for name, value in where.items() if value}}


def _key(decision: Decision) -> tuple[object, ...]:
    content = json.dumps(decision.content(), sort_keys=True)
    return decision.kind, decision.author, decision.time, content


def _forms(decision: Decision) -> list[Decision]:
    """A decision as it is kept and, where it was given an id for a new group, as it was before that."""
    made = decision.kind in ("move", "split") and decision.into is not None
    return [replace(decision, into=None), decision] if made else [decision]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


# Undo at the cost of what it moves. The groups of a store are the replay of its log. A replay without the
# last event that moved something is the state before that event, which is kept beside the log and put back;
# any other undo is replayed in full (`Store.decide`).


def _keep_before_event(db: sqlite3.Connection, event: int, items: Iterable[str], ids: Iterable[str]) -> None:
    """Write down where items are and what ids are now, before an event changes them."""
    where = "SELECT ?, ?, (SELECT grp FROM members WHERE item = ?)"
    db.executemany(f"INSERT INTO places_before {where}", ((event, item, item) for item in items))
    row = "SELECT ?, ?, made, ended, origins, heirs FROM (SELECT 1) LEFT JOIN ids ON id = ?"
    db.executemany(f"INSERT INTO ids_before {row}", ((event, name, name) for name in ids))


def _base_of(number: int, events: Sequence[Event]) -> Decision | None:
    """The decision that an undo is about in the end, through undos of undos."""
    known = {event.number: event for event in events}
    found = known.get(number)
    while isinstance(found, Decision) and found.kind == "undo":
        found = known.get(found.undoes or 0)
    return found if isinstance(found, Decision) else None


def _is_last_to_move(db: sqlite3.Connection, event: int) -> bool:
    """Whether no item was moved since an event, and no id changed: a replay may change ids alone."""
    tables = ("places_before", "ids_before")
    last = max(db.execute(f"SELECT max(event) FROM {table}").fetchone()[0] or 0 for table in tables)
    (run,) = db.execute("SELECT max(run) FROM places").fetchone()
    return last == event and event > (run or 0)


def _put_back(db: sqlite3.Connection, event: Event, undo: int) -> None:
    """The groups and ids as they were before an event; what they are now is kept for an undo of the undo.

    An id that the event gave leads to where its items are without it, as in a replay.
    """
    rows = db.execute("SELECT item, grp FROM places_before WHERE event = ?", (event.number,))
    places: dict[str, str | None] = dict(rows.fetchall())
    ids = db.execute(
        "SELECT id, made, ended, origins, heirs FROM ids_before WHERE event = ?", (event.number,)
    ).fetchall()
    _keep_before_event(db, undo, places, [row[0] for row in ids])
    db.executemany("DELETE FROM members WHERE item = ?", ((item,) for item in places))
    db.executemany("INSERT INTO members VALUES (?, ?)", (row for row in places.items() if row[1] is not None))
    db.executemany("DELETE FROM ids WHERE id = ?", ((row[0],) for row in ids))
    if isinstance(event, Decision) and event.kind != "undo":
        given = Counter(group for item in event.items if (group := places.get(item)) is not None)
        heirs, at = json.dumps([name for name, _ in given.most_common()]), event.number
        ids = [row if row[1] is not None else (row[0], at, at, heirs, heirs) for row in ids]
    kept = [row for row in ids if row[1] is not None]
    db.executemany("INSERT INTO ids VALUES (?, ?, ?, ?, ?)", kept)


class _Prefetched:
    """The view of a store for a change that places many items: all that it asks is looked up together."""

    def __init__(self, store: StoredGroups, places: Places) -> None:
        self._store = store
        self._groups = dict(store.in_batches("SELECT item, grp FROM members WHERE item IN ({})", places))
        named = {group for group in (*self._groups.values(), *places.values()) if group is not None}
        counted = "SELECT grp, count(*) FROM members WHERE grp IN ({}) GROUP BY grp"
        self._sizes = dict.fromkeys(named, 0) | dict(store.in_batches(counted, named))
        given = {name for (name,) in store.in_batches("SELECT id FROM ids WHERE id IN ({})", named)}
        self._given = {name: name in given for name in named}

    def group_of(self, item: str) -> str | None:
        return self._groups.get(item)

    def members(self, group: str) -> Sequence[str]:
        return self._store.members(group)

    def size(self, group: str) -> int:
        return self._sizes[group] if group in self._sizes else self._store.size(group)

    def resolve(self, group: str) -> tuple[str, ...]:
        return self._store.resolve(group)

    def was_given(self, group: str) -> bool:
        return self._given[group] if group in self._given else self._store.was_given(group)
