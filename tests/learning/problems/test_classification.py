"""The classical learners, written as structured problems, agree with scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from clustruct import ssvm
from clustruct.learning.problems import BinaryProblem, MulticlassProblem

TIGHT = {"epsilon": 1e-8, "rtol": 1e-6}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[::3] / 16.0, y[::3]


def crammer_singer(X, y, C):
    return LinearSVC(
        multi_class="crammer_singer", C=C / len(y), tol=1e-8, fit_intercept=False, max_iter=1_000_000
    ).fit(X, y)


def hinge_objective(W, X, y, C):
    scores = X @ W.T
    right = scores[np.arange(len(y)), y][:, None]
    return 0.5 * np.sum(W**2) + C * np.mean(np.max(scores + (np.arange(10) != y[:, None]) - right, axis=1))


# Of older versions the peer sometimes ends at its last round, within the tolerance below.
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Liblinear failed to converge")
@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_multiclass_is_crammer_singer(digits, formulation, C):
    X, y = digits
    optimum = hinge_objective(crammer_singer(X, y, C).coef_, X, y, C)
    result = ssvm.fit(MulticlassProblem(X, y), C, formulation=formulation, rtol=1e-4)
    assert hinge_objective(result.w.reshape(10, -1), X, y, C) == pytest.approx(optimum, rel=1.2e-4)
    assert result.dual <= optimum * (1 + 1e-7)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_sparse_equals_dense(digits, formulation):
    X, y = digits
    fits = [
        ssvm.fit(MulticlassProblem(form(X), y), 5.0, formulation=formulation, rtol=1e-5)
        for form in (np.asarray, sparse.csr_array)
    ]
    assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-4)


def test_input_is_not_changed(digits):
    X, y = digits
    before = X.copy()
    ssvm.fit(MulticlassProblem(X, y), 1.0)
    np.testing.assert_array_equal(X, before)


def test_cost_matrix_is_the_loss():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    cost = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    problem = MulticlassProblem(X, y, cost)
    w = ssvm.fit(problem, 2.0, **TIGHT).w
    scores = X @ w.reshape(3, -1).T
    slack = np.max(cost[y] + scores - scores[np.arange(40), y][:, None], axis=1)
    tight = ssvm.fit(problem, 2.0, formulation="one_slack", **TIGHT)
    assert 0.5 * w @ w + 2.0 * slack.mean() == pytest.approx(tight.objective, rel=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("norm", "loss"), [(1, "hinge"), (2, "squared_hinge")])
def test_binary_is_the_svm(digits, norm, loss, form):
    X, y = digits
    y = y % 2
    C, n = 5.0, len(y)
    # LinearSVC's squared hinge is C sum xi^2, ours C/2 mean xi^2.
    peer = LinearSVC(loss=loss, dual=True, C=C / n / norm, tol=1e-9, fit_intercept=False, max_iter=1_000_000)
    v = peer.fit(X, y).coef_[0]
    result = ssvm.fit(BinaryProblem(form(X), y), C, slack_norm=norm, rtol=1e-6)

    def objective(w):
        xi = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ w))
        return 0.5 * w @ w + C * np.mean(xi if norm == 1 else 0.5 * xi**2)

    assert objective(result.w) == pytest.approx(objective(v), rel=1e-5)
    assert result.objective == pytest.approx(objective(result.w), rel=1e-9)
    np.testing.assert_array_equal(BinaryProblem(X, y).predict(X, result.w), (X @ result.w > 0).astype(int))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], [0, 1], "Input X contains NaN"),
        ([[1.0], [2.0]], [0, 1, 1], "3 labels"),
        ([1.0, 2.0], [0, 1], "Expected 2D array"),
    ],
)
def test_bad_input_is_named(X, y, message):
    for problem in (BinaryProblem, MulticlassProblem):
        with pytest.raises(ValueError, match=message):
            problem(X, y)


def test_wrong_cost_matrix():
    with pytest.raises(ValueError, match="2 x 2 array with a zero diagonal"):
        MulticlassProblem([[1.0], [2.0]], [0, 1], np.ones((2, 2)))
