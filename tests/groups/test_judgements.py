"""Constraints against all partitions: they hold exactly what was said, and contradictions are found and
named.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, PairJudgement, replay, settle
from clustruct.groups.decisions import evidence_of
from clustruct.groups.log_replay import LoggedRun
from tests.reference.partitions import all_partitions

ITEMS = "abcde"
pair = st.lists(st.sampled_from(ITEMS), min_size=2, max_size=2, unique=True)
said = st.tuples(pair, st.sampled_from(["same", "different"]), st.sampled_from(["ann", "bob"]))


def statement(number, a, b, answer, author="", **more):
    return PairJudgement(a, b, answer, Decision(answer, (a, b), number=number, author=author, **more))


def holds(labels, words):
    y = dict(zip(ITEMS, labels, strict=True))
    return all((y[a] == y[b]) == (answer == "same") for (a, b), answer in words)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(pair, st.sampled_from(["same", "different"])), max_size=6))
def test_a_partition_holds_the_constraints_exactly_if_it_holds_every_word(words):
    told = [statement(n, *p, answer, f"author {n}") for n, (p, answer) in enumerate(words)]
    allowed = [y for y in all_partitions(len(ITEMS)) if holds(y, words)]
    if not allowed:
        with pytest.raises(DataError):
            settle(told)
        return
    numbers = {item: n for n, item in enumerate(ITEMS)}
    known = evidence_of(settle(told), numbers)
    must, cannot = known.must_link.tolist(), known.cannot_link.tolist()
    again = [
        y
        for y in all_partitions(len(ITEMS))
        if all(y[a] == y[b] for a, b in must) and all(y[a] != y[b] for a, b in cannot)
    ]
    assert again == allowed


def test_a_contradiction_names_items_lines_and_authors():
    told = [
        statement(11, "a", "b", "same", "ann", source="fix.csv", line=12),
        statement(12, "b", "c", "same", "bob", source="fix.csv", line=13),
        statement(13, "c", "a", "different", "eve", source="more.csv", line=4),
    ]
    with pytest.raises(DataError) as caught:
        settle(told)
    assert str(caught.value) == (
        "decision 13 (line 4 of more.csv, by eve) says 'c' and 'a' are different, but "
        "decision 12 (line 13 of fix.csv, by bob) says 'b' and 'c' are the same, "
        "decision 11 (line 12 of fix.csv, by ann) says 'a' and 'b' are the same"
    )


def test_long_chains_are_shortened():
    told = [statement(n, f"i{n}", f"i{n + 1}", "same") for n in range(3000)]
    with pytest.raises(DataError, match="and 2,996 further decisions"):
        settle([*told, statement(3000, "i0", "i3000", "different")])


def test_the_last_word_of_an_author_counts_and_two_authors_disagree():
    changed = [statement(1, "a", "b", "same", "ann"), statement(2, "b", "a", "different", "ann")]
    assert [s.by.number for s in settle(changed)] == [2]
    two = [statement(1, "a", "b", "same", "ann"), statement(2, "a", "b", "different", "bob")]
    with pytest.raises(DataError, match=r"decision 2 \(by bob\) .* different, but decision 1 \(by ann\)"):
        settle(two)
    assert settle(two, disagreement="majority") == []
    three = [*two, statement(3, "b", "a", "same", "eve")]
    assert [j.answer for j in settle(three, disagreement="majority")] == ["same"]


def test_unsure_gives_way_to_an_answer():
    unsure = statement(1, "a", "b", "unsure", "ann")
    assert settle([unsure]) == [unsure]
    assert [j.answer for j in settle([unsure, statement(2, "a", "b", "same", "bob")])] == ["same"]


def test_unknown_items_are_named_or_left_out():
    told = [statement(1, "a", "x", "same", "ann", source="f.csv", line=2)]
    with pytest.raises(DataError, match=r"decision 1 \(line 2 of f.csv, by ann\) names 'x', and there is"):
        settle(told, {"a"})
    assert not evidence_of(settle(told), {"a": 0}).is_binding


def test_decisions_about_groups_can_contradict_those_about_pairs():
    log = [
        LoggedRun(1, {"a": "g", "b": "g", "c": "h"}),
        Decision("same", ("a", "b"), number=2, author="ann"),
        Decision("move", ("b",), into="h", number=3, author="bob"),
    ]
    with pytest.raises(DataError, match=r"decision 3 \(by bob\) moves .* two groups, but decision 2"):
        settle(replay(log).judgements())
    assert len(settle(replay([*log, Decision("undo", undoes=2, number=4)]).judgements())) == 2
