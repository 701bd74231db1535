"""Stores, damaged: each is refused by name, or used; what a run needs of it is whole."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.storage import pack, unpack
from clustruct.groups import read_groups

from . import commands
from .tally import FINE, Outcome, Part, fault
from .victims import prepare

# Values that a column of a store may hold by its type, and that nobody wrote there.
TEXTS = [
    *("", "g0", "k1", "zz", "{", "{}", "[]", "[1]", "null", "1e400", "\x1b[31m", "x" * 10_000, "[" * 3000),
    *('["k1", "k2"]', '{"items": ["k1", "k1"]}', '{"undoes": 1}', '{"items": "k1"}', '{"note": {}}'),
    *('{"piles": [["k1"], ["k2"]]}', '{"piles": ["k1"]}'),
    *("run", "undo", "merge", "split", "same", "sort", "9" * 400, "\ufffe", "\0"),
]
NUMBERS = [None, 0, -1, 1, 2, 3, 99, 2**62, -(2**62)]
COLUMNS = {
    "items": {"id": TEXTS, "fields": TEXTS, "source": TEXTS},
    "log": {"number": NUMBERS, "kind": TEXTS, "author": TEXTS, "time": TEXTS, "content": TEXTS},
    "places": {"run": NUMBERS, "item": TEXTS, "grp": [None, *TEXTS]},
    "members": {"item": TEXTS, "grp": TEXTS},
    "ids": {"id": TEXTS, "made": NUMBERS, "ended": NUMBERS, "origins": TEXTS, "heirs": TEXTS},
}
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")
USES = {
    "store": ["store", "people.db", "--groups-out", "new.csv"],
    "verify": ["store", "people.db", "--verify"],
    "decide": ["store", "people.db", "--decide", "undo", "2"],
    "predict": ["predict", "new.jsonl", "--model", "records", "--id", "id", "--existing", "people.db"],
    "diff": ["diff", "people.db", "whole.csv"],
}


class Stores(Part):
    name = "stores"
    about = (
        "SQLite stores: bytes, contents, kept index damaged; looked at, decided on, predicted into (1,000)"
    )

    def cases(self, scale: float, seed: int) -> list[str]:
        names = list(USES)
        return [f"{names[n % len(names)]}:{n}" for n in range(max(1, round(1000 * scale)))]

    def prepare(self, folder: Path, seed: int) -> None:
        prepare(folder)
        groups = read_groups(folder / "people.db")
        (folder / "whole.csv").write_text(
            "id,cluster\n" + "".join(f"{item},{group}\n" for item, group in groups.items())
        )

    def start(self, folder: Path, seed: int) -> None:
        for name in USES:
            self._whole(name, folder)

    @cached_property
    def _printed(self) -> dict[str, str]:
        return {}

    def _whole(self, name: str, folder: Path) -> str:
        """What a use of the store prints when nothing is damaged, without times."""
        if name not in self._printed:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                _furnish(folder, Path(own))
                ran = commands.run("clustruct", USES[name], Path(own))
                if ran.code != 0:
                    raise RuntimeError(f"{name}: {ran}")
                self._printed[name] = TIME.sub("", ran.out)
        return self._printed[name]

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        name, number = case.split(":")
        rng = np.random.default_rng([seed, int(number)])
        with tempfile.TemporaryDirectory(dir=folder) as own:
            there = Path(own)
            _furnish(folder, there)
            damage = (_rewrite, _damage, _spoil_index)[int(rng.integers(3))]
            damage(there / "people.db", rng)
            before = commands.contents(there)
            ran = commands.run("clustruct", USES[name], there)
            found = commands.judged(ran, ["people.db", "undoes decision 2"])
            if found.status == "fault":
                return found
            if damage is _spoil_index and TIME.sub("", ran.out) != self._whole(name, folder):
                return fault("index", f"{name} says something else: {ran}")
            return _judged(found, before, there, "whole.csv" if name in ("store", "verify", "diff") else "")


def _judged(found: Outcome, before: dict[str, str], folder: Path, whole: str) -> Outcome:
    after = commands.contents(folder)
    left = set(after) - {*before, "new.csv"}
    if left:
        return fault("left over", ", ".join(sorted(left)))
    if found.status == "refused" and after.get("people.db") != before["people.db"]:
        return fault("half-written", "a store that was refused has changed")
    if found.status == "refused" and "new.csv" in after:
        return fault("left over", "new.csv of a store that was refused")
    if found.status == "fine" and whole and _groups(folder / "people.db") != _groups(folder / whole):
        # SQLite has no checksum: other letters in a text are another text.
        return Outcome("forged")
    return found if found.status == "refused" else FINE


def _groups(path: Path) -> Any:
    try:
        return read_groups(path)
    except ValueError as error:
        return str(error)


def _furnish(folder: Path, own: Path) -> None:
    for name in ("people.db", "new.jsonl", "records", "whole.csv"):
        shutil.copy(folder / name, own)


def _damage(path: Path, rng: np.random.Generator) -> None:
    """Other bytes, fewer or more of them."""
    data = bytearray(path.read_bytes())
    kind = rng.integers(0, 4)
    if kind == 0:
        data = data[: int(rng.integers(0, len(data)))]
    elif kind == 1:
        data += rng.bytes(int(rng.integers(1, 9000)))
    else:
        for _ in range(int(rng.choice([1, 4, 100]))):
            at = int(rng.integers(0, 200 if kind == 2 else len(data)))
            data[at] = int(rng.integers(0, 256))
    path.write_bytes(bytes(data))


def _spoil_index(path: Path, rng: np.random.Generator) -> None:
    """Another index than the one that was kept. It says nothing that the items do not say: what a command
    prints must not change.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        held = db.execute("SELECT number, content FROM made ORDER BY number").fetchall()
        for number, content in held:
            data, kind = bytearray(content), int(rng.integers(6))
            if kind == 0:
                db.execute("DELETE FROM made WHERE number = ?", [number])
                continue
            if kind == 1:
                data = data[: int(rng.integers(0, len(data)))]
            elif kind == 2:
                data += rng.bytes(int(rng.integers(1, 200)))
            elif kind == 3:
                db.execute("INSERT INTO made VALUES (?, ?)", [number + 1, bytes(data)])  # the same twice
            elif kind == 4:
                data = bytearray(_repacked(bytes(data), rng))
            else:
                for _ in range(int(rng.choice([1, 4, 100]))):
                    data[int(rng.integers(0, len(data)))] = int(rng.integers(0, 256))
            db.execute("UPDATE made SET content = ? WHERE number = ?", [bytes(data), number])


def _repacked(content: bytes, rng: np.random.Generator) -> bytes:
    """A whole piece that is of other items, another version, or lacks something."""
    held = unpack(content)
    key = str(rng.choice(sorted(held)))
    if rng.random() < 0.5:
        del held[key]
    else:
        held[key] = [None, 0, -1, "", "x", [], {}, 10**9][int(rng.integers(8))]
    return pack(held)


def _rewrite(path: Path, rng: np.random.Generator) -> None:
    """Other contents in tables that are as they should be."""
    db = sqlite3.connect(path, isolation_level=None)
    triggers = [t for (t,) in db.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")]
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for _ in range(int(rng.integers(1, 4))):
        table = str(rng.choice(list(COLUMNS)))
        column = str(rng.choice(list(COLUMNS[table])))
        given = COLUMNS[table][column]
        chosen = "rowid" if table != "places" else "item"
        row = f"(SELECT {chosen} FROM {table} ORDER BY {chosen} LIMIT 1 OFFSET {int(rng.integers(0, 12))} )"
        try:
            if rng.random() < 0.2:
                db.execute(f"DELETE FROM {table} WHERE {chosen} = {row}")
            else:
                value = given[int(rng.integers(len(given)))]
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {chosen} = {row}", [value])
        except sqlite3.Error:
            continue
    for text in triggers:
        db.execute(text)
    db.close()
