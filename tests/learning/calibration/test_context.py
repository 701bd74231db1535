"""What the other pairs of two items say of a pair."""

import numpy as np
import pytest

from clustruct import SupervisedCorrelationClustering
from clustruct.data import PairScores
from clustruct.evaluate.metrics import brier_skill
from clustruct.learning.calibration import Calibration, PairContext, ScoreMap
from clustruct.learning.calibration.pair_probability import least_mates

from .test_calibration import toy

LINE = ScoreMap(np.array([0.0]), np.array([0.0]), 1.0, 1.0)


def drawn(rng, share, m=24):
    """A set in which each pair is together with the set's own probability, and what the scores say."""
    a, b = np.triu_indices(m, 1)
    same = rng.random(len(a)) < share
    s = 1.5 * np.where(same, 1.0, -1.0) + 1.5 * rng.normal(size=len(a))
    return PairScores(m, index=np.column_stack([a, b]), values=s), same


def sets_of(seed, shares):
    rng = np.random.default_rng(seed)
    found = [drawn(rng, share) for share in shares]
    pairs = [(LINE.logit(x.values), least_mates(x, LINE), same, np.ones(len(same))) for x, same in found]
    return found, PairContext.fit(pairs, [x.n_items for x, _ in found])


def test_mates_are_those_of_the_item_with_fewer():
    rng = np.random.default_rng(0)
    x, _ = drawn(rng, 0.3, m=7)
    P = np.zeros((7, 7))
    for (a, b), s in zip(x.index.tolist(), x.values.tolist(), strict=True):
        P[a, b] = P[b, a] = 1.0 / (1.0 + np.exp(-s))
    expected = [min(P[a].sum(), P[b].sum()) for a, b in x.index.tolist()]
    np.testing.assert_allclose(least_mates(x, LINE), expected)


def test_where_sets_differ_in_their_share_of_pairs_it_is_learned_and_helps():
    shares = np.linspace(0.05, 0.95, 20)
    _, context = sets_of(0, shares)
    assert context is not None
    assert context.weight > 0.0
    plain, known, same = [], [], []
    for x, truth in sets_of(1, shares)[0]:
        plain.append(LINE.probability(x.values))
        known.append(context.probability(x, LINE))
        same.append(truth)
    plain, known, same = map(np.concatenate, (plain, known, same))
    assert brier_skill(same, known) > brier_skill(same, plain) + 0.03


def test_where_sets_are_alike_or_few_it_is_left_out():
    assert sum(sets_of(seed, [0.3] * 10)[1] is not None for seed in range(5)) <= 1
    assert sets_of(0, np.linspace(0.05, 0.95, 4))[1] is None


def test_sizes_far_from_those_known_count_as_the_nearest():
    context = PairContext(1.0, LINE, 10, 20)
    x, _ = drawn(np.random.default_rng(0), 0.5, m=40)
    wide = PairContext(1.0, LINE, 10, 40)
    shift = wide.rule.logit(np.zeros(1)) - np.log(2.0)
    logits = [np.log(p / (1 - p)) for p in (c.probability(x, LINE) for c in (wide, context))]
    np.testing.assert_allclose(logits[0] - logits[1], np.full(len(x.values), shift))
    with pytest.raises(ValueError, match="context"):
        PairContext(1.0, LINE, 20, 10)


def test_a_model_keeps_it_and_one_of_an_older_version_has_none():
    model = SupervisedCorrelationClustering().fit(*toy(0))
    state = model.calibration_.state()
    context = PairContext(0.5, LINE, 1, 99)
    new = Calibration.from_state({**state, "context": context})
    assert new.state()["context"] == context
    x = PairScores(16, matrix=model.decision_function(toy(1)[0][0]))
    model.calibration_ = new
    expected = context.probability(x.list_pairs(), new.pairs)
    np.testing.assert_array_equal(model.pair_probabilities(x), expected)
    moved = model.at_threshold(score=0.3)
    np.testing.assert_allclose(moved.pair_probabilities(x.above(0.3)), expected)
    del state["context"]
    old = Calibration.from_state(state)
    assert old.context is None
    np.testing.assert_array_equal(old.of_pairs(x), old.probability(x.list_pairs().values))
