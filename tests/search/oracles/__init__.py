"""Tests of the oracles, and how they ask one for what it found."""


def search(problem, i, w, rule, *, thorough=False):
    """What the oracle of a clustering problem finds for set i, with its coefficients and loss."""
    (problem.separate_thoroughly if thorough else problem.separate)(i, w, rule)
    return problem.memory()[0][i]
