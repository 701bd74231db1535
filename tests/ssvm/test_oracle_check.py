"""Oracles of users that do not do what they say are named; honest ones never are."""

import warnings

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.ssvm import NothingLearned, SlackRule
from tests.reference import structural_svm as slow

RULES = [("margin", 1), ("slack", 1), ("margin", 2), ("slack", 2)]


class IgnoresTheRule(slow.Enumerated):
    """It searches by margin scaling whatever it is asked."""

    def separate(self, i, w, rule):
        return super().separate(i, w, SlackRule())


class AnswersTheTruth(slow.Enumerated):
    def separate(self, i, w, rule):
        return 0


class LooksAtSome(slow.Enumerated):
    """An honest search of a part of the outputs."""

    oracle_kind = "undergenerating"

    def separate(self, i, w, rule):
        scores = (self.psi[i] @ w)[:-1]
        return int(np.argmax(rule.violation(self.losses[i][:-1], scores - scores[0])))


def problems(kind, n=25):
    for seed in range(n):
        plain = slow.random_problem(seed, n=6, outputs=5)
        yield kind(plain.psi, plain.losses)


@pytest.mark.parametrize("kind", [slow.Enumerated, LooksAtSome])
@pytest.mark.parametrize("rule", RULES)
def test_honest_oracles_are_never_named(kind, rule):
    scaling, norm = rule
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for problem in problems(kind):
            for C in (0.01, 1.0, 100.0):
                ssvm.fit(problem, C, scaling=scaling, slack_norm=norm)


@pytest.mark.parametrize("norm", [1, 2])
def test_an_oracle_that_ignores_slack_scaling_is_named(norm):
    named = 0
    for problem in problems(IgnoresTheRule):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ssvm.fit(problem, 10.0, scaling="slack", slack_norm=norm)
        named += any(
            isinstance(w.message, ReliabilityWarning) and "called exact" in str(w.message) for w in found
        )
    assert named >= 12  # where it misses nothing at w, nothing is wrong there


@pytest.mark.parametrize("rule", RULES)
def test_an_oracle_that_always_answers_the_truth_is_named(rule):
    for problem in problems(AnswersTheTruth, 3):
        with pytest.warns(NothingLearned, match="the oracle found no output with a loss at w = 0"):
            ssvm.fit(problem, 10.0, scaling=rule[0], slack_norm=rule[1])
