"""Kept answers: of fresh, kept and true answers the best makes the joint constraint, whatever the pieces."""

import numpy as np
import pytest

from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm import Constraints
from clustruct.ssvm.separation import KeptAnswers, check_answers

N, FEATURES, ROUNDS = 7, 3, 4


def answers(rng, pieces, w, rule):
    """What an oracle that finds anything at all might say for each piece."""
    made = [Constraints(rng.random(len(p)), rng.normal(size=(len(p), FEATURES))) for p in pieces]
    return [check_answers(p, batch, w, rule) for p, batch in zip(pieces, made, strict=True)]


@pytest.mark.parametrize("scaling", ["margin", "slack"])
@pytest.mark.parametrize("n_pieces", [1, 3])
def test_the_best_answer_held_counts_for_each_example(scaling, n_pieces):
    rng, rule = np.random.default_rng(n_pieces), SlackRule(scaling)
    weights, pieces = rng.random(N), np.array_split(np.arange(N), n_pieces)
    kept = KeptAnswers(weights, rule, ROUNDS)
    for _ in range(ROUNDS + 2):  # the first two are forgotten
        kept.rounds.append(answers(rng, pieces, rng.normal(size=FEATURES), rule))
    w = rng.normal(size=FEATURES)
    vector, b, risk = np.zeros(FEATURES), 0.0, 0.0
    for k, piece in enumerate(pieces):
        for place, i in enumerate(piece):
            held = [(one[k].batch.losses[place], one[k].batch.differences[place]) for one in kept.rounds]
            loss, psi = max(held, key=lambda a: rule.violation(a[0], -a[1] @ w))
            needed = rule.violation(loss, -psi @ w)
            if needed > 0.0:
                vector += weights[i] * rule.multiplier(loss) * psi
                b += weights[i] * rule.size(loss)
                risk += weights[i] * needed
    found = kept.joint(w)
    np.testing.assert_allclose(sum(c.vector for c in found if c.vector is not None), vector)
    assert sum(c.b for c in found) == pytest.approx(b)
    assert sum(c.risk for c in found) == pytest.approx(risk)
    assert risk == pytest.approx(b - vector @ w)  # the plane touches the risk at w
