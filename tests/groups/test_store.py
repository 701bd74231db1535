"""The store on a real file: replay equals what is kept, kills leave old or new, foreign files are named."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from clustruct.core.exceptions import DataError, ModelFileError
from clustruct.groups import Decision, Item, LoggedRun, Store, is_store, read_labels, replay, write_decisions
from clustruct.groups.schema import TABLES
from tests.groups.histories import ITEMS, histories


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "s.db") as made:
        made.add_items(Item(name, {"name": f"item {name}", "n": n}) for n, name in enumerate("abcde"))
        made.record_run({"a": "g", "b": "g", "c": "h", "d": "h", "e": "k"})
        yield made


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(10))
def test_what_is_kept_is_the_replay_of_the_log(tmp_path_factory, events):
    path = tmp_path_factory.mktemp("s") / "s.db"
    with Store.create(path) as store:
        store.add_items(Item(name, {}) for name in ITEMS)
        for event in events:
            is_run = isinstance(event, LoggedRun)
            assert (store.record_run(event.places) if is_run else store.decide(event)) == event.number
        store.verify()
        assert store.groups() == replay(events).groups
        for entry in store.ledger():
            assert store.resolve(entry.id) == store.ledger().resolve(entry.id)
    with Store(path) as again:
        assert again.groups() == replay(events).groups
        again.verify()


def test_an_id_of_a_decision_that_an_undo_made_void_leads_to_where_its_items_were_then(tmp_path):
    with Store.create(tmp_path / "s.db") as store:
        store.add_items(Item(name, {}) for name in "abc")
        store.record_run({"a": "g1", "b": "g0", "c": "g0"})
        merge = store.decide(Decision("merge", group="g0", into="g1"))
        store.decide(Decision("split", ("a",), group="g1", into="new"))
        store.decide(Decision("undo", undoes=merge))
        assert store.resolve("new") == ("g1",)
        store.record_run({"a": "g0"})
        store.verify()
        assert (store.entry("new").into, store.resolve("new")) == (("g1",), ("g0",))


def test_items_keep_their_fields(store):
    assert store.add_items([Item("a", {"name": "other"}, "new.csv"), Item("f", {"list": [1, None]})]) == 1
    assert list(store.items(["f", "a"])) in (
        [Item("a", {"name": "other"}, "new.csv"), Item("f", {"list": [1, None]})],
        [Item("f", {"list": [1, None]}), Item("a", {"name": "other"}, "new.csv")],
    )
    assert [item.id for item in store.items()] == list("abcdef")


def test_decisions_have_time_author_and_number(store):
    number = store.decide(Decision("same", ("a", "c"), author="ann", note="they told me"))
    (found,) = store.decisions()
    assert (found.number, found.author, found.note) == (number, "ann", "they told me")
    assert found.time.endswith("Z")


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (Decision("same", ("a", "zz")), "decision 2 names 'zz', and there is no such item in .*s.db"),
        (Decision("merge", group="g", into="zz"), "decision 2 names the group 'zz', and there never was one"),
        (Decision("undo", undoes=1), "decision 2 undoes decision 1, but runs are not undone"),
        (Decision("undo", undoes=9), "decision 2 undoes decision 9, but there is none before it"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(store, decision, said):
    before = store.groups(), store.log()
    with pytest.raises(DataError, match=said):
        store.decide(decision)
    assert (store.groups(), store.log()) == before


def test_a_run_of_unknown_items_or_into_an_ended_group_is_refused(store):
    with pytest.raises(DataError, match="there is no item 'zz' to be put"):
        store.record_run({"zz": "g"})
    store.decide(Decision("merge", group="k", into="h"))
    with pytest.raises(DataError, match="'k' is of a group that is no more"):
        store.record_run({"a": "k"})


def test_fresh_ids_are_never_those_of_before(store):
    name = store.fresh_id("a")
    store.record_run({"a": name})
    store.record_run({"a": "h"})
    assert store.resolve(name) == ("h",)
    assert store.fresh_id("a") != name


def test_the_log_is_only_added_to(store):
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        store._db.execute("DELETE FROM log")
    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
        store._db.execute("UPDATE log SET author = 'me'")


def test_decisions_of_a_file_come_in_together_once_or_not_at_all(store, tmp_path):
    path = tmp_path / "fix.csv"
    told = {"author": "ann", "time": "2026-01-01T00:00:00Z"}
    some = [
        Decision("same", ("a", "c"), number=4, **told),
        Decision("split", ("a",), group="g", number=5, **told),
        Decision("undo", undoes=5, number=6, **told),
    ]
    write_decisions(path, some)
    assert store.import_decisions(read_labels(path).decisions) == [2, 3, 4]
    assert store.group_of("a") == "g"
    assert store.import_decisions(read_labels(path).decisions) == []
    write_decisions(
        path, [*some, Decision("same", ("b", "c"), number=7), Decision("same", ("b", "x"), number=8)]
    )
    with pytest.raises(DataError, match=r"decision 6 \(line 6 of .*fix.csv\) names 'x'"):
        store.import_decisions(read_labels(path).decisions)
    assert len(store.decisions()) == 3
    # What the store gives out comes back into another one.
    write_decisions(tmp_path / "out.jsonl", store.decisions())
    with Store.create(tmp_path / "t.db") as other:
        other.add_items(Item(name, {}) for name in "abcde")
        other.record_run({"a": "g", "b": "g", "c": "h", "d": "h", "e": "k"})
        other.import_decisions(read_labels(tmp_path / "out.jsonl").decisions)
        assert other.groups() == store.groups()


def test_pairs_of_people_come_in_as_decisions(store, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id1,id2,label\na,c,yes\na,e,no\n")
    store.import_decisions(read_labels(path).decisions)
    assert [(s.a, s.b, s.answer) for s in store.state().judgements()] == [
        ("a", "c", "same"),
        ("a", "e", "different"),
    ]


def foreign(path, application=None, version=None, more=""):
    with sqlite3.connect(path) as db:
        for text in TABLES.values():
            db.execute(text)
        db.executescript(more)
        db.execute(f"PRAGMA application_id = {application or int.from_bytes(b'clus', 'big')}")
        db.execute(f"PRAGMA user_version = {version or 1}")
    db.close()
    return path


def test_what_is_no_store_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"none.db: cannot be read \(No such file"):
        Store(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("id,cluster\n" * 100)
    for path in (tmp_path / "text.db", foreign(tmp_path / "other.db", application=7)):
        with pytest.raises(ModelFileError, match=rf"{path.name}: not a clustruct store$"):
            Store(path)
    (tmp_path / "empty.db").write_bytes(b"")
    with pytest.raises(ModelFileError, match="not a clustruct store"):
        Store(tmp_path / "empty.db")
    with pytest.raises(ModelFileError, match="a store of format 9; this version reads formats up to 4"):
        Store(foreign(tmp_path / "late.db", version=9))
    bad = foreign(tmp_path / "view.db", more="CREATE VIEW v AS SELECT 1")
    with pytest.raises(ModelFileError, match=r"not a clustruct store \(its tables are others\)"):
        Store(bad)
    with pytest.raises(ModelFileError, match="there is a file already"):
        Store.create(tmp_path / "text.db")
    with pytest.raises(ModelFileError, match="there is no folder"):
        Store.create(tmp_path / "no" / "s.db")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_no_store_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert not is_store(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="pipe: not a clustruct store"):
        Store(tmp_path / "pipe")


def test_what_a_store_is_made_of_leaves_nothing_beside_it(tmp_path):
    Store.create(tmp_path / "s.db").close()
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]
    with pytest.raises(ModelFileError, match="there is a file already"), creating_between(tmp_path):
        Store.create(tmp_path / "t.db")
    assert (tmp_path / "t.db").read_text() == "of another process"


@contextmanager
def creating_between(folder):
    """Another process makes the file in the last moment."""
    with mock.patch.object(Path, "exists", return_value=False):
        (folder / "t.db").write_text("of another process")
        yield


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"items": [[1], {}]}', "decision 90: its items are no names"),
        ('{"items": ["a", "zz"]}', "decision 90 names 'zz', and there is no such item"),
        ('{"items": ["a"]}', r"decision 90: same takes two items \(a and b\), not 1"),
    ],
)
def test_decisions_that_nobody_wrote_are_damage(store, content, said):
    store._db.execute("INSERT INTO log VALUES (90, 'same', '', '', ?)", [content])
    with pytest.raises(ModelFileError, match=rf"the store is damaged \({said}"):
        store.verify()


def test_half_a_character_is_refused_with_the_decision(store):
    with pytest.raises(DataError, match=r"^decision \d+ .*has a name that is not Unicode"):
        store.decide(Decision("note", note="\ud800", author="ann"))


def test_damage_is_named_and_never_a_traceback(tmp_path):
    path = tmp_path / "s.db"
    with Store.create(path) as store:
        store.add_items(Item(str(n), {"text": "word " * 20}) for n in range(500))
        store.record_run({str(n): f"g{n // 3}" for n in range(500)})
    whole = path.read_bytes()
    rng = random.Random(0)
    caught = []
    for trial in range(60):
        damaged = bytearray(whole)
        if trial % 3 == 0:
            damaged = damaged[: rng.randrange(len(damaged))]
        else:
            for _ in range(rng.choice([1, 20, 400])):
                damaged[rng.randrange(100, len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            with Store(path) as store:
                store.verify()
        except (ModelFileError, DataError) as error:
            caught.append(str(error))
        for end in ("-wal", "-shm"):
            (tmp_path / f"s.db{end}").unlink(missing_ok=True)
    assert len(caught) > 20
    assert all("s.db" in said and "\n" not in said for said in caught)


def test_groups_that_are_not_those_of_the_log_are_found(store):
    store._db.execute("UPDATE members SET grp = 'h' WHERE item = 'a'")
    with pytest.raises(ModelFileError, match="its groups are not those of its log"):
        store.verify()


def test_a_kill_at_any_time_leaves_old_or_new(tmp_path):
    path = tmp_path / "s.db"
    Store.create(path).close()
    rng = random.Random(1)
    done = -1
    for _ in range(6):
        words = [sys.executable, "-m", "tests.groups.killed_writer", str(path), str(done + 1)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
            said = writer.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.25))
            os.kill(writer.pid, signal.SIGKILL)
            lines = [said, *writer.stdout.readlines()]
        last = max(int(line) for line in lines if line.strip())
        assert last > done
        with Store(path) as store:
            store.verify()
            groups = store.groups()
            sizes = [len([g for g in groups if g.startswith(f"{n}-")]) for n in range(last + 3)]
            # All that was said to be done is there; of what came after, a run is there as a whole or not.
            assert sizes[: last + 1] == [50] * (last + 1)
            assert sizes[last + 1] in (0, 50)
            done = last + (sizes[last + 1] == 50)
            assert store.size(f"g{last}-0") == (25 if last % 5 == 0 else 50)
            sorts = [d for d in store.decisions() if d.kind == "sort"]
            assert f"{last}-0" in {d.items[0] for d in sorts}
            assert all([len(pile) for pile in d.piles] == [17, 17, 16] for d in sorts)


def test_two_processes_can_write_one_after_the_other(store, tmp_path):
    with Store(tmp_path / "s.db") as other:
        other.decide(Decision("merge", group="k", into="h"))
        store.decide(Decision("merge", group="h", into="g"))
        assert other.resolve("k") == store.resolve("k") == ("g",)


def test_a_decision_costs_what_it_moves(tmp_path):
    with Store.create(tmp_path / "s.db") as store:
        n = 30_000
        store.add_items(Item(str(i), {}) for i in range(n))
        store.record_run({str(i): f"g{i // 2}" for i in range(n)})
        asked = []
        store._db.set_trace_callback(asked.append)
        store.decide(Decision("merge", group="g1", into="g2"))
        assert len(asked) < 60
