"""The simulated person counts every click, and says no more than it was shown."""

import numpy as np

from benchmarks.asking_person import Person

#          0  1  2  3  4  5  6  7
TRUTH = [np.array([0, 0, 0, 1, 1, 2, 0, 3])]


def told(items, beside=()):
    person = Person(TRUTH)
    person.answer(0, items, beside)
    return person, person.said[0]


def test_a_pair_is_one_decision():
    person, said = told([0, 3])
    assert (person.decisions, said.same, said.different) == (1, [], [(0, 3)])


def test_a_group_that_is_right_as_shown_is_one_decision():
    person, said = told([0, 1, 2], [3, 5])
    assert (person.decisions, person.read) == (1, 5)
    assert said.same == [(0, 1), (0, 2)]
    assert said.different == [(0, 3), (0, 5)]
    pairs = np.array([[0, 7], [0, 3], [0, 1]])
    assert person.marks()[0].judges(pairs).tolist() == [False, True, True]  # 7 was not shown


def test_what_is_not_marked_is_right():
    person, said = told([0, 1, 3], [5])
    assert person.decisions == 2  # one leaves, and no
    assert said.different == [(0, 3), (0, 5)]
    person, said = told([0, 1, 3, 5], [6, 7])
    assert person.decisions == 4  # two leave, one comes, and no
    assert said.same == [(0, 1), (0, 6)]
    assert said.different == [(0, 3), (0, 5), (0, 7)]
