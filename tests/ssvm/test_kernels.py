"""Kernel training equals linear training on explicit features."""

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.core.kernels import Kernel
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm import VectorSum


class KernelMulticlass(ssvm.Problem):
    """Multiclass with a kernel: class c is part c."""

    oracle_kind = "exact"

    def __init__(self, X, y):
        self.X, self.y = np.asarray(X, float), np.asarray(y)
        self.n_examples, self.n_classes, self.n_features = len(y), int(self.y.max()) + 1, 1

    def truth(self, i):
        return self.y[i]

    def loss(self, i, y):
        return float(y != self.y[i])

    def joint_feature(self, i, y):
        return VectorSum(np.ones(1), self.X[[i]], np.array([y]))

    def separate(self, i, w, rule):
        scores = np.array([w.scores(self.X[[i]], c)[0] for c in range(self.n_classes)])
        losses = (np.arange(self.n_classes) != self.y[i]).astype(float)
        return int(np.argmax(rule.violation(losses, scores - scores[self.y[i]])))

    def supports(self, rule):
        return True


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, (np.sum(X**2, axis=1) > 1.4).astype(int)


TIGHT = {"epsilon": 1e-8, "rtol": 1e-6}


@pytest.mark.parametrize(("formulation", "norm"), [("n_slack", 1), ("n_slack", 2), ("one_slack", 1)])
@pytest.mark.parametrize("scaling", ["margin", "slack"])
def test_linear_kernel_is_linear(data, formulation, norm, scaling):
    X, y = data
    options = {"formulation": formulation, "slack_norm": norm, "scaling": scaling, **TIGHT}
    dual = ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=Kernel("linear"), **options)
    primal = ssvm.fit(MulticlassProblem(X, y), 3.0, **options)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-5)
    scores = np.column_stack([dual.w.scores(X, c) for c in (0, 1)])
    np.testing.assert_allclose(scores, X @ primal.w.reshape(2, -1).T, atol=5e-3)


def test_polynomial_kernel_is_linear_on_products(data):
    X, y = data
    explicit = np.column_stack(
        [np.ones(len(X)), *(np.sqrt(2) * X.T), *(X.T**2), np.sqrt(2) * X[:, 0] * X[:, 1]]
    )
    dual = ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=Kernel("polynomial", degree=2), **TIGHT)
    primal = ssvm.fit(MulticlassProblem(explicit, y), 3.0, **TIGHT)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-5)


@pytest.mark.parametrize("kernel", [Kernel("rbf", gamma=0.7), Kernel("sigmoid", scale=0.1, offset=0.1)])
def test_other_kernels_learn(data, kernel):
    X, y = data
    result = ssvm.fit(KernelMulticlass(X, y), 100.0, kernel=kernel)
    predicted = np.argmax([result.w.scores(X, c) for c in (0, 1)], axis=0)
    majority = max(np.mean(y), 1 - np.mean(y))
    assert np.mean(predicted == y) >= (0.95 if kernel.kind == "rbf" else majority)


def test_rbf_kernel_is_linear_on_its_factor(data):
    """With K = L L', the rows of L are explicit features of the training items."""
    X, y = data
    rbf = Kernel("rbf", gamma=0.7)
    L = np.linalg.cholesky(rbf(X, X) + 1e-12 * np.eye(len(X)))
    dual = ssvm.fit(KernelMulticlass(X, y), 10.0, kernel=rbf, **TIGHT)
    primal = ssvm.fit(MulticlassProblem(L, y), 10.0, **TIGHT)
    assert dual.objective == pytest.approx(primal.objective, rel=1e-5)
    scores = np.column_stack([dual.w.scores(X, c) for c in (0, 1)])
    np.testing.assert_allclose(scores, L @ primal.w.reshape(2, -1).T, atol=5e-3)


def test_sparse_vectors(data):
    from scipy import sparse

    X, y = data

    class Sparse(KernelMulticlass):
        def joint_feature(self, i, y):
            return VectorSum(np.ones(1), sparse.csr_array(self.X[[i]]), np.array([y]))

    rbf = Kernel("rbf")
    dense = ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=rbf)
    assert ssvm.fit(Sparse(X, y), 3.0, kernel=rbf).objective == pytest.approx(dense.objective, rel=1e-6)


def test_a_kernel_may_be_any_function(data):
    from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

    X, y = data
    named = ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=Kernel("rbf", gamma=0.5))
    same = ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=lambda U, V: rbf_kernel(U, V, gamma=0.5))
    assert same.objective == named.objective
    assert ssvm.fit(KernelMulticlass(X, y), 3.0, kernel=laplacian_kernel).converged


def test_unknown_kernel():
    with pytest.raises(ValueError, match="unknown kernel 'cosine'"):
        Kernel("cosine")


@pytest.mark.parametrize("rows_at_once", [3, 4096])
def test_scores_of_many_sums_are_sums_of_kernel_values(rows_at_once):
    rng = np.random.default_rng(1)
    rbf = Kernel("rbf", gamma=0.3)
    sums = [
        VectorSum(rng.normal(size=k), rng.normal(size=(k, 2)), rng.integers(0, 2, size=k))
        for k in (2, 0, 5, 1)
    ]
    w = ssvm.KernelModel(rbf, sums[2])
    expected = [
        sum(
            a * b * rbf(u[None], v[None])[0, 0]
            for a, u, p in zip(s.coefficients, s.vectors, s.part_ids, strict=True)
            for b, v, q in zip(w.support.coefficients, w.support.vectors, w.support.part_ids, strict=True)
            if p == q
        )
        for s in sums
    ]
    np.testing.assert_allclose(w.score_all(sums, rows_at_once), expected, atol=1e-12)
