"""A store of known items beside the records, and whether it is what it was or what it should become."""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path

from clustruct.core.exceptions import ModelFileError
from clustruct.data.io import read_sets
from clustruct.features.columns import Columns
from clustruct.groups import Decision, Item, Store
from clustruct.groups.known import index_of, read_items

KNOWN = 12
NOTES = ("first", "second")


def write_store(folder: Path) -> None:
    """people.db with the first items of records.csv and decisions; new.csv with the others; fix.csv."""
    (first, *_) = read_sets(folder / "records.csv", set="set", cluster="cluster", id="id", labels="required")
    fields = first.fields()
    rows = [{name: first.column(name)[a] for name in fields} for a in range(len(first))]
    known = min(KNOWN, len(rows) - 3)
    with Store.create(folder / "people.db") as store:
        store.add_items(Item(f"k{a}", row, "records.csv") for a, row in enumerate(rows[:known]))
        store.record_run({f"k{a}": f"g{first.labels[a]}" for a in range(known)} if first.labels else {})
        for note in NOTES:
            store.decide(Decision("note", note=note, author="ann"))
    new = [{"id": f"n{a}", **row} for a, row in enumerate(rows[known:])]
    (folder / "new.jsonl").write_text(json.dumps({"items": new}) + "\n")
    (folder / "fix.csv").write_text("a,b,answer,author\nk0,k1,unsure,ann\nk1,k2,unsure,bob\n")


def write_early(folder: Path) -> list[str]:
    """early.jsonl with one more item, and the command that brings it into the store, which then keeps an
    index.
    """
    (first, *_) = json.loads((folder / "new.jsonl").read_text())["items"]
    (folder / "early.jsonl").write_text(json.dumps({"items": [{**first, "id": f"k{KNOWN}"}]}) + "\n")
    words = "predict early.jsonl --model records --id id --existing people.db --quiet"
    return words.split()


def write_tables(folder: Path) -> None:
    """first.csv and second.csv, rows of records.csv to be linked; said.csv, what somebody said of a pair."""
    head, *rows = (folder / "records.csv").read_text().splitlines()
    for name, part in (("first", rows[::2]), ("second", rows[1::2])):
        (folder / f"{name}.csv").write_text("\n".join([head, *part, ""]))
    a, b = (row["id"] for row in islice(csv.DictReader([head, *rows]), 2))
    (folder / "said.csv").write_text(f"a,b,answer\n{a},{b},unsure\n")


def fault_of(path: Path) -> str | None:
    """What is wrong with the store: damaged, decisions lost, or only a part of a run or of a file in it."""
    try:
        with Store(path) as store:
            store.verify()
            items = {item.id for item in store.items()}
            grouped, decisions = set(store.groups()), store.decisions()
            if (damage := _fault_of_index(store)) is not None:
                return damage
    except ModelFileError as error:
        return str(error)
    if tuple(d.note for d in decisions[: len(NOTES)]) != NOTES:
        return "decisions are lost"
    if sum(d.kind == "unsure" for d in decisions) % 2:
        return "a part of a file of decisions was taken in"
    if items != grouped:
        return f"{len(items - grouped)} items of a run that is not there"
    new = {item for item in items if item.startswith("n")}
    listed = json.loads((path.parent / "new.jsonl").read_text())["items"]
    return None if len(new) in (0, len(listed)) else "a part of the new items"


def _fault_of_index(store: Store) -> str | None:
    """What is wrong with the index that a store keeps, where it keeps one: it must say what the items say."""
    names = store.item_names()
    if not any(True for _ in store.pieces(numbers=True)):
        return None
    index, anew = index_of(store, names), Columns(read_items(store, names))
    if not index.pieces:
        return "the index that is kept cannot be read"
    for field in index.table.fields():
        both = index.columns.texts(field), anew.texts(field)
        kept, made = ([texts.values[c] for c in texts.codes] for texts in both)
        if kept != made:
            return f"the index that is kept has other texts of {field}"
    return None
