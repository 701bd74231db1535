"""An index that a store keeps: the answers are those of items read anew, whatever became of it."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import ModelFileError
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.features import check_tables
from clustruct.groups import Decision, Item, Store, add_to_groups, known_of_store, record
from clustruct.groups import known as module
from clustruct.groups.schema import MADE


@pytest.fixture(scope="module")
def pipeline():
    return check_tables(Recipe(C=1.0).fit(make_records(n_sets=4, n_people=6)).pipeline_)


@pytest.fixture(scope="module")
def people():
    table = make_records(n_sets=1, n_people=20, random_state=3)[0]
    return Table(table.items, ids=[f"p{a}" for a in range(len(table))])


def a_day(store, pipeline, new, indexed=True):
    known = known_of_store(store, indexed=indexed)
    found = add_to_groups(pipeline, known, new, fresh=store.fresh_id)
    if not indexed:
        found = replace(found, index=replace(found.index, pieces=()))
    record(store, found)
    return found


def two_stores(tmp_path):
    return Store.create(tmp_path / "kept.db"), Store.create(tmp_path / "anew.db")


def pieces(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT number, content FROM made ORDER BY number").fetchall()


def changed(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement, *values in statements:
            db.execute(statement, values)


def rounded(update):
    """With gains that do not tell in which order sums were made."""
    proposals = tuple(replace(one, gain=round(one.gain, 9)) for one in update.proposals)
    return replace(update, proposals=proposals)


@pytest.mark.parametrize("seed", range(3))
def test_a_stream_with_a_kept_index_is_the_stream_read_anew(tmp_path, pipeline, people, seed):
    kept, anew = two_stores(tmp_path)
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, len(people)), 6, replace=False))
    for n, rows in enumerate(np.split(rng.permutation(len(people)), cuts)):
        new = people.take(rows)
        one, other = a_day(kept, pipeline, new), a_day(anew, pipeline, new, indexed=False)
        assert rounded(one.update) == rounded(other.update)
        assert kept.groups() == anew.groups()
        if n == 2:
            for store in (kept, anew):  # what came by another way is added to the index
                store.add_items([Item("late", {"name": "ann lee"})])
                store.record_run({"late": "g-late"})
        if n == 3:
            first = next(iter(kept.groups()))
            for store in (kept, anew):
                store.add_items([Item(first, {"name": "another name"})])
        if n == 4:
            some = list(dict.fromkeys(kept.groups().values()))[:2]
            for store in (kept, anew):
                store.decide(Decision("merge", group=some[0], into=some[1]))
        kept.verify()
    assert pieces(kept.path)
    assert len(pieces(kept.path)) < 6


def test_what_is_wrong_with_an_index_does_not_matter(tmp_path, pipeline, people):
    days = [people.take(rows) for rows in np.array_split(np.arange(len(people)), 3)]
    with Store.create(tmp_path / "whole.db") as store:
        for day in days[:2]:
            a_day(store, pipeline, day)
    (number, content), *_ = pieces(tmp_path / "whole.db")
    forged = module.unpack(content)
    terms = next(name for name in forged["arrays"] if name.startswith("terms"))
    sizes, indices, counts = forged["arrays"][terms]
    forged["arrays"][terms] = [sizes, indices + 1_000_000, counts]
    half = bytearray(content)
    half[len(half) // 2] ^= 1
    faults = {
        "as it was": [],
        "a bit": [("UPDATE made SET content = ? WHERE number = ?", bytes(half), number)],
        "cut": [("UPDATE made SET content = ?", content[:1000])],
        "empty": [("UPDATE made SET content = x''",)],
        "gone": [("DELETE FROM made",)],
        "terms that are none": [
            ("UPDATE made SET content = ? WHERE number = ?", module.pack(forged), number)
        ],
        "another version": [
            (
                "UPDATE made SET content = ? WHERE number = ?",
                module.pack({**module.unpack(content), "maker": "0"}),
                number,
            )
        ],
        "a field other": [("UPDATE items SET fields = '{\"name\": \"zoe\"}' WHERE id = 'p0'",)],
        "a store of format 1": [(f"DROP {text.split()[1]} IF EXISTS {name}",) for name, text in MADE.items()][
            ::-1
        ]
        + [("PRAGMA user_version = 1",)],
    }
    for name, statements in faults.items():
        found = []
        for indexed in (True, False):
            path = tmp_path / f"{name} {indexed}.db"
            path.write_bytes((tmp_path / "whole.db").read_bytes())
            changed(path, *statements)
            with Store(path) as store:
                found.append(a_day(store, pipeline, days[2], indexed).update)
                store.verify()
            with Store(path) as store:  # and it is there again
                assert known_of_store(store).index.pieces
        assert found[0] == found[1], name


def test_values_are_read_when_they_are_asked_for(tmp_path, pipeline, people):
    with Store.create(tmp_path / "s.db") as store:
        a_day(store, pipeline, people)
        known = known_of_store(store)
        assert known.index.pieces
        field = people.fields()[0]
        assert known.table.column(field) == people.column(field)
        assert known.table.ids == people.ids


def test_a_store_that_changes_meanwhile_is_not_given_an_index_of_other_items(tmp_path, pipeline, people):
    first, second = (people.take(rows) for rows in np.array_split(np.arange(len(people)), 2))
    with Store.create(tmp_path / "s.db") as store:
        a_day(store, pipeline, first)
        found = add_to_groups(pipeline, known_of_store(store), second, fresh=store.fresh_id)
        store.add_items([Item("between", {"name": "eve"})])
        record(store, found)
        names = store.item_names()
        assert names.index("between") == len(first)
        assert known_of_store(store).table.ids == names
        with pytest.raises(ModelFileError, match="changed while it was read"):
            module.read_items(store, ["x", *names[1:]])
