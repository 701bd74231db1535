"""What people said, as weights of pairs: each answer counts once, with what follows from it."""

import numpy as np
import pytest

from clustruct.baselines.latent_pairs import _answers
from clustruct.problems import Marks


def all_pairs(n):
    return np.column_stack(np.triu_indices(n, 1))


def test_a_piece_counts_as_its_answers_and_two_pieces_as_one():
    marks = Marks.of_pairs(6, [(0, 1), (1, 2)], [(3, 0)])
    pairs = all_pairs(6)
    judged, together, worth = _answers(pairs, marks)
    inside = (pairs < 3).all(axis=1)
    across = (pairs[:, 0] < 3) & (pairs[:, 1] == 3)
    np.testing.assert_array_equal(judged, inside | across)
    np.testing.assert_array_equal(together, inside)
    assert worth[inside].sum() == pytest.approx(2.0)
    assert worth[across].sum() == pytest.approx(1.0)
    assert not worth[~judged].any()


@pytest.mark.parametrize("seed", range(5))
def test_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, truth = 12, rng.integers(0, 4, 12)
    pairs = all_pairs(n)
    said = rng.choice(len(pairs), 8, replace=False)
    same = truth[pairs[said, 0]] == truth[pairs[said, 1]]
    marks = Marks.of_pairs(n, pairs[said][same], pairs[said][~same])
    listed = pairs[rng.random(len(pairs)) < 0.7]
    judged, together, worth = _answers(listed, marks)
    np.testing.assert_array_equal(judged, marks.judges(listed))
    name = [f"piece {p}" if p >= 0 else f"item {a}" for a, p in enumerate(marks.piece)]
    cells = [frozenset((name[a], name[b])) for a, b in listed.tolist()]
    for known, joined, weight, cell in zip(judged, together, worth, cells, strict=True):
        if not known:
            assert (joined, weight) == (False, 0.0)
            continue
        assert joined == (len(cell) == 1)
        mates = sum(1 for other, use in zip(cells, judged, strict=True) if use and other == cell)
        size = sum(1 for one in name if {one} == cell)
        assert weight == pytest.approx((size - 1 if joined else 1) / mates)
