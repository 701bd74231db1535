"""What a store holds, as it is read: items, groups, ids, and the log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from clustruct.core.exceptions import DataError, ModelFileError

from .decisions import Decision
from .ledger import Ledger, LedgerEntry, fresh_id
from .log_replay import Event, LoggedRun, State, replay, undone
from .schema import (
    LOOKED_THROUGH,
    check_header,
    check_tables,
    connect,
    has_made,
    has_project,
    is_in_wal_mode,
    make_cache,
)

# So many names fit into one question.
BATCH = 500


class Item(NamedTuple):
    """An item with its fields, and where it came from.

    Attributes
    ----------
    id : str
        The name of the item.
    fields : mapping
        Its values by the names of fields.
    source : str, default=""
        The file that it came from.
    """

    id: str
    fields: Mapping[str, Any]
    source: str = ""


class StoredModel(NamedTuple):
    """A model that a project keeps: its number, when it was made, and what is known of it."""

    number: int
    time: str
    about: Mapping[str, Any]


def plain(value: Any) -> Any:
    """A value that JSON does not know, as one that it does: vectors as lists, dates as text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


# How the note of a run begins that only writes down groups which items came with.
GIVEN = "groups of"


def _is_given(content: str) -> bool:
    # As it was written: a log that somebody changed may hold anything.
    return content.startswith(json.dumps({"note": GIVEN})[:-2])


def _piles(held: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(held, list) or not all(isinstance(pile, list) for pile in held):
        raise ValueError("its piles are no lists of names")
    if not all(isinstance(item, str) for pile in held for item in pile):
        raise ValueError("its piles are no lists of names")
    return tuple(map(tuple, held))


class StoredGroups:
    """A store that is there, to be read: a `View` of its groups, at the cost of what is asked for."""

    def __init__(self, path: str | PathLike[str], *, shared: bool = False) -> None:
        """Open a store that is there. What is no store, or damaged, is a `ModelFileError` that names the
        file.

        shared : changes go to a file beside it first (SQLite's WAL), so that others read while one writes;
            whoever closes the store last takes that file away
        """
        self.path = Path(path)
        check_header(self.path)
        with self._name_file():
            self._db = connect(self.path)
            try:
                check_tables(self._db, self.path, self.path.stat().st_size <= LOOKED_THROUGH)
                self._db.execute("PRAGMA foreign_keys = ON")
                # One file: nothing stays beside it, and a disk that is read-only can be read. A project that
                # is open in a page has a file beside it, which belongs to whoever opened it so.
                if shared or not is_in_wal_mode(self.path):
                    self._db.execute(f"PRAGMA journal_mode = {'WAL' if shared else 'DELETE'}")
                # A decision of a person is on the disk before it is reported to be.
                self._db.execute("PRAGMA synchronous = FULL")
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Give the file free."""
        self._db.close()

    def remove(self) -> None:
        """Close the store, and take the file away with all that is in it."""
        self.close()
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _name_file(self) -> Iterator[None]:
        """What SQLite says of the file, with its name."""
        try:
            yield
        except sqlite3.Error as error:
            damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(
                error, sqlite3.OperationalError
            )
            what = "the store is damaged" if damaged else "the store cannot be used"
            raise ModelFileError(f"{self.path}: {what} ({error})") from None
        except UnicodeDecodeError:
            raise ModelFileError(f"{self.path}: the store is damaged (a text in it is no text)") from None
        except UnicodeEncodeError:
            raise DataError(f"{self.path}: a name that is not Unicode cannot be stored") from None

    def _ask(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        with self._name_file():
            return self._db.execute(question, values).fetchall()

    def item_names(self) -> list[str]:
        """All items, in the order in which they came."""
        return [name for (name,) in self._ask("SELECT id FROM items ORDER BY rowid")]

    def placements(self, runs: int) -> tuple[frozenset[str], ...]:
        """The items that each of so many last runs has put into a group, the latest run last.

        Groups that somebody brought with the items (`GIVEN`) were put together by no run: there it is empty.
        """
        last = "SELECT number, content FROM log WHERE kind = 'run' ORDER BY number DESC LIMIT ?"
        items = "SELECT item FROM places WHERE run = ?"
        found = [
            frozenset() if _is_given(content) else frozenset(i for (i,) in self._ask(items, number))
            for number, content in self._ask(last, runs)
        ]
        return tuple(reversed(found))

    def items(self, ids: Iterable[str] | None = None, since: int = 0) -> Iterator[Item]:
        """Items with their fields: all in the order in which they came, but for the first ones, or those
        named.
        """
        question = "SELECT id, fields, source FROM items"
        if ids is None:
            rows: Iterable[tuple[Any, ...]] = self._ask(f"{question} ORDER BY rowid LIMIT -1 OFFSET ?", since)
        else:
            rows = self.in_batches(question + " WHERE id IN ({})", ids)
        for name, fields, source in rows:
            yield Item(name, self._json(fields, f"the item {name!r}"), source)

    def pieces(self, *, numbers: bool = False) -> list[tuple[int, bytes]]:
        """The pieces of the index that is kept, in order; or their numbers alone."""
        with self._name_file():
            if not has_made(self._db):
                return []
        return self._ask(f"SELECT number, {'NULL' if numbers else 'content'} FROM made ORDER BY number")

    def drop_pieces(self, numbers: Iterable[int]) -> None:
        """Take pieces of the index away."""
        for number in numbers:  # of a store of format 1 there are none, nor is there a table
            self._ask("DELETE FROM made WHERE number = ?", number)

    def add_piece(self, number: int, content: bytes) -> None:
        """A further piece of the index."""
        with self._name_file():
            make_cache(self._db)
            self._db.execute("INSERT INTO made VALUES (?, ?)", (number, content))

    def in_batches(self, question: str, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """The answers to a question with a list of names in it."""
        wanted = list(names)
        for at in range(0, len(wanted), BATCH):
            some = wanted[at : at + BATCH]
            yield from self._ask(question.format(", ".join("?" * len(some))), *some)

    def unknown(self, ids: Iterable[str]) -> list[str]:
        """Those that are no items of the store."""
        wanted = list(ids)
        known = {name for (name,) in self.in_batches("SELECT id FROM items WHERE id IN ({})", wanted)}
        return [name for name in wanted if name not in known]

    def _json(self, text: str, what: str) -> Any:
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            held = None
        if not isinstance(held, dict):
            raise ModelFileError(f"{self.path}: the store is damaged ({what} is not as it was written)")
        return held

    def groups(self) -> dict[str, str]:
        """The group id of each item that has one."""
        both = "FROM items JOIN members ON item = id"
        return dict(self._ask(f"SELECT item, grp {both} ORDER BY items.rowid"))

    def group_of(self, item: str) -> str | None:
        """The group of an item."""
        rows = self._ask("SELECT grp FROM members WHERE item = ?", item)
        return rows[0][0] if rows else None

    def members(self, group: str) -> list[str]:
        """The items of a group."""
        both = "FROM items JOIN members ON item = id"
        rows = self._ask(f"SELECT item {both} WHERE grp = ? ORDER BY items.rowid", group)
        return [item for (item,) in rows]

    def size(self, group: str) -> int:
        """How many items a group has."""
        return int(self._ask("SELECT count(*) FROM members WHERE grp = ?", group)[0][0])

    def was_given(self, group: str) -> bool:
        """Whether an id was ever given."""
        return bool(self._ask("SELECT 1 FROM ids WHERE id = ?", group))

    def entry(self, group: str) -> LedgerEntry:
        """What the ledger says of an id."""
        rows = self._ask("SELECT id, made, ended, origins, heirs FROM ids WHERE id = ?", group)
        if not rows:
            raise DataError(f"{self.path}: there is no group {group!r}, and there never was")
        return self._entry(rows[0])

    def _entry(self, row: tuple[Any, ...]) -> LedgerEntry:
        name, made, ended, *lists = row
        try:
            origins, heirs = (() if text == "[]" else tuple(map(str, json.loads(text))) for text in lists)
        except (TypeError, ValueError, RecursionError):
            what = f"the id {name!r:.40} is not as it was written"
            raise ModelFileError(f"{self.path}: the store is damaged ({what})") from None
        return LedgerEntry(name, made, ended, origins, heirs)

    def resolve(self, group: str) -> tuple[str, ...]:
        """The living groups that an id leads to, at the cost of the chain alone."""
        found: dict[str, None] = {}
        seen, waiting = set[str](), [group]
        while waiting:
            entry = self.entry(waiting.pop())
            if entry.id not in seen:
                seen.add(entry.id)
                found.update({} if entry.ended is not None else {entry.id: None})
                waiting.extend(reversed(entry.into))
        return tuple(found)

    def ledger(self) -> Ledger:
        """All ids."""
        rows = self._ask("SELECT id, made, ended, origins, heirs FROM ids ORDER BY rowid")
        try:
            return Ledger(map(self._entry, rows))
        except DataError as error:
            raise ModelFileError(f"{self.path}: the store is damaged ({error})") from None

    def fresh_id(self, *about: object) -> str:
        """An id that was never given, for a group of the next run."""
        name = fresh_id("run", self.next_number(), *about)
        while self.was_given(name):
            name = fresh_id(name)
        return name

    def next_number(self) -> int:
        """The number of the next event."""
        return int(self._ask("SELECT coalesce(max(number), 0) + 1 FROM log")[0][0])

    def log(self) -> list[Event]:
        """All runs and decisions, in order."""
        places: dict[int, dict[str, str | None]] = {}
        for run, item, group in self._ask("SELECT run, item, grp FROM places"):
            places.setdefault(run, {})[item] = group
        return self._events(places)

    def _events(self, places: Mapping[int, Mapping[str, str | None]]) -> list[Event]:
        """The log with what runs have placed, or without it, which is much the longest part."""
        rows = self._ask("SELECT number, kind, author, time, content FROM log ORDER BY number")
        return [self._event(places.get(row[0], {}), *row) for row in rows]

    def models(self) -> list[StoredModel]:
        """The models of a project, the oldest first."""
        if not self._has_project():
            return []
        rows = self._ask("SELECT number, time, about FROM models ORDER BY number")
        return [StoredModel(n, time, self._json(about, f"model {n}")) for n, time, about in rows]

    def model(self, number: int) -> bytes:
        """A model file that is kept."""
        rows = self._ask("SELECT content FROM models WHERE number = ?", number) if self._has_project() else []
        if not rows:
            raise DataError(f"{self.path}: there is no model {number}")
        return bytes(rows[0][0])

    def settings(self) -> dict[str, Any]:
        """The settings of a project."""
        if not self._has_project():
            return {}
        rows = self._ask("SELECT name, value FROM settings")
        return {
            name: self._json(f'{{"value": {value}}}', f"setting {name!r}")["value"] for name, value in rows
        }

    def _has_project(self) -> bool:
        with self._name_file():
            return has_project(self._db)

    def _event(
        self, places: Mapping[str, str | None], number: int, kind: str, author: str, time: str, content: str
    ) -> Event:
        held = self._json(content, f"event {number}")
        if kind == "run":
            return LoggedRun(number, places, author, time, str(held.get("note", "")))
        try:
            items = tuple(held.pop("items", ()))
            if not all(isinstance(item, str) for item in items):
                raise ValueError("its items are no names")
            piles = _piles(held.pop("piles", []))
            about = {"author": author, "time": time, "number": number, "store": str(self.path)}
            return Decision(kind, items, piles=piles, **about, **held)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"{self.path}: the store is damaged (decision {number}: {error})") from None

    def decisions(self) -> list[Decision]:
        """All decisions, also those that were undone."""
        return [event for event in self._events({}) if isinstance(event, Decision)]

    def recent(self, most: int) -> list[Decision]:
        """The last decisions, the oldest of them first."""
        rows = self._ask(
            "SELECT number, kind, author, time, content FROM log ORDER BY number DESC LIMIT ?", most
        )
        events = [self._event({}, *row) for row in reversed(rows)]
        return [event for event in events if isinstance(event, Decision)]

    def page(self, offset: int, limit: int, search: str = "") -> tuple[int, list[Item]]:
        """Some items in the order in which they came, and how many there are: all, or those in whose id or
        fields a text is found, whatever its case.
        """
        # A field is kept as JSON: what is looked for must be written as it is there.
        wanted = json.dumps(search, ensure_ascii=False)[1:-1].replace("\\", "\\\\")
        like = f"%{wanted.replace('%', chr(92) + '%').replace('_', chr(92) + '_')}%"
        where = "WHERE id LIKE ? ESCAPE '\\' OR fields LIKE ? ESCAPE '\\'" if search else ""
        given = (like, like) if search else ()
        (total,) = self._ask(f"SELECT count(*) FROM items {where}", *given)[0]
        question = f"SELECT id, fields, source FROM items {where} ORDER BY rowid LIMIT ? OFFSET ?"
        rows = self._ask(question, *given, limit, offset)
        return int(total), [Item(n, self._json(f, f"the item {n!r}"), s) for n, f, s in rows]

    def count_groups(self) -> int:
        """How many groups there are."""
        return int(self._ask("SELECT count(DISTINCT grp) FROM members")[0][0])

    def state(self) -> State:
        """The replay of the log: groups, ledger, and judgements of pairs.

        Where nobody has decided anything, the groups and ids that are kept beside the log are that.
        """
        if not self._ask("SELECT 1 FROM log WHERE kind != 'run' LIMIT 1"):
            return State.standing(self.groups(), self.ledger())
        return self.replay_log()

    def replay_log(self) -> State:
        """The replay of the log, whatever is in it."""
        with self._replaying():
            events = self.log()
            named = {item: d for d in events if isinstance(d, Decision) for item in d.items}
            for item in self.unknown(named):
                raise DataError(f"{named[item]} names {item!r}, and there is no such item")
            return replay(events)

    def undone(self) -> Mapping[int, Decision]:
        """The numbers of the decisions that do not count any more, and by which undo."""
        with self._replaying():
            return undone(self._events({}))

    @contextmanager
    def _replaying(self) -> Iterator[None]:
        """What cannot be in a log is damage of the file."""
        try:
            yield
        except DataError as error:
            what = str(error).replace(f" of {self.path}", "")  # which the message names already
            raise ModelFileError(f"{self.path}: the store is damaged ({what})") from None
