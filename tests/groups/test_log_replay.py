"""State is the replay of a log: undo takes back exactly what it names, ids stay true, nothing is lost."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, LoggedRun, replay
from tests.groups.histories import histories

START = [LoggedRun(1, {"a": "g", "b": "g", "c": "h", "d": "h", "e": "k"})]


def picture(state):
    """All that a state says."""
    told = [(s.a, s.b, s.answer, s.by.number) for s in state.judgements()]
    return state.groups, {e.id: e for e in state.ledger}, told, state.confirmed_items()


@settings(max_examples=150, deadline=None)
@given(histories())
def test_groups_and_ledger_agree_after_any_history(events):
    state = replay(events)
    alive = {entry.id for entry in state.ledger if entry.ended is None}
    assert alive == set(state.groups.values())
    for group in alive:
        assert set(state.members(group)) == {i for i, g in state.groups.items() if g == group}
    for entry in state.ledger:
        assert set(state.resolve(entry.id)) <= alive


@settings(max_examples=100, deadline=None)
@given(histories(), st.data())
def test_undo_is_as_if_it_had_not_been_and_undone_again_as_if_it_had(events, data):
    decisions = [e.number for e in events if isinstance(e, Decision) and e.kind != "undo"]
    out = {e.undoes for e in events if isinstance(e, Decision) and e.kind == "undo"}
    can = [n for n in decisions if n not in out]
    if not can:
        return
    number, last = data.draw(st.sampled_from(can)), len(events)
    undo = Decision("undo", undoes=number, number=last + 1)
    taken, given_id = replay([*events, undo]), next(e.into for e in events if e.number == number)
    named = [str(e) + repr(e) for e in events if e.number != number]
    # Later events that know its group by the id it gave cannot be replayed without it.
    if not (out or taken.void or (given_id and any(given_id in text for text in named))):
        without = replay([e for e in events if e.number != number])
        assert taken.groups == without.groups
        assert {e.id for e in without.ledger} <= {e.id for e in taken.ledger}
    back = replay([*events, undo, Decision("undo", undoes=last + 1, number=last + 2)])
    assert picture(back) == picture(replay(events))


@settings(max_examples=100, deadline=None)
@given(histories())
def test_every_id_ever_given_stays_known(events):
    known = set()
    for n in range(1, len(events) + 1):
        now = {entry.id for entry in replay(events[:n]).ledger}
        assert known <= now
        known = now


def test_move_merge_and_split_say_what_became_of_ids():
    log = [
        *START,
        Decision("merge", group="k", into="h", number=2),
        Decision("split", ("c",), group="h", into="m", number=3),
        Decision("move", ("a", "b"), into="m", number=4),
    ]
    state = replay(log)
    assert state.groups == {"a": "m", "b": "m", "c": "m", "d": "h", "e": "h"}
    assert state.ledger["k"].fate == "merged into h"
    assert state.ledger["g"].fate == "merged into m"
    assert state.ledger["m"].origins == ("h",)


def test_an_old_id_still_names_its_group_in_later_decisions():
    log = [*START, Decision("merge", group="g", into="h", number=2), Decision("confirm", group="g", number=3)]
    assert set(replay(log).confirmed_items()) == {"a", "b", "c", "d"}


def test_an_id_that_an_undo_took_away_leads_to_where_its_items_are():
    log = [*START, Decision("split", ("a",), group="g", into="n", number=2)]
    after = replay([*log, Decision("undo", undoes=2, number=3)])
    assert after.groups["a"] == "g"
    assert after.resolve("n") == ("g",)
    # A merge into the group that is gone now means the one it came from.
    log = [*log, Decision("merge", group="k", into="n", number=3), Decision("undo", undoes=2, number=4)]
    assert replay(log).groups["e"] == "g"


def test_what_makes_no_sense_after_an_undo_is_listed():
    log = [
        *START,
        Decision("move", ("a",), into="h", number=2),
        Decision("split", ("a",), group="h", number=3),
        Decision("undo", undoes=2, number=4),
    ]
    state = replay(log)
    assert state.groups["a"] == "g"
    assert state.void == {3: "decision 3 splits 'a' from the group 'h', where it is not"}


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (Decision("merge", group="x", into="g", number=2), "decision 2 names the group 'x', and there never"),
        (Decision("split", ("a", "b"), group="g", number=2), "decision 2 splits all items from the group"),
        (Decision("split", ("c",), group="g", number=2), "splits 'c' from the group 'g', where it is not"),
        (Decision("confirm", ("a",), group="g", number=2), "'a' is not in the group 'g', where it is"),
        (Decision("undo", undoes=1, number=2), "decision 2 undoes decision 1, but runs are not undone"),
        (Decision("undo", undoes=7, number=2), "decision 2 undoes decision 7, but there is none before it"),
    ],
)
def test_what_cannot_be_is_named(decision, said):
    with pytest.raises(DataError, match=said):
        replay([*START, decision])


def test_nothing_is_undone_twice_and_no_ended_id_is_given_again():
    log = [*START, Decision("same", ("a", "c"), number=2), Decision("undo", undoes=2, number=3)]
    with pytest.raises(DataError, match="decision 4 undoes decision 2, which is undone already"):
        replay([*log, Decision("undo", undoes=2, number=4)])
    with pytest.raises(DataError, match="'k' is of a group that is no more"):
        replay([*START, Decision("merge", group="k", into="g", number=2), LoggedRun(3, {"z": "k"})])


def answers(*decisions):
    return {(s.a, s.b): s.answer for s in replay([*START, *decisions]).judgements()}


def test_decisions_about_groups_say_something_of_their_items():
    assert answers(Decision("confirm", group="g", number=2)) == {("a", "b"): "same"}
    assert answers(Decision("confirm", ("c", "e"), group="g", number=2)) == {
        ("a", "b"): "same",
        ("c", "a"): "different",
        ("e", "a"): "different",
    }
    assert not replay([*START, Decision("confirm", ("c",), group="g", number=2)]).confirmed_items()
    assert answers(Decision("merge", group="k", into="h", number=2)) == {
        ("c", "d"): "same",
        ("c", "e"): "same",
    }
    assert answers(Decision("split", ("a",), group="g", number=2)) == {("a", "b"): "different"}
    moved = answers(Decision("move", ("a",), into="k", number=2))
    assert moved == {("e", "a"): "same", ("a", "b"): "different"}


def test_a_later_decision_about_groups_replaces_an_earlier_one():
    merge = Decision("merge", group="g", into="h", number=2)
    out = Decision("move", ("a",), number=3)
    found = answers(merge, out)
    assert all(answer == "different" for pair, answer in found.items() if "a" in pair)
    back = answers(merge, out, Decision("move", ("a",), into="h", number=4))
    assert all(answer == "same" for answer in back.values())


def test_an_id_that_an_undone_decision_gave_is_never_given_again():
    """Also where its items are nowhere without the decision."""
    log = [Decision("move", ("x",), into="g", number=1), Decision("undo", undoes=1, number=2)]
    state = replay(log)
    assert state.groups == {}
    assert state.was_given("g")
    assert state.resolve("g") == ()


def test_a_run_that_merges_many_groups_costs_in_proportion_to_its_items():
    """Four times as many items took sixteen times as long: a run over 50,000 took minutes."""

    def seconds(n):
        before = LoggedRun(1, {f"i{k}": f"g{k}" for k in range(n)})
        after = LoggedRun(2, {f"i{k}": f"h{k // 2}" for k in range(n)})
        taken = []
        for _ in range(3):
            began = time.process_time()
            replay([before, after])
            taken.append(time.process_time() - began)
        return min(taken)

    assert seconds(16_000) < 24.0 * seconds(2000)  # eight times as many; the square is sixty-four
