"""Iterative k-means with a loss in sight, against brute force over partitions into k clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.partitions import canonical_labels, normalised_indicator
from clustruct.data import PairScores
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search import kmeans
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles.kmeans_oracles import climb_violation
from tests.reference.kmeans import partitions_into, single_moves


def symmetric(m, seed):
    A = np.random.default_rng(seed).normal(size=(m, m))
    return (A + A.T) / 2


def violation(K, y, loss, rule):
    gain = kmeans.objective(K, y) - kmeans.objective(K, loss.truth)
    return float(rule.violation(loss(y), gain))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    loss=st.sampled_from(["normalised", "pairwise", "mitre", lambda y, z: 50.0 * float(y[0] != z[-1])]),
    scaling=st.sampled_from(["margin", "slack"]),
    norm=st.sampled_from([1, 2]),
)
def test_any_loss(seed, loss, scaling, norm):
    rng = np.random.default_rng(seed)
    truth = canonical_labels(kmeans.random_labels(6, 2, rng))
    K, rule, bound = 30.0 * symmetric(6, seed), SlackRule(scaling, norm), ExampleLoss(as_loss(loss), truth)
    found = climb_violation(K, bound, rule, kmeans.starts(6, 2, 3, 0))
    value = violation(K, found, bound, rule)
    best = max(violation(K, y, bound, rule) for y in partitions_into(6, 2))
    assert -1e-9 <= value <= best + 1e-9
    for other in single_moves(found):
        assert violation(K, canonical_labels(other), bound, rule) <= value + 1e-6


def test_both_searches_agree_for_the_normalised_loss():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = canonical_labels(kmeans.random_labels(12, 3, rng))
        K, Y = 20.0 * symmetric(12, seed), normalised_indicator(truth).toarray()
        bound, rule = ExampleLoss(NormalisedLoss(), truth), SlackRule()
        slow = climb_violation(K, bound, rule, kmeans.starts(12, 3, 30, 0))
        fast = kmeans.iterative(K - 100.0 / 3 * Y @ Y.T, 3, n_init=30)
        assert violation(K, slow, bound, rule) == pytest.approx(violation(K, fast, bound, rule))
        answer = make_oracle("iterative", n_init=30).separate(PairScores.from_matrix(K), bound, rule)
        assert violation(K, answer.output, bound, rule) == pytest.approx(violation(K, fast, bound, rule))
        assert answer.loss == bound(answer.output)
