"""The match of ids against all one-to-one matches, and what it must not depend on."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.groups import named_assignment
from clustruct.groups.named_assignment import match_groups, with_ids

ITEMS = "abcdefgh"
labels = st.lists(st.integers(-1, 4), min_size=len(ITEMS), max_size=len(ITEMS))


def clustering(given, name):
    return {item: f"{name}{label}" for item, label in zip(ITEMS, given, strict=True) if label >= 0}


def shared(old, new, kept):
    """Items in a cluster that keeps the id of their old group."""
    return sum(kept[new[item]] == old[item] for item in old if item in new)


def best_by_trying(old, new):
    """The largest number of items that keep their id, over all one-to-one matches."""
    groups, clusters = sorted(set(old.values())), sorted(set(new.values()))
    chosen = itertools.permutations([*groups, *[None] * len(clusters)], len(clusters))
    return max((shared(old, new, dict(zip(clusters, c, strict=True))) for c in set(chosen)), default=0)


@settings(max_examples=60, deadline=None)
@given(labels, labels)
def test_no_match_keeps_more_items(before, after):
    old, new = clustering(before, "g"), clustering(after, "c")
    kept = match_groups(old, new)
    given_ids = [name for name in kept.values() if name is not None]
    assert set(kept) == set(new.values())
    assert len(given_ids) == len(set(given_ids))
    assert shared(old, new, kept) == best_by_trying(old, new)


@settings(max_examples=60, deadline=None)
@given(labels, labels, st.randoms())
def test_order_of_items_and_names_of_clusters_do_not_matter(before, after, rng):
    old, new = clustering(before, "g"), clustering(after, "c")
    names = dict(zip(sorted(set(new.values())), rng.sample(range(100), 9), strict=False))
    shuffled = rng.sample(sorted(new), len(new))
    other = match_groups(
        {i: old[i] for i in rng.sample(sorted(old), len(old))}, {i: names[new[i]] for i in shuffled}
    )
    assert {names[c]: kept for c, kept in match_groups(old, new).items()} == other


@settings(max_examples=40, deadline=None)
@given(labels, labels)
def test_the_sparse_solver_agrees(before, after):
    old, new = clustering(before, "g"), clustering(after, "c")
    dense = match_groups(old, new)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(named_assignment, "MOST_CELLS", 0)
        assert shared(old, new, match_groups(old, new)) == shared(old, new, dense)


def test_only_overlapping_groups_and_clusters_are_matched():
    old, new = clustering([0, 0, 1, 1, 2, 2, 3, 3], "g"), clustering([0, 0, 0, 0, 1, 2, -1, -1], "c")
    assert match_groups(old, new) == {"c0": "g0", "c1": "g2", "c2": None}


def test_of_equal_parts_the_smallest_item_keeps_the_id_and_of_equal_groups_the_first():
    assert match_groups({"a": "g", "b": "g"}, {"b": 0, "a": 1}) == {0: None, 1: "g"}
    assert match_groups({"a": "z", "b": "y"}, {"a": 0, "b": 0}) == {0: "y"}


def test_the_best_match_is_not_the_greedy_one():
    # g shares 3 with c and 2 with d; h shares 2 with c and none with d. Greedy gives g-c (3); best is g-d,
    # h-c (4).
    old = dict.fromkeys("abcde", "g") | dict.fromkeys("xy", "h")
    new = dict.fromkeys("abcxy", "c") | dict.fromkeys("de", "d")
    assert match_groups(old, new) == {"c": "h", "d": "g"}


def test_preferred_groups_keep_their_ids_first():
    old = {"a": "small", **dict.fromkeys("bcde", "large")}
    new = dict.fromkeys("abcde", 0)
    assert match_groups(old, new) == {0: "large"}
    assert match_groups(old, new, prefer=["small"]) == {0: "small"}


def test_fresh_ids_are_asked_for_once_per_cluster():
    asked = []
    new = {"b": 1, "a": 1, "c": 2, "d": 3}
    found = with_ids(new, {1: None, 2: "old", 3: None}, lambda item: asked.append(item) or f"new {item}")
    assert asked == ["a", "d"]
    assert found == {"b": "new a", "a": "new a", "c": "old", "d": "new d"}


def test_many_groups_are_matched_quickly_and_right():
    rng = random.Random(0)
    old = {str(i): str(i // 3) for i in range(30_000)}
    new = {item: ("x", group) for item, group in old.items()}
    for item in rng.sample(sorted(new), 300):
        new[item] = ("x", str(rng.randrange(10_000)))
    kept = match_groups(old, new)
    assert sum(kept[new[item]] == old[item] for item in old) >= 29_600
