"""Undo at the cost of what it moves: what an event changed is kept beside the log, and put back.

The groups of a store are the replay of its log. A replay without the last event that moved something is the
state before that event, which is what is kept here; any other undo is replayed in full (`Store.decide`).
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

from .decisions import Decision
from .replay import Event

# What moves items; all else only binds the runs that follow.
MOVING = ("move", "merge", "split")


def keep_before(db: sqlite3.Connection, event: int, items: Iterable[str], ids: Iterable[str]) -> None:
    """Write down where items are and what ids are now, before an event changes them."""
    where = "SELECT ?, ?, (SELECT grp FROM members WHERE item = ?)"
    db.executemany(f"INSERT INTO places_before {where}", ((event, item, item) for item in items))
    row = "SELECT ?, ?, made, ended, origins, heirs FROM (SELECT 1) LEFT JOIN ids ON id = ?"
    db.executemany(f"INSERT INTO ids_before {row}", ((event, name, name) for name in ids))


def base_of(number: int, events: Sequence[Event]) -> Decision | None:
    """The decision that an undo is about in the end, through undos of undos."""
    known = {event.number: event for event in events}
    found = known.get(number)
    while isinstance(found, Decision) and found.kind == "undo":
        found = known.get(found.undoes or 0)
    return found if isinstance(found, Decision) else None


def is_last_to_move(db: sqlite3.Connection, event: int) -> bool:
    """Whether no item was moved since an event, and no id changed: a replay may change ids alone."""
    tables = ("places_before", "ids_before")
    last = max(db.execute(f"SELECT max(event) FROM {table}").fetchone()[0] or 0 for table in tables)
    (run,) = db.execute("SELECT max(run) FROM places").fetchone()
    return last == event and event > (run or 0)


def put_back(db: sqlite3.Connection, event: Event, undo: int) -> None:
    """The groups and ids as they were before an event; what they are now is kept for an undo of the undo.

    An id that the event gave leads to where its items are without it, as in a replay.
    """
    rows = db.execute("SELECT item, grp FROM places_before WHERE event = ?", (event.number,))
    places: dict[str, str | None] = dict(rows.fetchall())
    ids = db.execute(
        "SELECT id, made, ended, origins, heirs FROM ids_before WHERE event = ?", (event.number,)
    ).fetchall()
    keep_before(db, undo, places, [row[0] for row in ids])
    db.executemany("DELETE FROM members WHERE item = ?", ((item,) for item in places))
    db.executemany("INSERT INTO members VALUES (?, ?)", (row for row in places.items() if row[1] is not None))
    db.executemany("DELETE FROM ids WHERE id = ?", ((row[0],) for row in ids))
    if isinstance(event, Decision) and event.kind != "undo":
        given = Counter(group for item in event.items if (group := places.get(item)) is not None)
        heirs, at = json.dumps([name for name, _ in given.most_common()]), event.number
        ids = [row if row[1] is not None else (row[0], at, at, heirs, heirs) for row in ids]
    kept = [row for row in ids if row[1] is not None]
    db.executemany("INSERT INTO ids VALUES (?, ?, ?, ?, ?)", kept)
