"""The examples run, and say what they claim."""

import itertools

import pytest

from examples import binary, multiclass, own_problem


def test_binary(capsys):
    binary.main()
    lines = capsys.readouterr().out.splitlines()
    assert [float(line.split()[-2]) < 6.0 for line in lines] == [True, True]
    assert "least  0.000" in lines[1]


def test_multiclass(capsys):
    multiclass.main()
    errors = [float(line.split()[-2]) for line in capsys.readouterr().out.splitlines()]
    assert min(errors) < 5.0


def test_own_problem(capsys):
    own_problem.main()
    out = capsys.readouterr().out
    assert "the cats bark at dogs    other noun verb other noun" in out
    assert "a run ends               other noun verb" in out
    assert "both ends hold" in out


def test_own_problem_oracle_is_exact():
    """Viterbi against all sequences."""
    from itertools import product

    import numpy as np

    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, transitions = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))

        def value(y, scores=scores, transitions=transitions):
            steps = sum(transitions[a, b] for a, b in itertools.pairwise(y))
            return scores[np.arange(4), list(y)].sum() + steps

        best = max(product(range(3), repeat=4), key=value)
        assert value(own_problem.viterbi(scores, transitions)) == pytest.approx(value(best))
