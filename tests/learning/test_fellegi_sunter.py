"""The mixture of two classes of pairs: what EM must do, and that it finds what data were made from."""

import numpy as np
import pytest
from scipy.special import expit, logit

from clustruct.learning.fellegi_sunter import agreement, fit_mixture, levels


@pytest.fixture
def drawn():
    """Levels of four fields, drawn from known shares, and which pairs belong together."""
    rng = np.random.default_rng(0)
    m = np.array([[0.05, 0.05, 0.1, 0.8], [0.1, 0.1, 0.2, 0.6], [0.05, 0.15, 0.3, 0.5], [0.2, 0.1, 0.1, 0.6]])
    u = np.array([[0.05, 0.75, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.05, 0.5, 0.3, 0.15], [0.2, 0.6, 0.1, 0.1]])
    same = rng.random(20_000) < 0.2
    both = zip(m, u, strict=True)
    gamma = np.column_stack(
        [np.where(same, rng.choice(4, len(same), p=a), rng.choice(4, len(same), p=b)) for a, b in both]
    )
    return gamma, same, m, u


def test_the_likelihood_never_falls(drawn):
    gamma, *_ = drawn
    start = np.random.default_rng(1).uniform(0.2, 0.8, len(gamma))
    seen = fit_mixture(gamma, start, rising=False).log_likelihood
    assert (np.diff(seen) > -1e-3).all()  # up to the smoothing of counts
    assert seen[-1] > seen[0]


@pytest.mark.parametrize("rising", [True, False])
def test_shares_and_weights_are_those_of_the_data(drawn, rising):
    gamma, same, m, u = drawn
    found = fit_mixture(gamma, np.where(gamma.sum(axis=1) > 8, 0.9, 0.1), rising=rising, rounds=500)
    assert found.share == pytest.approx(same.mean(), abs=0.02)
    truth = np.log(m / u)
    np.testing.assert_allclose(found.weights[:, [1, 3]], truth[:, [1, 3]], atol=0.35)
    best = expit(logit(same.mean()) + sum(truth[f][gamma[:, f]] for f in range(4)))
    assert np.abs(found.posterior - best).mean() < 0.02


def test_weights_rise_with_agreement(drawn):
    gamma, *_ = drawn
    found = fit_mixture(gamma, np.random.default_rng(2).random(len(gamma)))
    assert (np.diff(found.weights[:, 1:], axis=1) >= -1e-12).all()


def test_rare_agreement_says_more_than_common_agreement():
    common, rare = np.r_[np.ones(90), np.zeros(10)], np.r_[np.ones(5), np.zeros(95)]
    pairs = np.column_stack([common, rare, np.r_[np.zeros(99), 1.0]])
    found, missing = agreement(pairs, ["a: same", "b: same", "b: missing in one"])
    assert found[0, 1] > found[0, 0] > 0.0
    assert missing[:, 1].tolist() == [False] * 99 + [True]
    assert not missing[:, 0].any()


def test_what_tells_no_likeness_is_refused():
    with pytest.raises(ValueError, match="no feature tells a likeness"):
        agreement(np.ones((3, 2)), ["constant", "a: missing in both"])


def test_missing_fields_have_a_level_of_their_own():
    found = levels(np.arange(10.0)[:, None], np.arange(10)[:, None] < 3)
    assert found[:3].tolist() == [[0]] * 3
    assert found[3:].min() >= 1
