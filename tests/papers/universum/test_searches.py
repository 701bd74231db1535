"""Several searches: all take a step, and those that can still be the lowest go on."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clustruct.papers.universum.concave_convex import (
    CccpSearch,
    ScoredPoint,
    _line_search,
    _same_clusters,
    cccp,
    lowest_of,
)
from clustruct.papers.universum.margin_problem import (
    MarginProblem,
    TargetTerm,
    UniversumTerm,
    inner_product,
    natural_scale,
)
from clustruct.ssvm import Incumbent


@pytest.fixture(scope="module")
def problem():
    X, _ = make_blobs(120, n_features=5, centers=6, cluster_std=2.5, random_state=1)
    X = (X + 3.0) * natural_scale(X)
    return MarginProblem(X, 4, 2.0, 0.1, None)


def some_labels(count=5):
    rng = np.random.default_rng(0)
    return [rng.integers(4, size=120) for _ in range(count)]


def search(problem, labels, callback=None):
    return CccpSearch(problem, labels, None, 1e-3, 1e-3, 100, callback)


def test_a_search_that_is_left_and_taken_up_is_that_of_one_go(problem):
    labels = some_labels(1)[0]
    parts = search(problem, labels)
    first = parts.run(1)
    assert (first.stop_reason, len(first.history), first.converged, first.was_ended) == ("", 1, False, False)
    whole, found = cccp(problem, labels, tol=1e-3, inner_tol=1e-3), parts.run()
    assert len(whole.history) > 1
    assert found.converged
    np.testing.assert_array_equal(found.objectives, whole.objectives)
    np.testing.assert_array_equal(found.W, whole.W)


def test_the_lowest_end_is_found(problem):
    ends = [cccp(problem, labels, tol=1e-3, inner_tol=1e-3).objective for labels in some_labels()]
    assert len({round(end, 6) for end in ends}) > 1
    found = lowest_of((search(problem, labels) for labels in some_labels()), np.inf)
    assert found.objective == min(ends)
    assert found.converged


def test_what_is_far_above_after_a_step_is_left(problem):
    searches = [search(problem, labels) for labels in some_labels()]
    found = lowest_of(searches, 0.0)
    steps = [len(one.run(0).history) for one in searches]
    assert sorted(steps)[:-1] == [1] * 4
    assert len(found.history) == max(steps) > 1


def test_a_search_with_the_clusters_of_a_lower_one_is_left(problem):
    labels = some_labels(1)[0]
    searches = [search(problem, labels), search(problem, (labels + 1) % 4)]
    lowest_of(searches, np.inf)
    assert sorted(len(one.run(0).history) > 1 for one in searches) == [False, True]


def test_a_callback_ends_all_of_them(problem):
    seen = []

    def third(iteration):
        seen.append(iteration.primal)
        return "enough" if len(seen) == 3 else None

    found = lowest_of((search(problem, labels, third) for labels in some_labels()), 0.1)
    assert len(seen) == 3
    assert found.stop_reason == "enough"
    assert found.objective == min(seen)


def test_nearly_the_same_clusters_by_other_names():
    a = np.repeat([0, 1, 2], [100, 60, 40])
    b = (a + 1) % 3
    assert _same_clusters(a, b)
    b[:2] = 0
    assert _same_clusters(a, b)
    b[:4] = 0
    assert not _same_clusters(a, b)
    merged = np.minimum(a, 1)
    assert not _same_clusters(a, merged)
    assert not _same_clusters(merged, a)


def test_what_is_near_the_lowest_after_a_step_goes_on(problem):
    searches = [search(problem, labels) for labels in some_labels()]
    values = sorted(search(problem, labels).run(1).objective for labels in some_labels())
    tol = values[2] / values[0] - 1.0 + 1e-9
    lowest_of(searches, tol)
    assert sum(bool(one.reason) for one in searches) == 3


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["target", "universum"])
def test_value_and_slope_along_a_line_are_those_of_the_planes(kind, share):
    rng = np.random.default_rng(0)
    scores, moves = rng.normal(size=(2, 40, 4))
    term = TargetTerm(None, rng.integers(4, size=40)) if kind == "target" else UniversumTerm(None, 0.5)
    value, slope = term.along(scores, moves, share)
    M, b = term.cut(scores + share * moves)
    assert value == pytest.approx(b - inner_product(M, scores + share * moves), abs=1e-12)
    assert slope == pytest.approx(-inner_product(M, moves), abs=1e-12)
    assert value > 0.0


def test_a_line_search_ends_no_higher_and_at_the_value_it_says(problem):
    rng = np.random.default_rng(0)
    terms, weights = problem.terms(some_labels(1)[0]), problem.weights
    begin, there = (ScoredPoint(W, problem.scores(W)) for W in 0.1 * rng.normal(size=(2, *problem.shape)))
    labels = terms[0].labels
    best = Incumbent(begin, problem.objective(begin.W, labels))
    found = _line_search(terms, weights, best, there)
    assert found.primal < best.primal
    assert found.primal == pytest.approx(problem.objective(found.w.W, labels))
    np.testing.assert_allclose(found.w.scores[0], problem.scores(found.w.W)[0], atol=1e-12)
    line = [problem.objective(begin.W + t * (there.W - begin.W), labels) for t in np.linspace(0, 1, 101)]
    assert found.primal <= min(line) + 0.02 * (max(line) - min(line))
