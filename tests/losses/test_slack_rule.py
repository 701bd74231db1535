"""The slack rule is written twice, in Python and compiled: the two are equal."""

import numpy as np
import pytest

from clustruct.losses._kernels import violation
from clustruct.losses.slack_rule import SlackRule

RULES = [SlackRule(s, n) for s in ("margin", "slack") for n in (1, 2)]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_compiled_rule_is_the_rule(rule):
    rng = np.random.default_rng(0)
    losses, gains = 100.0 * rng.random(500), rng.normal(scale=10.0, size=500)
    losses[:5] = 0.0
    compiled = [
        violation(d, g, rule.scaling == "slack", rule.norm == 2) for d, g in zip(losses, gains, strict=True)
    ]
    np.testing.assert_array_equal(compiled, rule.violation(losses, gains))
    assert compiled == [rule.violation(float(d), float(g)) for d, g in zip(losses, gains, strict=True)]


def test_what_is_no_rule_is_refused():
    with pytest.raises(ValueError, match="scaling must be"):
        SlackRule("both")
    with pytest.raises(ValueError, match="slack_norm must be 1 or 2"):
        SlackRule("margin", 3)
