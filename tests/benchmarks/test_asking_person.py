"""The simulated person counts every move and answer, and says no more than it was shown."""

from itertools import permutations

import numpy as np
import pytest

from benchmarks.asking_person import Person, n_moved

#          0  1  2  3  4  5  6  7
TRUTH = [np.array([0, 0, 0, 1, 1, 2, 0, 3])]


def told(*piles):
    person = Person(TRUTH)
    person.answer(0, piles)
    return person, person.said[0]


def test_a_pair_is_one_decision_however_it_is_shown():
    for piles in (([0, 3],), ([0], [3])):
        person, said = told(*piles)
        assert (person.decisions, said.same, said.different) == (1, [], [(0, 3)])


def test_a_board_that_is_right_as_shown_is_one_decision():
    person, said = told([0, 1, 2], [3], [5])
    assert (person.decisions, person.read) == (1, 5)
    assert said.same == [(0, 1), (1, 2)]
    assert said.different == [(0, 3), (0, 5), (3, 5)]
    pairs = np.array([[0, 7], [2, 3], [0, 2], [3, 5]])
    assert person.marks()[0].judges(pairs).tolist() == [False, True, True, True]  # 7 was not shown


def test_each_card_that_is_moved_is_a_decision():
    assert told([0, 1, 3])[0].decisions == 2  # 3 leaves
    assert told([0, 1, 3, 5], [6, 7])[0].decisions == 4  # 3 and 5 leave, 6 comes
    assert told([0, 3], [1, 4])[0].decisions == 3  # 3 and 1 change places, or 0 and 4


@pytest.mark.parametrize("seed", range(20))
def test_no_fewer_moves_would_do(seed):
    """By brute force: every way to name the groups by the piles they are made in."""
    rng = np.random.default_rng(seed)
    shown, right = (np.unique(rng.integers(0, 4, 7), return_inverse=True)[1] for _ in range(2))
    places = max(shown.max(), right.max()) + 1
    fewest = min(int((shown != np.array(names)[right]).sum()) for names in permutations(range(places)))
    assert n_moved(shown, right) == fewest
