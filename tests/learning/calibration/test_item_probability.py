"""MateEvidence is what loops over pairs say; confidence is learned from it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from clustruct.data import PairScores
from clustruct.learning.calibration import ScoreMap, group_confidence, in_right_place
from clustruct.learning.calibration.item_probability import NEAREST, ItemRule, MateEvidence, MonotoneLogistic

RULE = ScoreMap(np.array([0.0]), np.array([0.0]), 1.0, 1.0)


def case(seed, m=9):
    rng = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in range(m) for b in range(a + 1, m) if rng.random() < 0.6]).reshape(-1, 2)
    return PairScores(m, index=pairs, values=rng.normal(scale=2.0, size=len(pairs))), rng.integers(0, 4, m)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_evidence_is_what_loops_say(seed):
    scores, y = case(seed)
    found = MateEvidence.of(scores, y, RULE, unit=2.0)
    K = {tuple(pair): v for pair, v in zip(scores.index.tolist(), scores.values.tolist(), strict=True)}
    for a in range(len(y)):
        near = {b: K.get((min(a, b), max(a, b))) for b in range(len(y)) if b != a}
        near = {b: v for b, v in near.items() if v is not None}
        p = {b: float(RULE.probability(np.array([v]))[0]) for b, v in near.items()}
        own = [b for b in near if y[b] == y[a]]
        size = int((y == y[a]).sum())
        mean = np.mean([p[b] for b in own]) if own else 0.5
        others = {c: [b for b in near if y[b] == c] for c in set(y.tolist()) - {y[a]}}
        others = {c: members for c, members in others.items() if members}
        means = {c: np.mean([p[b] for b in members]) for c, members in others.items()}
        best = max((sum(near[b] for b in members) for members in others.values()), default=None)
        mates = max((means[c] * int((y == c).sum()) for c in others), default=0.0)
        total = sum(near[b] for b in own)
        place = 0.0 if best is None else best if size == 1 else max(best, 0.0)
        assert found.is_alone[a] == (size == 1)
        assert found.own[a] == pytest.approx(clipped(mean))
        assert found.apart[a] == pytest.approx(-clipped(max(means.values(), default=0.0)))
        assert found.margin[a] == pytest.approx(np.tanh((total - place) / 2.0 / size))
        assert found.overlap[a] == pytest.approx((1 + mean * (size - 1)) / (size + mates))
        outside = [p[b] for b in near if y[b] != y[a]]
        assert found.nearest[a] == pytest.approx(-clipped(max(outside, default=0.0)))


def clipped(p):
    return logit(np.clip(p, NEAREST, 1 - NEAREST))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_right_place_is_where_more_than_half_is_shared(seed):
    rng = np.random.default_rng(seed)
    truth, y = rng.integers(-1, 3, 8), rng.integers(0, 3, 8)
    found = in_right_place(truth, y)
    for a in range(8):
        true = {a} if truth[a] == -1 else {b for b in range(8) if truth[b] == truth[a]}
        mine = {b for b in range(8) if y[b] == y[a]}
        assert found[a] == (2 * len(true & mine) > len(true | mine))


def test_no_coefficient_is_negative_and_the_mean_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    right = rng.random(500) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0] + 2.0 * X[:, 1]))
    rule = MonotoneLogistic.fit(X, right, np.array([1.0, 0.0, 0.0]))
    assert (rule.coef >= 0.0).all()
    assert rule.coef[0] > 0.5
    assert rule.coef[1] == 0.0  # speaks the other way round
    assert rule(X).mean() == pytest.approx(right.mean(), abs=0.01)


@pytest.mark.parametrize(("n", "wrong"), [(8, 1), (400, 0), (400, 5), (400, 400), (0, 0)])
def test_few_wrong_items_tell_how_many_they_are_and_pairs_tell_which(n, wrong):
    """Of tables that are linked one to one nearly all held-out items are right."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    rule = MonotoneLogistic.fit(X, np.arange(n) >= wrong, np.array([1.0, 0.0]))
    share = (n - wrong + 1) / (n + 2)
    assert n == 0 or rule(X).mean() == pytest.approx(share)
    doubtful, sure = rule(np.array([[-4.0, 0.0], [4.0, 0.0]]))
    assert logit(sure) - logit(doubtful) == pytest.approx(8.0)


def test_an_item_has_no_mates_of_its_own_source():
    index, values = np.array([[0, 2], [0, 3], [1, 2], [1, 3]]), np.array([2.0, 1.0, -1.0, 2.0])
    y, sources = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    free, apart = (
        MateEvidence.of(PairScores(4, index=index, values=values, sources=given), y, RULE, 1.0)
        for given in (None, sources)
    )
    # The other cluster has one item of the other source.
    p = RULE.probability(np.array([1.0]))[0]
    assert apart.open[0] == pytest.approx(-np.log1p(p))
    assert free.open[0] == pytest.approx(-np.log1p(2 * p))
    np.testing.assert_array_equal(apart.own, free.own)


def test_rules_that_do_not_fit_are_refused():
    two, five = (MonotoneLogistic(np.zeros(n), np.ones(n), np.zeros(n), 0.0) for n in (2, 5))
    with pytest.raises(ValueError, match="does not fit"):
        ItemRule(five, two, 1.0)
    with pytest.raises(ValueError, match="do not fit"):
        MonotoneLogistic(np.zeros(2), np.ones(2), -np.ones(2), 0.0)


def test_a_group_is_as_sure_as_its_items_in_the_mean():
    sure = np.array([0.9, 0.5, 0.3])
    assert group_confidence(np.array([7, 7, 2]), sure).tolist() == pytest.approx([0.7, 0.7, 0.3])
