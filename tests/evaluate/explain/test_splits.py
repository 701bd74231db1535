"""Suggested splits against every split of small groups."""

from itertools import combinations

import numpy as np
from scipy.special import expit

from clustruct.data import PairScores
from clustruct.evaluate.explain import suggested_splits


def matrix(rng, sizes, inside=3.0, across=0.5):
    """One group made of two parts that belong together less than their own items."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    K = np.where(part[:, None] == part, inside, across) + 0.3 * rng.normal(size=(len(part), len(part)))
    K = (K + K.T) / 2.0
    np.fill_diagonal(K, 0.0)
    return K


def test_a_planted_split_is_found_and_counted():
    K = matrix(np.random.default_rng(0), [4, 2])
    (found,) = suggested_splits(PairScores(6, matrix=K), np.zeros(6, int), expit)
    assert set(found.part) == {4, 5}
    across = expit(K[:4, 4:])
    assert np.isclose(found.together, across.mean())
    assert np.isclose(found.wrong_pairs, (1.0 - across).sum())


def test_listed_pairs_give_what_all_pairs_give():
    K = matrix(np.random.default_rng(1), [3, 3])
    index = np.array(list(combinations(range(6), 2)))
    listed = PairScores(6, index=index, values=K[index[:, 0], index[:, 1]])
    assert suggested_splits(listed, np.zeros(6, int), expit) == suggested_splits(
        PairScores(6, matrix=K), np.zeros(6, int), expit
    )


def test_no_part_of_the_cut_expects_more_wrong_pairs():
    """Of all splits of small groups few expect more, though only a few thresholds are tried."""
    rng, shares = np.random.default_rng(2), []
    for _ in range(20):
        K = matrix(rng, [3, 2], across=-0.2)
        (found,) = suggested_splits(PairScores(5, matrix=K), np.zeros(5, int), expit)
        every = []
        for size in (1, 2):
            for part in combinations(range(5), size):
                rest = np.setdiff1d(np.arange(5), part)
                every.append((1.0 - expit(K[np.ix_(part, rest)])).sum())
        shares.append(found.wrong_pairs / max(every))
    assert np.mean(shares) > 0.95


def test_groups_are_ranked_and_sure_ones_left_out():
    K = np.full((8, 8), -5.0)
    K[:3, :3], K[3:6, 3:6], K[6:, 6:] = 9.0, 9.0, 9.0
    K[0, 1:3] = K[1:3, 0] = 0.2
    K[3, 4:6] = K[4:6, 3] = -1.0
    np.fill_diagonal(K, 0.0)
    found = suggested_splits(PairScores(8, matrix=K), [0, 0, 0, 1, 1, 1, 2, 2], expit)
    assert [split.cluster for split in found] == [1, 0]
    assert [split.part for split in found] == [(3,), (0,)]
    assert suggested_splits(PairScores(1, matrix=np.zeros((1, 1))), [0], expit) == []


def test_parts_that_different_thresholds_find_stay_in_their_groups():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 6)
    K = np.zeros((72, 72))
    for group in range(12):  # each is cut by another threshold
        items = np.flatnonzero(y == group)
        K[np.ix_(items, items)] = 0.9 - 0.04 * rng.random()
        weak = 0.05 + 0.07 * (11 - group)
        K[np.ix_(items[:2], items[2:])] = K[np.ix_(items[2:], items[:2])] = weak
    np.fill_diagonal(K, 0.0)
    found = suggested_splits(PairScores(72, matrix=K), y, lambda s: s)
    assert len(found) > 8
    for split in found:
        assert set(y[list(split.part)]) == {split.cluster}
