"""Many starts at once: what they are made of agrees with the problem itself, start by start."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA

from clustruct.papers.universum._kernels import move_to_nearest
from clustruct.papers.universum.margin_problem import MarginProblem, natural_scale, plane_of, slack
from clustruct.papers.universum.starts import (
    DIRECTIONS,
    SHARES,
    _reduce,
    directions,
    kmeans_many,
    lowest_starts,
    start_directions,
)


@pytest.fixture(scope="module")
def problem():
    X, y = make_blobs(160, n_features=6, centers=5, cluster_std=2.0, random_state=0)
    X = (X + 3.0) * natural_scale(X)
    return MarginProblem(X[y < 4], 4, 2.0, 0.1, X[y == 4], 1.0)


def chance():
    return np.random.RandomState(0)


def test_directions_are_the_principal_ones_at_right_angles_to_the_mean():
    X = np.random.default_rng(0).normal(size=(80, 12)) * np.linspace(3.0, 0.5, 12) + 1.0
    mean = X.mean(axis=0)
    V = directions(X, mean, chance(), 4)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(V.T @ mean, 0.0, atol=1e-12)
    flat = X - np.outer(X @ mean, mean) / (mean @ mean)
    expected = PCA(4).fit(flat).components_
    np.testing.assert_allclose(np.abs(np.sum(V.T * expected, axis=1)), 1.0, atol=1e-9)


def test_directions_of_sparse_data_span_the_same():
    """Where all directions are asked for a randomised decomposition has no error."""
    X = np.random.default_rng(0).normal(size=(80, 6)) + 1.0
    mean = X.mean(axis=0)
    dense, thin = (directions(Z, mean, chance(), 5) for Z in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(thin @ thin.T, dense @ dense.T, atol=1e-9)


def test_directions_of_data_without_balance_may_be_all():
    X = np.random.default_rng(0).normal(size=(20, 3)) + 1.0
    np.testing.assert_allclose(np.abs(np.linalg.det(directions(X, None, chance()))), 1.0)


@pytest.mark.parametrize("first", [2.0, 0.0, -2.0])
def test_where_directions_are_few_any_that_span_what_is_across_the_mean_do(first):
    X = np.random.default_rng(0).normal(size=(80, 7)) + 1.0
    mean = X.mean(axis=0)
    mean[0] = first
    V = start_directions(X, mean, chance())
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(V.T @ mean, 0.0, atol=1e-12)
    np.testing.assert_array_equal(start_directions(X, None, chance()), np.eye(7))


def test_where_directions_are_many_the_leading_ones_are_taken():
    X = np.random.default_rng(0).normal(size=(DIRECTIONS + 60, DIRECTIONS + 30))
    V = start_directions(X, X.mean(axis=0) + 1.0, chance())
    assert V.shape == (DIRECTIONS + 30, DIRECTIONS)
    np.testing.assert_array_equal(V, directions(X, X.mean(axis=0) + 1.0, chance()))


def test_each_start_ends_where_kmeans_stays(problem):
    Z = problem.X.astype(np.float32)
    labels = kmeans_many(Z, 4, 5, chance())
    assert len({tuple(column) for column in labels.T}) > 1
    for column in labels.T:
        centres = np.array([Z[column == c].mean(axis=0) for c in range(4)])
        np.testing.assert_array_equal(np.argmin(((Z[:, None] - centres) ** 2).sum(axis=2), axis=1), column)


def test_equal_rows_do_not_upset_kmeans():
    assert kmeans_many(np.ones((7, 2), np.float32), 3, 4, chance()).shape == (7, 4)


def test_planes_and_risks_are_those_of_the_problem(problem):
    """The twin is `MarginProblem` itself, start by start and in double precision."""
    reduced, _ = _reduce(problem, chance())
    rng = np.random.default_rng(1)
    W, move = (rng.normal(size=(3, 4, reduced.X.shape[1])).astype(np.float32) for _ in range(2))
    labels = rng.integers(4, size=(len(reduced.X), 3))
    at, moves = reduced.scores(W), reduced.scores(move)
    planes, risks = reduced._plane(at, labels), reduced._risks(at, moves, labels, SHARES)
    same = (reduced.C, np.inf, reduced.U.astype(float), reduced.C_universum, problem.margin)
    twin = MarginProblem(reduced.X.astype(float), 4, *same)
    for s in range(3):
        terms = twin.terms(labels[:, s])
        expected = [
            C * plane_of(v.X, v.cut(v.X @ W[s].T)[0]) for C, v in zip(twin.weights, terms, strict=True)
        ]
        np.testing.assert_allclose(planes[s], sum(expected), atol=1e-4 * np.abs(planes).max())
        for t, share in enumerate(SHARES):
            there = W[s] + share * move[s]
            slacks = [slack(v, v.X @ there.T) for v in terms]
            assert risks[t, s] == pytest.approx(twin.weights @ slacks, rel=1e-5)


@pytest.mark.parametrize("balance", [0.1, np.inf])
def test_the_lowest_comes_first_and_is_balanced(problem, balance):
    mine = MarginProblem(problem.X, 4, 2.0, balance, problem.U, 1.0)
    starts = lowest_starts(mine, 8, chance())
    values = [mine.objective(W) for W in starts]
    np.testing.assert_allclose(values, sorted(values), rtol=1e-5)
    assert values[0] < mine.objective(np.zeros(mine.shape))
    if np.isfinite(balance):
        means = starts[0] @ mine.centre
        assert np.ptp(means) <= 1e-5 * np.linalg.norm(starts[0]) * np.linalg.norm(mine.centre)


def test_sums_of_clusters_follow_the_rows_that_move():
    """In some starts only; what the kernel adds and takes away is what the labels say."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 3)).astype(np.float32)
    labels = np.full((50, 4), -1, np.intp)
    sums, sizes = np.zeros((4, 2, 3), np.float32), np.zeros((4, 2), np.intp)
    starts = np.array([1, 3])
    for _ in range(3):
        centres = rng.normal(size=(2, 2, 3)).astype(np.float32)
        scores = (Z @ centres.reshape(4, 3).T).reshape(50, 2, 2)
        before = labels.copy()
        moved = move_to_nearest(Z, scores, 0.5 * np.sum(centres**2, axis=2), starts, labels, sums, sizes)
        nearest = np.argmin(((Z[:, None, None] - centres) ** 2).sum(axis=3), axis=2)
        np.testing.assert_array_equal(labels[:, starts], nearest)
        np.testing.assert_array_equal(moved, np.sum(labels != before, axis=0)[starts])
    assert (labels[:, [0, 2]] == -1).all()
    for s in starts:
        for r in range(2):
            np.testing.assert_allclose(sums[s, r], Z[labels[:, s] == r].sum(axis=0), atol=1e-5)
            assert sizes[s, r] == np.count_nonzero(labels[:, s] == r)


def test_a_part_of_a_problem_is_itself_where_it_has_no_more(problem):
    assert problem.part(200, chance()) is problem
    part = problem.part(30, chance())
    assert (len(part.X), len(part.U), part.C) == (30, 30, problem.C)
