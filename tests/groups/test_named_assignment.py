"""Runs by name: ids are kept, constraints hold, what changed is reported and nothing else has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import Evidence, PairScores, all_pairs
from clustruct.groups import Decision, LoggedRun, PairJudgement, replay, settle, update_groups
from clustruct.groups.decisions import evidence_of

OLD = {"a": "g1", "b": "g1", "c": "g2", "d": "g3", "far": "g9"}
ITEMS = ["a", "b", "c", "d", "x", "y", "z"]
NUMBERS = {item: n for n, item in enumerate(ITEMS)}


def random_scores(seed, m=7):
    index = all_pairs(m)
    return PairScores(m, index=index, values=np.random.default_rng(seed).normal(size=len(index)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_known_groups_keep_ids_and_members(seed):
    found = update_groups(OLD, ITEMS, random_scores(seed))
    assert {item: found.groups[item] for item in OLD} == OLD
    assert set(found.groups) == {*OLD, *ITEMS}
    assert {g.status for g in found.changes.groups} <= {"unchanged", "grown", "new"}
    assert found.changes.moved == ()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_whatever_a_revision_changes_is_reported(seed):
    found = update_groups(OLD, ITEMS, random_scores(seed), revise=True)
    told = {m.item: m.new for m in found.changes.moved}
    for item, group in OLD.items():
        assert found.groups[item] == told.get(item, group)
    assert found.groups["far"] == "g9"


def test_new_ids_are_the_same_for_the_same_run_and_others_for_another_state():
    first, again = (update_groups(OLD, ITEMS, random_scores(3)) for _ in range(2))
    assert first.groups == again.groups
    other = update_groups({**OLD, "more": "g10"}, ITEMS, random_scores(3))
    new = {g.id for g in first.changes.of("new")}
    assert new
    assert not new & {g.id for g in other.changes.of("new")}


@pytest.mark.parametrize("revise", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_decisions_hold_exactly(seed, revise):
    said = [("a", "c", "same"), ("x", "d", "different"), ("y", "z", "same"), ("b", "y", "different")]
    judged = [PairJudgement(a, b, w, Decision(w, (a, b), number=n)) for n, (a, b, w) in enumerate(said, 1)]
    known = evidence_of(settle(judged, ITEMS), NUMBERS)
    found = update_groups(OLD, ITEMS, random_scores(seed), evidence=known, revise=revise)
    assert all((found.groups[a] == found.groups[b]) == (answer == "same") for a, b, answer in said)


def test_two_groups_that_people_call_the_same_become_one_and_it_is_reported():
    nothing = PairScores(7, index=np.zeros((0, 2), np.int64), values=np.zeros(0))
    found = update_groups(OLD, ITEMS, nothing, evidence=Evidence.of_pairs(7, [(0, 2)]))
    assert found.groups["c"] == "g1"
    assert [(g.id, g.status) for g in found.changes.groups[:2]] == [("g1", "merged"), ("g2", "merged")]


@pytest.mark.parametrize("seed", range(10))
def test_confirmed_decisions_outlive_refits(seed):
    log = [
        LoggedRun(1, OLD),
        Decision("confirm", group="g1", number=2),
        Decision("confirm", group="g2", number=3),
    ]
    state = replay(log)
    confirmed = [state.confirmed_items().get(item, -1) for item in ITEMS]
    found = update_groups(
        state.groups,
        ITEMS,
        random_scores(seed),
        evidence=evidence_of(settle(state.judgements()), NUMBERS, labels=np.array(confirmed)),
        revise=True,
    )
    assert found.groups["a"] == found.groups["b"] == "g1"
    assert found.groups["c"] == "g2"


def test_proposals_are_by_id():
    index = np.array([[0, 2], [1, 2]])
    scores = PairScores(4, index=index, values=np.array([2.0, 1.0]))
    (merge,) = update_groups({"a": "g1", "b": "g1", "c": "g2"}, ["a", "b", "c", "x"], scores).proposals
    assert (merge.kind, merge.groups, merge.gain) == ("merge", ("g1", "g2"), 3.0)


def test_an_item_that_is_there_twice_is_refused():
    with pytest.raises(ValueError, match="the item 'a' is there twice"):
        update_groups({}, ["a", "a"], random_scores(0, 2))


def test_items_of_a_group_that_are_not_among_those_scored_count_in_its_size():
    scores = PairScores(2, index=np.array([[0, 1]]), values=np.array([2.0]))
    (change,) = update_groups({"a": "g1", "z": "g1"}, ["a", "c"], scores).changes.groups
    assert (change.id, change.status, change.before, change.after) == ("g1", "grown", 2, 3)
