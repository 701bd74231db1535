"""Iterative, spectral and discretised k-means against brute force and full eigendecompositions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from clustruct.core.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.search import kmeans, spectral
from tests.reference.kmeans import best_partition, relaxed_objective, single_moves, trace_value


def symmetric(m, seed, definite=False):
    A = np.random.default_rng(seed).normal(size=(m, m))
    return A @ A.T if definite else (A + A.T) / 2


@settings(max_examples=40, deadline=None)
@given(m=st.integers(2, 7), k=st.integers(1, 4), seed=st.integers(0, 1000), definite=st.booleans())
def test_iterative_is_a_local_optimum_between_chance_and_the_best(m, k, seed, definite):
    k = min(k, m)
    K = symmetric(m, seed, definite)
    found = kmeans.iterative(K, k, n_init=2, random_state=seed)
    value, (_, best) = trace_value(K, found), best_partition(K, k)
    assert kmeans.objective(K, found) == pytest.approx(value)
    assert found.max() + 1 == k
    assert value <= best + 1e-9
    for other in single_moves(found):
        assert trace_value(K, other) <= value + 1e-9


@settings(max_examples=30, deadline=None)
@given(m=st.integers(2, 8), k=st.integers(1, 3), seed=st.integers(0, 1000))
def test_the_spectral_value_is_never_below_the_best_partition(m, k, seed):
    k = min(k, m)
    K = symmetric(m, seed)
    relaxed = spectral.relax(K, k)
    assert relaxed_objective(K, relaxed) >= best_partition(K, k)[1] - 1e-9


@settings(max_examples=30, deadline=None)
@given(m=st.integers(2, 7), k=st.integers(1, 3), seed=st.integers(0, 1000))
def test_the_centred_value_lies_between(m, k, seed):
    k = min(k, m)
    K = symmetric(m, seed)
    centred = spectral.relax(K, k, centred=True)
    value = relaxed_objective(K, centred)
    assert best_partition(K, k)[1] - 1e-9 <= value
    assert value <= relaxed_objective(K, spectral.relax(K, k)) + 1e-9
    np.testing.assert_allclose(centred.Y @ (centred.Y.T @ np.ones(m)), np.ones(m), atol=1e-9)


def test_centring_an_operator_equals_centring_a_matrix():
    K = symmetric(250, 8)
    K[:5, :5] += 30.0
    K[5:15, 5:15] += 20.0
    dense = spectral.relax(K, 3, centred=True)
    for other in (aslinearoperator(K), sparse.csr_array(K)):
        assert subspace_angles(dense.Y, spectral.relax(other, 3, centred=True).Y).max() < 1e-6


def test_many_starts_find_the_best():
    for seed in range(10):
        K = symmetric(8, seed)
        found = kmeans.iterative(K, 3, n_init=200, random_state=seed)
        assert trace_value(K, found) == pytest.approx(best_partition(K, 3)[1])


@pytest.mark.parametrize("method", ["auto", "dense", "lanczos"])
@pytest.mark.parametrize(("m", "k"), [(40, 1), (150, 5), (300, 6)])
def test_relaxation_equals_full_eigendecomposition(method, m, k):
    rng = np.random.default_rng(m)
    groups = (rng.integers(0, k + 1, m)[:, None] == np.arange(k)) * 1.0
    K = groups @ groups.T + 0.3 * symmetric(m, m)
    relaxed = spectral.relax(K, k, method=method)
    values, vectors = np.linalg.eigh(K)
    assert subspace_angles(relaxed.Y, vectors[:, -k:]).max() < 1e-8
    assert relaxed_objective(K, relaxed) == pytest.approx(values[-k:].sum())
    again = spectral.relax(K, k, method=method, start=relaxed.Y)
    assert subspace_angles(relaxed.Y, again.Y).max() < 1e-8
    np.testing.assert_array_equal(relaxed.Y, spectral.relax(K, k, method=method).Y)


@pytest.mark.parametrize("make", [np.zeros, lambda s: np.eye(s[0]), lambda s: np.ones(s)])
def test_lanczos_with_eigenvalues_of_high_multiplicity(make):
    K = make((300, 300))
    values, Y = spectral.leading_eigenvectors(K, 4, method="lanczos")
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[:-5:-1], atol=1e-8)
    np.testing.assert_allclose(Y.T @ Y, np.eye(4), atol=1e-10)


def test_lanczos_finds_equal_clusters():
    labels = np.repeat(np.arange(6), 50)
    Y = normalised_indicator(labels)
    for sign in (1.0, -1.0):
        values, _ = spectral.leading_eigenvectors(sign * (Y @ Y.T).toarray(), 6, method="lanczos")
        np.testing.assert_allclose(values, np.full(6, max(sign, 0.0)), atol=1e-8)


def test_operators_and_sparse_matrices_equal_dense_ones():
    K = symmetric(220, 1)
    K[np.abs(K) < 1.0] = 0.0
    dense = spectral.relax(K, 3)
    for other in (aslinearoperator(K), sparse.csr_array(K)):
        assert subspace_angles(dense.Y, spectral.relax(other, 3).Y).max() < 1e-6
        np.testing.assert_array_equal(kmeans.iterative(K, 3), kmeans.iterative(other, 3))
        assert kmeans.objective(other, np.arange(220) % 3) == pytest.approx(
            trace_value(K, np.arange(220) % 3)
        )


def test_an_operator_is_not_formed():
    K = symmetric(400, 2) + 40.0 * np.outer(np.arange(400) < 99, np.arange(400) < 99)
    columns = 0

    def times(V):
        nonlocal columns
        columns += np.asarray(V).size // 400
        return K @ V

    spectral.relax(LinearOperator((400, 400), matvec=times, matmat=times, dtype=float), 1)
    assert columns < 200


def test_discretise_is_iterative_on_the_projection():
    K = symmetric(60, 3)
    relaxed = spectral.relax(K, 4)
    by_rows = spectral.discretise(relaxed, random_state=5)
    by_matrix = kmeans.iterative(relaxed.Y @ relaxed.Y.T, 4, random_state=5)
    np.testing.assert_array_equal(by_rows, by_matrix)


def test_discretise_gives_back_a_partition():
    labels = canonical_labels(np.random.default_rng(0).integers(0, 4, 50))
    Y = normalised_indicator(labels).toarray()
    turn = np.linalg.qr(symmetric(4, 0))[0]
    np.testing.assert_array_equal(spectral.discretise(RelaxedClustering(Y @ turn)), labels)


def test_no_cluster_is_empty_even_with_equal_items():
    for k in (1, 3, 6):
        assert kmeans.iterative(np.ones((6, 6)), k).max() + 1 == k


def test_starts_are_used_and_never_made_worse():
    K = symmetric(30, 4)
    begin = np.arange(30) % 3
    found = kmeans.iterative(K, 3, n_init=0, labels=begin)
    assert trace_value(K, found) >= trace_value(K, begin)
    both = kmeans.iterative(K, 3, n_init=2, labels=[begin, begin[::-1].copy()])
    assert trace_value(K, both) >= trace_value(K, found) - 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kmeans.iterative(np.eye(3), 4), "between 1 and the number of items, 3, not 4"),
        (lambda: kmeans.iterative(np.eye(3), 0), "between 1"),
        (lambda: kmeans.iterative(np.eye(3), 2, n_init=0), "n_init must be at least 1"),
        (lambda: kmeans.iterative(np.eye(3), 2, labels=[0, 1, 2]), "have 3 clusters, not 2"),
        (lambda: kmeans.iterative([[0.0, 1.0], [2.0, 0.0]], 1), "not symmetric"),
        (lambda: kmeans.iterative([[np.nan]], 1), "row 0, column 0 is nan"),
        (lambda: kmeans.iterative(np.ones((2, 3)), 1), "square"),
        (lambda: spectral.relax(np.eye(3), 5), "between 1"),
        (lambda: spectral.relax(np.eye(3), 1, method="magic"), "method must be"),
        (lambda: RelaxedClustering(np.ones((2, 3))), "1 <= k <= m"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
