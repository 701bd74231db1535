"""What people said, as weights of pairs: each answer counts once, with what follows from it; and guesses
that follow the groups which come of it.
"""

import numpy as np
import pytest

from clustruct.data import Evidence, ItemSet, PairScores
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.learning.label_free_similarity import _answers, soft_logistic
from clustruct.search.correlation import local_search


def all_pairs(n):
    return np.column_stack(np.triu_indices(n, 1))


def test_what_is_tied_counts_as_its_answers_half_for_either_kind():
    marks = Evidence.of_pairs(7, [(0, 1), (1, 2)], [(3, 0), (4, 5)])
    pairs = all_pairs(7)
    judged, together, worth = _answers(pairs, marks)
    inside = (pairs < 3).all(axis=1)
    across = (pairs[:, 0] < 3) & (pairs[:, 1] == 3)
    other = (pairs == [4, 5]).all(axis=1)
    np.testing.assert_array_equal(judged, inside | across | other)
    np.testing.assert_array_equal(together, inside)
    np.testing.assert_allclose(worth[inside], 1.5 / 3)
    np.testing.assert_allclose(worth[across], 1.5 / 3)
    np.testing.assert_allclose(worth[other], 1.0)
    assert not worth[~judged].any()


def test_a_board_counts_by_its_cards_not_by_its_piles():
    """Ten piles of one card are forty-five pairs that differ, and nine answers."""
    piles = [0, *range(3, 12)]
    marks = Evidence.of_pairs(12, [(0, 1), (0, 2)], [(a, b) for a in piles for b in piles if a < b])
    assert _answers(all_pairs(12), marks).weights.sum() == pytest.approx(11.0)


@pytest.mark.parametrize("seed", range(8))
def test_against_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, truth = 12, rng.integers(0, 4, 12)
    pairs = all_pairs(n)
    said = rng.choice(len(pairs), rng.integers(1, 12), replace=False)
    same = truth[pairs[said, 0]] == truth[pairs[said, 1]]
    marks = Evidence.of_pairs(n, pairs[said][same], pairs[said][~same])
    listed = pairs[rng.random(len(pairs)) < 0.7]
    judged, together, worth = _answers(listed, marks)
    np.testing.assert_array_equal(judged, marks.judges(listed))
    tied = [{i} for i in range(n)]
    for a, b in pairs[said].tolist():
        joined = next(t for t in tied if a in t) | next(t for t in tied if b in t)
        tied = [t for t in tied if not t & joined] + [joined]
    for own in tied:
        here = judged & np.isin(listed, list(own)).all(axis=1)
        kinds = [here & together, here & ~together]
        n_kinds = sum(kind.any() for kind in kinds)
        for kind in kinds:
            np.testing.assert_allclose(worth[kind], (len(own) - 1) / max(n_kinds, 1) / max(kind.sum(), 1))
    assert not worth[~judged].any()
    mates = marks.piece[listed[:, 0]] == marks.piece[listed[:, 1]]
    np.testing.assert_array_equal(together, judged & mates)


def made(seed, n_sets=3):
    """Sets with two features of pairs that speak of the groups, one clearly and one hardly."""
    rng = np.random.default_rng(seed)
    sets, truth = [], []
    for _ in range(n_sets):
        y = rng.integers(0, 4, 16)
        a, b = np.triu_indices(16, 1)
        mates = (y[a] == y[b]).astype(float)
        noise = rng.normal(size=(len(a), 2))
        sets.append(ItemSet(pairs=np.column_stack([mates + 0.2 * noise[:, 0], mates + 2.0 * noise[:, 1]])))
        truth.append(y)
    return sets, truth


@pytest.mark.parametrize("n_said", [4, 60])
@pytest.mark.parametrize("seed", range(3))
def test_guesses_follow_the_groups_by_the_definition(seed, n_said):
    """Two rounds, written out: group under the answers, learn from groups and answers."""
    sets, truth = made(seed)
    first = LatentPairClustering().fit(sets)
    assert not first.from_nearest_
    rng = np.random.default_rng(seed)
    marks = []
    for y in truth:
        said = [tuple(sorted(rng.choice(16, 2, replace=False).tolist())) for _ in range(n_said)]
        same = [(a, b) for a, b in said if y[a] == y[b]]
        marks.append(Evidence.of_pairs(16, same, [p for p in said if p not in same]))
    learned_before = first._learned
    table, answers = learned_before.rows, learned_before.rows.answers(marks)
    known, n = answers.judged, answers.weights[answers.judged].sum()

    def learned(guess, prior):
        weights = np.where(known, answers.weights, prior / (~known).sum())
        return soft_logistic(
            table.rows, np.where(known, answers.together, guess), weights, 2.0, first._learned.start
        )

    v, b = learned(learned_before.guess, 15.0)
    for _ in range(2):
        scores = np.where(known, np.where(answers.together, 50.0, -50.0), table.rows @ v + b)
        labels = local_search(PairScores(48, index=table.pairs, values=scores), sweeps=0)
        inside = labels[table.pairs[:, 0]] == labels[table.pairs[:, 1]]
        assert (inside[known] == answers.together[known]).all()
        v, b = learned(np.where(inside, 0.95, 0.05), 15.0 + min(n, 10.0))
    found = first.with_answers(marks)
    np.testing.assert_allclose(found.w_ * table.scale, v, rtol=1e-2, atol=1e-3)
    assert found.intercept_ == pytest.approx(b, rel=1e-2, abs=1e-3)


def test_answers_to_hard_pairs_alone_do_not_spoil_the_rest():
    """All answers are about mates that look apart: weights that suit these alone would tell nothing."""
    sets, truth = made(0)
    first = LatentPairClustering().fit(sets)
    pairs = all_pairs(16)
    mates = truth[0][pairs[:, 0]] == truth[0][pairs[:, 1]]
    scores = np.where(mates, first.pair_scores(sets[0], pairs), np.inf)
    hardest = [tuple(pair) for pair in pairs[np.argsort(scores)[:10]].tolist()]
    found = first.with_answers([Evidence.of_pairs(16, hardest, []), None, None])
    assert found.score(sets[1:], truth[1:]) > 0.98
