"""What is said to have changed: facts that hold for any two groupings, and each word on a case of its own."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.groups.changes import compare, members

groupings = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(["g1", "g2", "g3", "g4"]))


def status(old, new):
    return {group.id: group.status for group in compare(old, new).groups}


@settings(max_examples=200, deadline=None)
@given(groupings, groupings)
def test_every_group_and_every_item_is_told_once(old, new):
    found = compare(old, new)
    assert {g.id for g in found.groups} == set(old.values()) | set(new.values())
    assert len(found.groups) == len({g.id for g in found.groups})
    new_names = [g for g in found.of("renamed") if not g.before]
    assert sum(found.count().values()) == len(found.groups) - len(new_names)
    assert {m.item for m in found.moved} == {i for i in old if i in new and old[i] != new[i]}
    assert set(found.added) == set(new) - set(old)
    assert set(found.removed) == set(old) - set(new)


@settings(max_examples=200, deadline=None)
@given(groupings, groupings)
def test_the_new_grouping_follows_from_the_old_one_and_the_changes(old, new):
    found = compare(old, new)
    again = {i: g for i, g in old.items() if i not in set(found.removed)}
    again |= {move.item: move.new for move in found.moved}
    again |= {item: group.id for group in found.groups for item in group.gained if item in set(found.added)}
    assert again == new


@settings(max_examples=200, deadline=None)
@given(groupings, groupings)
def test_words_mean_what_they_say(old, new):
    was, now = ({g: set(i) for g, i in members(side).items()} for side in (old, new))
    for group in compare(old, new).groups:
        before, after = was.get(group.id, set()), now.get(group.id, set())
        assert (group.before, group.after) == (len(before), len(after))
        assert set(group.gained) == after - before
        assert set(group.lost) == before - after
        if group.status == "unchanged":
            assert before == after
        if group.status == "grown":
            assert before < after
        if group.status == "shrunk":
            assert after < before
        if group.status == "new":
            assert not before
        if group.status == "gone":
            assert not before & set(new)


@settings(max_examples=100, deadline=None)
@given(groupings)
def test_nothing_changes_from_a_grouping_to_itself(old):
    assert Counter(status(old, old).values()) in ({}, {"unchanged": len(set(old.values()))})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": "g"}, {"a": "g", "x": "g"}, {"g": "grown"}),
        ({"a": "g", "b": "g"}, {"a": "g"}, {"g": "shrunk"}),
        ({"a": "g"}, {"x": "h"}, {"g": "gone", "h": "new"}),
        ({"a": "g", "b": "g"}, {"a": "h", "x": "h"}, {"g": "renamed", "h": "renamed"}),
        ({"a": "g", "b": "h"}, {"a": "g", "b": "g"}, {"g": "merged", "h": "merged"}),
        ({"a": "g", "b": "g"}, {"a": "g", "b": "h"}, {"g": "split", "h": "new"}),
        ({"a": "g", "b": "g", "c": "h"}, {"a": "g", "b": "h", "c": "h"}, {"g": "shrunk", "h": "grown"}),
        ({"a": "g", "b": "h"}, {"a": "h", "b": "g"}, {"g": "changed", "h": "changed"}),
        ({"a": "g", "b": "g", "c": "h", "d": "k"}, {"a": "h", "b": "k", "c": "h", "d": "k"}, {"g": "split"}),
    ],
)
def test_each_word(old, new, expected):
    found = status(old, new)
    assert {name: found[name] for name in expected} == expected


def test_merges_and_splits_say_where_items_went():
    found = {g.id: g for g in compare({"a": "g", "b": "g", "c": "h"}, {"a": "k", "b": "h", "c": "h"}).groups}
    assert found["g"].targets == ("h", "k")
    assert found["h"].sources == ("g",)
    assert found["k"].sources == ("g",)
