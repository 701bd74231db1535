"""The smoothed sum of eigenvalues: its bounds, its limit, its derivative."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from clustruct.search import spectral
from clustruct.search.spectral import occupations, soft_relax
from tests.reference.kmeans import relaxed_objective


def symmetric(m, seed):
    A = np.random.default_rng(seed).normal(size=(m, m))
    return (A + A.T) / 2


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_bounds_and_limit(k, centred):
    K = symmetric(9, k)
    best = relaxed_objective(K, spectral.relax(K, k, centred=centred))
    for mu in (1.0, 0.1, 1e-3):
        soft = soft_relax(K, k, mu, centred=centred)
        assert soft.largest == pytest.approx(best, abs=1e-9)
        assert soft.value <= best + 1e-9 <= soft.smoothed + 2e-9
        # The entropy of each eigenvalue is at most log 2.
        assert soft.smoothed - soft.value <= mu * 9 * np.log(2) + 1e-12
        Z = soft.U @ soft.U.T
        assert np.trace(Z) == pytest.approx(k)
        assert np.sum(K * Z) == pytest.approx(soft.value, abs=1e-9)
        eigenvalues = np.linalg.eigvalsh(Z)
        assert eigenvalues.min() > -1e-9
        assert eigenvalues.max() < 1 + 1e-9
        if centred:
            np.testing.assert_allclose(Z @ np.ones(9), np.ones(9), atol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_derivative_is_the_solution(centred):
    K, D, h = symmetric(7, 1), symmetric(7, 2), 1e-5
    up, down = (soft_relax(K + s * h * D, 3, 0.3, centred=centred).smoothed for s in (1, -1))
    U = soft_relax(K, 3, 0.3, centred=centred).U
    assert (up - down) / (2 * h) == pytest.approx(float(np.sum(D * (U @ U.T))), rel=1e-6)


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 1.0, 1e6])
def test_occupations_sum_to_k(mu):
    eigenvalues = np.random.default_rng(0).normal(size=30)
    for k in (1, 7, 30):
        p = occupations(eigenvalues, k, mu)
        assert p.sum() == pytest.approx(k)
        assert (p >= 0).all()
        assert (p <= 1).all()
        assert (np.diff(p[np.argsort(eigenvalues)]) >= 0).all()


def test_equal_eigenvalues_share():
    np.testing.assert_allclose(occupations(np.ones(4), 2, 1e-6), 0.5)


def test_mu_must_be_positive():
    with pytest.raises(ValueError, match="mu must be positive"):
        soft_relax(np.eye(3), 2, 0.0)


@pytest.mark.parametrize("operator", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_leading_eigenvectors_are_enough_where_mu_is_small(centred, operator):
    K = symmetric(60, 4) + 4.0 * np.kron(np.eye(3), np.ones((20, 20)))
    every = soft_relax(K, 3, 0.2, centred=centred)
    few = soft_relax(aslinearoperator(K) if operator else K, 3, 0.2, centred=centred, n_pairs=12)
    assert few.largest == pytest.approx(every.largest)
    assert few.vectors.shape == (60, 12)
    assert every.smoothed - 1e-3 <= few.smoothed <= every.smoothed + 1e-9
    Z = few.U @ few.U.T
    assert np.trace(Z) == pytest.approx(3.0)
    assert np.linalg.eigvalsh(Z).max() < 1 + 1e-9
    assert np.sum(K * Z) == pytest.approx(few.value, abs=1e-8)
    np.testing.assert_allclose(Z, every.U @ every.U.T, atol=1e-2)


def test_few_eigenvectors_are_no_more_than_all():
    """With a large mu the others count: the value is below, and the answer still a mean of clusterings."""
    K = symmetric(40, 5)
    for mu in (1.0, 10.0):
        few, every = (soft_relax(K, 3, mu, n_pairs=n) for n in (6, None))
        assert few.smoothed <= every.smoothed + 1e-9
        assert few.value <= few.largest + 1e-9


def test_where_nothing_stands_out_all_share():
    found = soft_relax(np.zeros((30, 30)), 3, 0.5, n_pairs=5)
    np.testing.assert_allclose(found.U @ found.U.T, 0.1 * np.eye(30), atol=1e-9)
