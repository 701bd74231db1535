"""The map from scores to probabilities rises, inverts, and finds the probabilities that made the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from clustruct.learning.calibration import ScoreMap


def drawn(rng, n, logit):
    s = rng.normal(scale=3.0, size=n)
    return s, rng.random(n) < expit(logit(s))


def test_it_finds_a_line():
    s, same = drawn(np.random.default_rng(0), 20_000, lambda s: 1.5 * s - 1.0)
    rule = ScoreMap.fit(s, same)
    at = np.linspace(-3.0, 3.0, 25)
    assert np.abs(rule.probability(at) - expit(1.5 * at - 1.0)).max() < 0.03


def test_it_bends_where_a_line_does_not_fit():
    def truth(s):
        return np.where(s < 0.0, 0.4 * s, 3.0 * s)

    s, same = drawn(np.random.default_rng(1), 40_000, truth)
    rule = ScoreMap.fit(s, same)
    at = np.linspace(-4.0, 2.0, 25)
    line = LogisticRegression(C=1e6).fit(s[:, None], same).predict_proba(at[:, None])[:, 1]
    off = [np.abs(p - expit(truth(at))).max() for p in (rule.probability(at), line)]
    assert off[0] < 0.1
    assert off[0] < 0.5 * off[1]


def test_weights_count_as_copies():
    s, same = drawn(np.random.default_rng(2), 400, lambda s: s)
    times = np.random.default_rng(3).integers(1, 4, 400)
    copied = ScoreMap.fit(np.repeat(s, times), np.repeat(same, times))
    weighted = ScoreMap.fit(s, same, times.astype(float))
    at = np.linspace(-5.0, 5.0, 11)
    np.testing.assert_allclose(weighted.probability(at), copied.probability(at), atol=0.02)


def test_the_unit_of_scores_does_not_matter():
    s, same = drawn(np.random.default_rng(4), 500, lambda s: s)
    one, other = ScoreMap.fit(s, same), ScoreMap.fit(1e6 * s, same)
    np.testing.assert_allclose(one.probability(s), other.probability(1e6 * s), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 60), st.floats(0.001, 0.999))
def test_it_rises_and_inverts(seed, n, p):
    rng = np.random.default_rng(seed)
    same = np.arange(n) % 2 == 0
    rule = ScoreMap.fit(rng.normal(size=n) + same, same)
    found = rule.probability(np.sort(rng.normal(scale=10.0, size=50)))
    assert (np.diff(found) >= 0.0).all()
    assert rule.probability(np.array([rule.score(p)]))[0] == pytest.approx(p, abs=1e-6)


def test_separable_scores_do_not_give_certainty():
    s = np.concatenate([-np.ones(5), np.ones(5)])
    p = ScoreMap.fit(s, s > 0).probability(np.array([-1.0, 1.0]))
    assert 0.01 < p[0] < 0.4
    assert 0.6 < p[1] < 0.99


def test_refusals():
    with pytest.raises(ValueError, match="one kind"):
        ScoreMap.fit(np.arange(3.0), np.ones(3, bool))
    with pytest.raises(ValueError, match="does not rise"):
        ScoreMap(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 1.0, 1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        ScoreMap(np.zeros(1), np.zeros(1), 1.0, 1.0).score(1.0)


def test_a_shifted_map_has_the_share_that_is_asked_for():
    rule = ScoreMap(np.array([0.0, 1.0]), np.array([-1.0, 1.0]), 1.0, 4.0)
    scores, weights = np.array([-3.0, 0.2, 5.0]), np.array([1.0, 2.0, 1.0])
    shifted = rule.with_share(scores, 0.9, weights)
    assert np.average(shifted.probability(scores), weights=weights) == pytest.approx(0.9)
    np.testing.assert_allclose(np.ptp(shifted.logit(scores) - rule.logit(scores)), 0.0, atol=1e-12)
