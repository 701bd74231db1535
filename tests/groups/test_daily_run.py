"""Items settle: those that the last runs have grouped may be revised, older ones stay, changes are told."""

from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import DataError
from clustruct.data.datasets import make_records
from clustruct.features import check_tables
from clustruct.groups import KnownItems, Store, add_to_groups, known_of_store, record
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
