"""CPM3C, PLSA, CLGR and local scaling against written-out twins."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors

from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers import cpm3c, document_clustering
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA, plsa
from clustruct.papers.universum.margin_problem import MarginProblem
from studies.universum2011.methods import local_scaling


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, n_features=5, centers=3, cluster_std=2.0, random_state=1)


def counts(n=60, d=30, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    rates = 0.1 + 2.0 * (np.arange(d) % k == y[:, None])
    return rng.poisson(rates).astype(float), y


def test_likelihood_of_plsa_never_falls():
    for seed in range(10):
        X, _ = counts(seed=seed)
        found = plsa(X, 3, np.random.RandomState(seed), tol=0.0, max_iter=60)
        assert (np.diff(found.history) >= -1e-9 * abs(found.history[0])).all()
        np.testing.assert_allclose(found.topics.sum(axis=1), 1.0)
        np.testing.assert_allclose(found.words.sum(axis=1), 1.0)


def test_a_step_of_plsa_is_that_of_the_written_out_em():
    X, _ = counts(n=8, d=6)
    X[3] = 0.0
    one, two = (plsa(X, 2, np.random.RandomState(0), tol=-np.inf, max_iter=m) for m in (1, 2))
    rng = np.random.RandomState(0)
    topics, words = rng.dirichlet(np.ones(2), 8), rng.dirichlet(np.ones(6), 2)
    for found in (one, two):
        Q = topics[:, None, :] * words.T[None, :, :]
        Q /= Q.sum(axis=2, keepdims=True)
        new_words = np.einsum("dw,dwz->zw", X, Q)
        new_topics = np.einsum("dw,dwz->dz", X, Q)
        new_topics[3] = 0.5
        words = new_words / new_words.sum(axis=1, keepdims=True)
        topics = new_topics / new_topics.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.words, words)
        np.testing.assert_allclose(found.topics, topics)


def test_plsa_finds_topics_dense_or_sparse():
    X, y = counts(n=150)
    dense = PLSA(3, n_init=3, random_state=0).fit(X)
    thin = PLSA(3, n_init=3, random_state=0).fit(sparse.csr_matrix(X))
    assert matched_accuracy(y, dense.labels_) > 0.9
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    with pytest.raises(ValueError, match="Negative values"):
        PLSA(3).fit(-X)


def test_local_predictors_are_ridge_regressions(blobs):
    X, _ = blobs
    index = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(return_distance=False)
    q = np.random.default_rng(0).normal(size=len(X))
    A = document_clustering.local_predictors(X, index, ridge=0.3)
    for i in (0, 7, 119):
        model = Ridge(alpha=0.3 * 6).fit(X[index[i]], q[index[i]])
        assert (A @ q)[i] == pytest.approx(model.predict(X[i : i + 1])[0])
    np.testing.assert_allclose(A @ np.ones(len(X)), 1.0)


def test_clgr_embedding_is_that_of_the_dense_matrix(blobs):
    X, y = blobs
    n = len(X)
    index = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    A = document_clustering.local_predictors(X, index, 0.5).toarray()
    S = np.zeros((n, n))
    for i in range(n):
        for j in index[i]:
            cosine = X[i] @ X[j] / np.linalg.norm(X[i]) / np.linalg.norm(X[j])
            S[i, j] = S[j, i] = max(cosine, 0.0)
    root = 1.0 / np.sqrt(S.sum(axis=0))
    M = (np.eye(n) - A).T @ (np.eye(n) - A) + 0.7 * (np.eye(n) - root[:, None] * S * root)
    expected = np.linalg.eigh(M)[1][:, :3]
    for dense in (600, 0):
        found = document_clustering.clgr_embedding(X, 3, 10, 0.5, 0.7, seed=0, dense=dense)
        assert np.max(subspace_angles(found, expected)) < 1e-2
    assert matched_accuracy(y, CLGR(3, n_neighbors=10, random_state=0).fit_predict(X)) > 0.9


def test_local_scaling_is_its_formula(blobs):
    X, _ = blobs
    D = cdist(X, X)
    own = np.sort(D, axis=1)[:, 7]
    expected = np.exp(-(D**2) / np.outer(own, own))
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(local_scaling(X, len(X) - 1).toarray(), expected, atol=1e-6)
    few = local_scaling(X, 10)
    assert (abs(few - few.T) > 1e-12).nnz == 0
    assert few.nnz < 20 * len(X)


def test_planes_of_cpm3c_are_sums_over_documents(blobs):
    X, _ = blobs
    problem = MarginProblem(X, 3, 4.0, 1.0)
    rng = np.random.default_rng(0)
    chosen, labels = rng.integers(-1, 3, size=(2, len(X))).astype(np.int16), rng.integers(3, size=len(X))
    vectors, b = cpm3c._planes(problem, chosen, labels)
    W = rng.normal(size=(3, 5))
    for j, rivals in enumerate(chosen):
        active = [i for i, r in enumerate(rivals) if r >= 0 and r != labels[i]]
        product = sum((W[labels[i]] - W[rivals[i]]) @ X[i] for i in active) / len(X)
        assert vectors[j] @ W.ravel() == pytest.approx(product)
        assert b[j] == pytest.approx(len(active) / len(X))


def test_cpm3c_ends_with_all_constraints_met_within_epsilon(blobs):
    X, y = blobs
    model = CPM3C(3, C=4.0, random_state=0).fit(X)
    assert model.result_.converged
    assert matched_accuracy(y, model.labels_) > 0.9
    scores = np.sort(X @ model.coef_.T, axis=1)
    slack = np.maximum(0.0, 1.0 - (scores[:, -1] - scores[:, -2])).mean()
    W = model.coef_ / model.scale_
    assert model.objective_ == pytest.approx(0.5 * (W**2).sum() + 4.0 * slack)
    totals = W @ (X * model.scale_).sum(axis=0)
    assert totals.max() - totals.min() <= 0.1 + 1e-7
