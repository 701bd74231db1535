"""Items settle: those that the last runs have grouped may be revised, older ones stay, changes are told."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import DataError, DataWarning
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.features import check_tables
from clustruct.groups import KnownItems, Store, add_to_groups, known_of_store, record
from clustruct.groups.changed_fields import find_changed_fields
from clustruct.groups.log_replay import State

SETS = make_records(n_sets=5, n_people=25, errors=3.0, random_state=1)


@pytest.fixture(scope="module")
def pipeline():
    return check_tables(Recipe(C=0.1).fit(SETS[:4]).pipeline_)


@pytest.fixture(scope="module")
def days():
    table = replace(SETS[4], labels=None, ids=[f"i{a}" for a in range(len(SETS[4]))])
    order = np.random.default_rng(0).permutation(len(table))
    return [table.take(part) for part in np.array_split(order, 8)]


def streamed(pipeline, days, **mode):
    known, outcomes = KnownItems(None, State(), placed=()), []
    for new in days:
        outcomes.append(add_to_groups(pipeline, known, new, **mode))
        known = outcomes[-1].next_known_items()
    return outcomes


@pytest.mark.parametrize("settle", [1, 2, 3])
def test_items_of_older_runs_never_move_and_moves_are_told(pipeline, days, settle):
    outcomes = streamed(pipeline, days, settle=settle)
    placed = dict[str, int]()
    moves = 0
    for day, found in enumerate(outcomes):
        before, after = found.state.groups, found.update.groups
        moved = {item for item, group in before.items() if after[item] != group}
        assert moved == {move.item for move in found.changes.moved}
        assert all(day - placed[item] <= settle for item in moved)
        placed |= dict.fromkeys([*moved, *found.new], day)
        moves += len(moved)
    assert moves > 0 or settle == 1  # or nothing was tried


def test_long_enough_is_revising_all_and_none_is_keeping(pipeline, days):
    groups = [
        streamed(pipeline, days, **mode)[-1].update.groups
        for mode in ({"settle": 20}, {"revise": True}, {"settle": 0}, {})
    ]
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_a_store_remembers_which_runs_grouped_items(pipeline, days, tmp_path):
    path = tmp_path / "groups.store"
    Store.create(path).close()
    for new in days:
        with Store(path) as store:
            known = known_of_store(store, runs=2)
            found = add_to_groups(pipeline, known, new, settle=2, fresh=store.fresh_id)
            record(store, found)
    with Store(path) as store:
        placed, groups = store.placements(2), store.state().groups
        assert set(map(str, days[-1].item_ids)) <= placed[-1]
        assert len(placed) == 2
        store.verify()
    shapes = [sorted(np.unique(list(g.values()), return_counts=True)[1]) for g in (groups,)]
    plain = streamed(pipeline, days, settle=2)[-1].update.groups
    assert shapes[0] == sorted(np.unique(list(plain.values()), return_counts=True)[1])


def test_without_times_nothing_settles(pipeline, days):
    known = replace(
        add_to_groups(pipeline, KnownItems(None, State()), days[0]).next_known_items(), placed=None
    )
    with pytest.raises(DataError, match="needs a store"):
        add_to_groups(pipeline, known, days[1], settle=2)
    with pytest.raises(ValueError, match="from 0 on, not -1"):
        add_to_groups(pipeline, known, days[1], settle=-1)


def test_changed_fields_of_known_items_are_named_and_taken_when_asked(pipeline, days):
    """Defect 10: the new values of an item that is known were dropped without a word."""
    known = add_to_groups(pipeline, KnownItems(None, State()), days[0]).next_known_items()
    first, *others = days[0].items
    moved = [{**first, "city": "Elsewhere", "nick": "Bo"}, *others, *days[1].items]
    given = Table(moved, ids=[*days[0].item_ids, *days[1].item_ids])
    with pytest.warns(DataWarning, match=r"1 known item has other values in .*'nick', which are not taken"):
        left = add_to_groups(pipeline, known, given)
    assert left.changed.items == (days[0].item_ids[0],)
    assert left.table.column("city")[0] == first["city"]
    found = add_to_groups(pipeline, known, given, update=True)
    assert (found.changed, found.updated) == (left.changed, True)
    assert found.table.column("city")[0] == "Elsewhere"
    assert found.table.column("nick") == ["Bo"] + [None] * (len(found.table) - 1)
    assert list(found.table.item_ids) == list(left.table.item_ids)
    # The new items are scored with the values that count now.
    fresh = replace(known, table=found.table.take(range(len(days[0]))), index=None)
    assert add_to_groups(pipeline, fresh, days[1]).update.groups == found.update.groups


def test_a_store_takes_changed_fields_and_its_index_follows(pipeline, days, tmp_path):
    changed = Table([{**item, "city": "Elsewhere"} for item in days[0].items], ids=days[0].item_ids)
    path = tmp_path / "groups.store"
    Store.create(path).close()
    for new in (days[0], days[1], changed):
        with Store(path) as store:
            found = add_to_groups(pipeline, known_of_store(store), new, update=True, fresh=store.fresh_id)
            record(store, found)
    with Store(path) as store:
        held = {item.id: item.fields for item in store.items()}
        assert all(held[name]["city"] == "Elsewhere" for name in days[0].item_ids)
        assert [held[name].get("city") for name in days[1].item_ids] == days[1].column("city")
        indexed, anew = (known_of_store(store, indexed=indexed) for indexed in (True, False))
        assert indexed.index is not None
        assert indexed.table.column("city") == anew.table.column("city")
        runs = [add_to_groups(pipeline, known, days[2]).update.groups for known in (indexed, anew)]
        assert runs[0] == runs[1]
        store.verify()


@pytest.mark.parametrize(
    ("was", "now", "same"),
    [
        ("131", 131.0, True),
        ("131", 131, True),
        ("007", "7", False),
        ("007", "007 ", True),
        ("1985.00", Decimal("1985"), True),
        ("1985-04-03", date(1985, 4, 3), True),
        ("1985-04-03", datetime(1985, 4, 3), True),
        ("1985-04-03", datetime(1985, 4, 3, 12), False),
        (None, "", True),
        (None, float("nan"), True),
        ("Rome", None, False),
        (None, "Rome", False),
        ([1.0, 2.0], np.array([1.0, 2.0]), True),
        (["a", "b"], '["a", "b"]', True),
        ("Rome", "rome", False),
        ("a", 1.0, False),
    ],
)
def test_a_value_in_another_form_is_no_change(was, now, same):
    found = find_changed_fields(Table([{"f": was, "g": 1}], ids=["a"]), Table([{"f": now}], ids=["a"]))
    assert bool(found) != same
    assert (found.fields or {}) == ({} if same else {"f": 1})
