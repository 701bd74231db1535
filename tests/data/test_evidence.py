"""Evidence: which pairs it judges, contradictions, and what was shown to people."""

from itertools import combinations

import numpy as np
import pytest

from clustruct.data import Evidence
from clustruct.data.evidence import Contradiction


def pairs_of(m: int) -> np.ndarray:
    return np.array(list(combinations(range(m), 2)))


def test_only_named_pairs_and_what_follows_from_them_are_judged() -> None:
    known = Evidence.of_pairs(5, same=[(0, 1), (1, 2)], different=[(2, 3)])
    judged = {tuple(p) for p in pairs_of(5)[known.judges(pairs_of(5))].tolist()}
    assert judged == {(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)}


def test_unsure_pairs_are_not_judged_whatever_follows() -> None:
    known = Evidence.of_pairs(3, same=[(0, 1), (1, 2)], unsure=[(2, 0)])
    assert known.judges(pairs_of(3)).tolist() == [True, False, True]


def test_labelled_clusters_differ_and_complete_ones_from_all() -> None:
    labels = np.array([0, 1, -1])
    apart = Evidence.of_pairs(3, labels=labels, labels_complete=True)
    unknown = Evidence.of_pairs(3, labels=labels)
    assert apart.judges(pairs_of(3)).tolist() == [True, True, True]
    assert unknown.judges(pairs_of(3)).tolist() == [True, False, False]


def test_contradiction_is_refused() -> None:
    with pytest.raises(Contradiction, match="items 0 and 2 differ") as raised:
        Evidence.of_pairs(5, same=[(3, 4), (0, 1), (1, 2)], different=[(0, 3), (0, 2)])
    assert (raised.value.different, raised.value.same) == (1, [1, 2])


def test_what_was_seen_is_the_groups_of_the_named_items() -> None:
    known = Evidence.of_pairs(6, different=[(0, 2)])
    seen = known.with_complete_groups(np.array([0, 0, 1, 1, 2, 2]))
    assert seen.named.tolist() == [True] * 4 + [False] * 2
    assert seen.piece.tolist() == [0, 0, 1, 1, -1, -1]
    # All pairs that touch what was seen are judged, those of the rest are not.
    judged = seen.judges(pairs_of(6))
    assert judged.tolist() == [not (a >= 4 and b >= 4) for a, b in pairs_of(6).tolist()]


@pytest.mark.parametrize("complete", [False, True])
def test_labels_say_what_pairs_of_their_items_say(complete: bool) -> None:
    labels = np.array([5, -1, 3, 5, -1])
    known = Evidence.of_labels(labels, complete=complete)
    by_pairs = Evidence.of_pairs(5, labels=labels, labels_complete=complete)
    assert known.named.tolist() == (labels >= 0).tolist()
    assert known.piece.tolist() == by_pairs.piece.tolist()
    assert known.judges(pairs_of(5)).tolist() == by_pairs.judges(pairs_of(5)).tolist()
