"""What people said of items: which pairs are judged, and the best clusters that keep it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import Evidence, ItemSet, PairScores
from clustruct.learning.grouping import constrained_groups
from clustruct.learning.problems import MarkedRegion
from tests.reference.partitions import all_partitions


def pairs_of(m: int) -> np.ndarray:
    return np.array(list(combinations(range(m), 2)))


def test_only_marked_pairs_and_what_follows_from_them_are_judged() -> None:
    marks = Evidence.of_pairs(5, same=[(0, 1), (1, 2)], different=[(2, 3)])
    judged = {tuple(p) for p in pairs_of(5)[marks.judges(pairs_of(5))].tolist()}
    assert judged == {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)}


def test_unsure_pairs_are_not_judged_whatever_follows() -> None:
    marks = Evidence.of_pairs(3, same=[(0, 1), (1, 2)], unsure=[(2, 0)])
    assert marks.judges(pairs_of(3)).tolist() == [True, False, True]


def test_labelled_clusters_differ_and_complete_ones_from_all() -> None:
    labels = np.array([0, 1, -1])
    apart = Evidence.of_pairs(3, labels=labels, labels_complete=True)
    unknown = Evidence.of_pairs(3, labels=labels)
    assert apart.judges(pairs_of(3)).tolist() == [True, True, True]
    assert unknown.judges(pairs_of(3)).tolist() == [True, False, False]


def test_contradiction_is_refused() -> None:
    with pytest.raises(ValueError, match="contradict"):
        Evidence.of_pairs(3, same=[(0, 1), (1, 2)], different=[(0, 2)])


def test_what_was_seen_is_the_groups_of_the_named_items() -> None:
    marks = Evidence.of_pairs(6, different=[(0, 2)])
    seen = marks.seen(np.array([0, 0, 1, 1, 2, 2]))
    assert seen.named.tolist() == [True] * 4 + [False] * 2
    assert seen.piece.tolist() == [0, 0, 1, 1, -1, -1]
    # All pairs that touch what was seen are judged, those of the rest are not.
    judged = seen.judges(pairs_of(6))
    assert judged.tolist() == [not (a >= 4 and b >= 4) for a, b in pairs_of(6).tolist()]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_kept_groups_are_the_best_that_keep_the_marks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 5
    truth = rng.integers(0, 3, m)
    drawn = [tuple(p) for p in pairs_of(m)[rng.random(10) < 0.3].tolist()]
    same = [p for p in drawn if truth[p[0]] == truth[p[1]]]
    different = [p for p in drawn if truth[p[0]] != truth[p[1]]]
    marks = Evidence.of_pairs(m, same=same, different=different)
    K = np.round(rng.normal(size=(m, m)), 2)
    K = np.triu(K, 1) + np.triu(K, 1).T

    def value(y: np.ndarray) -> float:
        return sum(K[a, b] for a, b in pairs_of(m) if y[a] == y[b])

    def keeps(y: np.ndarray) -> bool:
        return all(y[a] == y[b] for a, b in same) and all(y[a] != y[b] for a, b in different)

    found = constrained_groups(PairScores(m, matrix=K), marks)
    assert keeps(found)
    best = max(value(np.array(y)) for y in all_partitions(m) if keeps(np.array(y)))
    assert value(found) == pytest.approx(best)


def test_a_region_has_the_pairs_that_touch_a_named_item() -> None:
    x = ItemSet(pairs=[[1.0], [2.0], [3.0]], pair_index=[[0, 1], [1, 2], [2, 3]], n_items=4)
    region = MarkedRegion.of(x, Evidence.of_pairs(4, same=[(0, 1)]))
    assert region.items.tolist() == [0, 1, 2]
    assert region.index.tolist() == [[0, 1], [1, 2]]
    assert region.judged.tolist() == [True, False]
    # What is not known is completed at w: item 2 joins where that scores more.
    assert region.completed(np.array([1.0])).tolist() == [0, 0, 0]
    assert region.completed(np.array([-1.0])).tolist() == [0, 0, 1]
