"""Undo that puts back what an event changed, against the replay of the whole log."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, Item, Store
from clustruct.groups.schema import PROJECT
from tests.groups.histories import ITEMS, grown


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "s.db") as made:
        made.add_items(Item(i, {}) for i in ITEMS)
        made.record_run({"a": "g", "b": "g", "c": "h"})
        yield made


def is_replay(store):
    """Whether groups and every entry of the ledger are those of the replayed log."""
    state = store.replay_log()
    kept = {e.id: e for e in store.ledger()}
    return state.groups == store.groups() and {e.id: e for e in state.ledger} == kept


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_undo_and_redo_of_anything_give_the_replay(tmp_path_factory, data):
    with Store.create(tmp_path_factory.mktemp("undo") / "s.db") as store:
        store.add_items(Item(i, {}) for i in ITEMS)
        for _ in range(data.draw(st.integers(1, 10))):
            event = grown(data.draw, store.log(), store.state())
            if event is None:
                continue
            if not isinstance(event, Decision):
                store.record_run({i: g for i, g in event.places.items() if g is not None})
                continue
            number = store.decide(event)
            for _ in range(data.draw(st.integers(0, 3))):  # undo, redo, undo of what was done last
                number = store.decide(Decision("undo", undoes=number))
            assert is_replay(store)


def test_an_undo_that_changes_ids_alone_counts_as_a_change(store):
    """What a later move had written down of ids was that of a history which was no longer so."""

    def done(decision, undos):
        number = store.decide(decision)
        for _ in range(undos):
            number = store.decide(Decision("undo", undoes=number))
        return number

    first = done(Decision("move", ("c",)), 1)
    done(Decision("move", ("c",)), 2)
    last = done(Decision("move", ("c",)), 2)
    for number in (first, last):
        store.decide(Decision("undo", undoes=number))
        assert is_replay(store)


def test_the_last_move_is_put_back_without_a_replay(store, monkeypatch):
    monkeypatch.setattr(Store, "replay_log", lambda self: pytest.fail("a replay"))
    split = store.decide(Decision("split", ("a",), group="g"))
    new = store.group_of("a")
    store.decide(Decision("same", ("a", "c")))  # moves nothing
    undo = store.decide(Decision("undo", undoes=split))
    assert store.groups() == {"a": "g", "b": "g", "c": "h"}
    assert store.resolve(new) == ("g",)
    store.decide(Decision("undo", undoes=undo))
    assert store.group_of("a") == new


def test_an_undo_of_what_moved_nothing_costs_nothing(store, monkeypatch):
    said = store.decide(Decision("different", ("a", "b")))
    store.decide(Decision("merge", group="h", into="g"))
    monkeypatch.setattr(Store, "replay_log", lambda self: pytest.fail("a replay"))
    store.decide(Decision("undo", undoes=said))
    assert set(store.undone()) == {said}


def test_a_store_of_the_first_format_becomes_a_project_when_one_is_needed(store):
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as db:
        for name in PROJECT:
            db.execute(f"DROP TABLE {name}")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    with Store(path) as old:
        assert old.models() == []
        assert old.settings() == {}
        old.decide(Decision("merge", group="h", into="g"))
        old.decide(Decision("undo", undoes=2))
        assert is_replay(old)
        assert old.keep_model(b"model", {"items": 3}) == 1
    with Store(path) as new:
        assert new.model(1) == b"model"
        assert new.models()[0].about == {"items": 3}


def test_models_and_settings_are_kept(store):
    store.set_up(fields=["name"], kind="auto")
    store.set_up(kind="text")
    assert store.settings() == {"fields": ["name"], "kind": "text"}
    with pytest.raises(DataError, match="there is no model 7"):
        store.model(7)


def test_a_shared_store_is_read_while_another_writes_and_leaves_one_file(tmp_path):
    Store.create(tmp_path / "s.db").close()
    with Store(tmp_path / "s.db", shared=True) as writer, writer.transaction():
        writer.add_items([Item("a", {})])
        with Store(tmp_path / "s.db") as reader:
            assert list(reader.items()) == []
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]
    with Store(tmp_path / "s.db") as reader:
        assert [i.id for i in reader.items()] == ["a"]
