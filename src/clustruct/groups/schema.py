"""The tables of a store, and the file they are in: made whole or not at all, and checked before it is
used.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage.targets import creating

# "clus" in the header of the file says whose it is; the number says which tables it has, and what may be in
# its log.
APPLICATION = int.from_bytes(b"clus", "big")
FORMAT = 4
# Decisions that versions before this format do not know (4). An older store is of it when one is first kept.
LATER_KINDS = ("sort",)
MAGIC = b"SQLite format 3\0"
# Files up to this size are looked through when they are opened (a second or so); larger ones by
# `Store.verify`.
LOOKED_THROUGH = 256 * 2**20
PATIENCE = 30.0  # seconds to wait for another process that writes

TABLES = {
    "items": "CREATE TABLE items (id TEXT PRIMARY KEY NOT NULL, fields TEXT NOT NULL, "
    "source TEXT NOT NULL) STRICT",
    "log": "CREATE TABLE log (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, author TEXT NOT NULL, "
    "time TEXT NOT NULL, content TEXT NOT NULL) STRICT",
    "places": "CREATE TABLE places (run INTEGER NOT NULL REFERENCES log (number), item TEXT NOT NULL, "
    "grp TEXT, PRIMARY KEY (run, item)) STRICT, WITHOUT ROWID",
    "members": "CREATE TABLE members (item TEXT PRIMARY KEY NOT NULL, grp TEXT NOT NULL) STRICT",
    "members_of": "CREATE INDEX members_of ON members (grp)",
    "ids": "CREATE TABLE ids (id TEXT PRIMARY KEY NOT NULL, made INTEGER NOT NULL, ended INTEGER, "
    "origins TEXT NOT NULL, heirs TEXT NOT NULL) STRICT",
    "log_is_kept": "CREATE TRIGGER log_is_kept BEFORE DELETE ON log "
    "BEGIN SELECT RAISE(ABORT, 'the log is only added to'); END",
    "log_is_fixed": "CREATE TRIGGER log_is_fixed BEFORE UPDATE ON log "
    "BEGIN SELECT RAISE(ABORT, 'the log is only added to'); END",
}
# What can be made again of the items, and goes when one of them is not what it was. Stores of format 1 have
# none of it; it is added when there is something to be put there.
MADE = {
    "made": "CREATE TABLE made (number INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT",
    "made_of_others": "CREATE TRIGGER made_of_others AFTER UPDATE ON items BEGIN DELETE FROM made; END",
    "made_of_more": "CREATE TRIGGER made_of_more AFTER DELETE ON items BEGIN DELETE FROM made; END",
}
# What a project has beside that (format 3). An older store gets them when something is first kept there.
PROJECT = {
    "models": "CREATE TABLE models (number INTEGER PRIMARY KEY, time TEXT NOT NULL, about TEXT NOT NULL, "
    "content BLOB NOT NULL) STRICT",
    "settings": "CREATE TABLE settings (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT",
    # Where items were, and what ids were, before an event that people may undo.
    "places_before": "CREATE TABLE places_before (event INTEGER NOT NULL, item TEXT NOT NULL, grp TEXT, "
    "PRIMARY KEY (event, item)) STRICT, WITHOUT ROWID",
    "ids_before": "CREATE TABLE ids_before (event INTEGER NOT NULL, id TEXT NOT NULL, made INTEGER, "
    "ended INTEGER, origins TEXT, heirs TEXT, PRIMARY KEY (event, id)) STRICT, WITHOUT ROWID",
}


def make_file(path: Path) -> None:
    """An empty store, which appears when it is whole."""
    if path.exists():
        raise ModelFileError(f"{path}: there is a file already")
    if not path.parent.is_dir():
        raise ModelFileError(f"{path}: there is no folder {path.parent}")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for text in {**TABLES, **MADE, **PROJECT}.values():
            db.execute(text)
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORMAT}")
        content = db.serialize()
    try:
        with creating(path) as f:
            f.write(content)
    except FileExistsError:
        raise ModelFileError(f"{path}: there is a file already") from None


def connect(path: Path) -> sqlite3.Connection:
    """A connection without transactions of its own, to a file whose tables may not call functions."""
    name = quote(os.fsencode(os.path.abspath(path)))
    db = sqlite3.connect(f"file:{name}?mode=rw", uri=True, isolation_level=None, timeout=PATIENCE)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    return db


def is_store(path: str | PathLike[str]) -> bool:
    """Whether a file is a database (of a store, one may hope) and not a file of text."""
    try:
        if not Path(path).is_file():  # what comes down a pipe can be read once
            return False
        with open(path, "rb") as f:
            return f.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def check_header(path: Path) -> None:
    """Whether a file is a store that can be read, by its first hundred bytes."""
    try:
        if path.exists() and not path.is_file():  # nor would a pipe ever end
            raise ModelFileError(f"{path}: not a clustruct store")
        with open(path, "rb") as f:
            head = f.read(100)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from None
    if len(head) < 100 or not head.startswith(MAGIC) or _number(head, 68) != APPLICATION:
        raise ModelFileError(f"{path}: not a clustruct store")
    if _number(head, 60) > FORMAT:
        raise ModelFileError(
            f"{path}: a store of format {_number(head, 60)}; this version reads formats up to {FORMAT}"
        )


def is_in_wal_mode(path: Path) -> bool:
    """Whether changes are first written to a file beside it, as its header says."""
    with open(path, "rb") as f:
        return f.read(20)[18:] == b"\2\2"


def make_cache(db: sqlite3.Connection) -> None:
    """A place for what is made of the items, in a store that has none, as part of a transaction."""
    if not has_made(db):
        _add(db, MADE)


def make_project(db: sqlite3.Connection) -> None:
    """The tables of a project, in a store that has none, as part of a transaction."""
    if not has_project(db):
        _add(db, PROJECT)


def make_room_for(db: sqlite3.Connection, kind: str) -> None:
    """The format that a decision of this kind needs, as part of a transaction."""
    if kind in LATER_KINDS and db.execute("PRAGMA user_version").fetchone()[0] < FORMAT:
        db.execute(f"PRAGMA user_version = {FORMAT}")


def _add(db: sqlite3.Connection, tables: Mapping[str, str]) -> None:
    for text in tables.values():
        db.execute(text)
    db.execute(f"PRAGMA user_version = {FORMAT}")


def has_made(db: sqlite3.Connection) -> bool:
    """Whether a store has a place for what is made of its items."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'made'").fetchone() is not None


def has_project(db: sqlite3.Connection) -> bool:
    """Whether a store has the tables of a project."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'models'").fetchone() is not None


def _number(head: bytes, at: int) -> int:
    return int.from_bytes(head[at : at + 4], "big")


def check_tables(db: sqlite3.Connection, path: Path, thoroughly: bool) -> None:
    """Whether the file has these tables and no others (nor views or triggers of somebody else), undamaged."""
    rows = db.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    found = dict(rows.fetchall())
    if found not in (TABLES, {**TABLES, **MADE}, {**TABLES, **PROJECT}, {**TABLES, **MADE, **PROJECT}):
        raise ModelFileError(f"{path}: not a clustruct store (its tables are others)")
    if thoroughly and (verdict := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise ModelFileError(f"{path}: the store is damaged ({' '.join(verdict.split())})")
