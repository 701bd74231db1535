"""Universum sources: what they promise about their rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from clustruct.papers.universum import outside_documents


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, n_features=3, centers=3, random_state=0)


def test_rest_takes_what_is_no_target(blobs):
    X, y = blobs
    np.testing.assert_array_equal(outside_documents.rest(X, y, [0, 1]), X[y == 2])
    thin = outside_documents.rest(sparse.csr_array(X), y.astype(str), ["0", "1"])
    np.testing.assert_array_equal(thin.toarray(), X[y == 2])
    with pytest.raises(ValueError, match="200 rows need as many categories"):
        outside_documents.rest(X, y[:5], [0])


def test_random_box_stays_within_the_ranges_and_fills_them(blobs):
    X, _ = blobs
    for given in (X, sparse.csr_array(X)):
        U = outside_documents.random_box(given, 2000, random_state=0)
        assert U.shape == (2000, 3)
        assert (X.min(axis=0) <= U).all()
        assert (X.max(axis=0) >= U).all()
        filled = (U.max(axis=0) - U.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
        assert (filled > 0.98).all()
    np.testing.assert_array_equal(U, outside_documents.random_box(X, 2000, random_state=0))


def test_mean_of_centres(blobs):
    X, _ = blobs
    centres = KMeans(3, n_init=5, random_state=0).fit(X).cluster_centers_
    expected = {tuple(np.round((centres[a] + centres[b]) / 2, 6)) for a in range(3) for b in range(a)}
    for given in (X, sparse.csr_array(X)):
        found = outside_documents.mean_of_centres(given, 3, random_state=0)
        assert {tuple(np.round(row, 6)) for row in found} == expected
    assert outside_documents.mean_of_centres(X, 5, random_state=0).shape == (10, 3)


def test_selection_takes_the_nearest_tenth(blobs):
    X, _ = blobs
    rng = np.random.default_rng(0)
    near, far = X[:30] + 0.1 * rng.normal(size=(30, 3)), 50.0 + rng.normal(size=(270, 3))
    found = outside_documents.select_by_mixture(X, np.concatenate([far, near]), 3, random_state=0)
    assert found.covariance == "full"
    assert found.rows.shape == (30, 3)
    assert (found.numbers >= 270).all()
    tiny = 1e-6 * np.concatenate([far, near])
    units = outside_documents.select_by_mixture(1e-6 * X, tiny, 3, random_state=0)
    np.testing.assert_array_equal(units.numbers, found.numbers)


def test_size_of_the_selection_is_that_of_the_paper(blobs):
    """Table 2: 3774 candidates give 378 (377 of them is a tenth, rounded; 467 of 4670)."""
    X, _ = blobs
    candidates = np.random.default_rng(0).normal(size=(4670, 3))
    assert len(outside_documents.select_by_mixture(X, candidates, 3, covariance="diag").rows) == 467
    assert len(outside_documents.select_by_mixture(X, candidates[:3], 3, covariance="diag").rows) == 1


def test_selection_between_clusters_takes_the_least_gaps(blobs):
    X, _ = blobs
    W = np.random.default_rng(0).normal(size=(3, 3))
    scores = np.sort(X @ W.T, axis=1)
    gaps = scores[:, 2] - scores[:, 1]
    for given in (X, sparse.csr_array(X)):
        found = outside_documents.select_between(W, given, share=0.25)
        assert len(found.numbers) == found.rows.shape[0] == 50
        assert gaps[found.numbers].max() <= np.delete(gaps, found.numbers).min()
    with pytest.raises(ValueError, match="share must lie in"):
        outside_documents.select_between(W, X, share=2.0)


def test_covariance_that_the_data_allow():
    assert outside_documents.possible_covariance(16_060, 50, 4) == "full"
    assert outside_documents.possible_covariance(16_060, 100, 4) == "tied"
    assert outside_documents.possible_covariance(16_060, 200, 4) == "diag"


def test_bad_arguments(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match=r"share must lie in \(0, 1\]"):
        outside_documents.select_by_mixture(X, X, 3, share=0.0)
    with pytest.raises(ValueError, match="candidates have 2 features, X has 3"):
        outside_documents.select_by_mixture(X, X[:, :2], 3)
    with pytest.raises(TypeError, match="dense data is required"):
        outside_documents.select_by_mixture(sparse.csr_array(X), X, 3)
