"""Batch k-means and normalised cuts: never above brute force, at it where clusters stand apart, refused where
K is no kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.search import kernel_kmeans
from clustruct.search.kernel_kmeans import batch, normalised_cut, points_of
from tests.reference.kmeans import (
    best_normalised_cut,
    best_partition,
    lloyd_moves,
    normalised_cut_value,
    trace_value,
)


def kernel(m, seed, shift=0.0):
    F = np.random.default_rng(seed).normal(size=(m, 3)) + shift
    return F @ F.T


@settings(max_examples=25, deadline=None)
@given(m=st.integers(2, 7), k=st.integers(1, 3), seed=st.integers(0, 1000))
def test_batch_ends_where_no_pass_moves_an_item(m, k, seed):
    k = min(k, m)
    K = kernel(m, seed)
    found = batch(K, k, n_init=2, random_state=seed)
    assert found.max() + 1 == k
    assert trace_value(K, found) <= best_partition(K, k)[1] + 1e-9
    np.testing.assert_array_equal(lloyd_moves(K, found), found)


@settings(max_examples=25, deadline=None)
@given(m=st.integers(2, 7), k=st.integers(1, 3), seed=st.integers(0, 1000))
def test_cuts_are_never_above_the_best(m, k, seed):
    k = min(k, m)
    K = np.abs(kernel(m, seed)) + 0.1
    found = normalised_cut(K, k)
    assert found.max() + 1 == k
    assert normalised_cut_value(K, found) <= best_normalised_cut(K, k)[1] + 1e-9


@pytest.mark.parametrize("search", [batch, normalised_cut])
def test_clusters_that_stand_apart_are_found_in_any_order(search):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [5, 9, 16])
    F = np.eye(3)[truth] + 0.1 * rng.random((30, 3))
    for order in (np.arange(30), rng.permutation(30)):
        found = search(F[order] @ F[order].T, 3)
        np.testing.assert_array_equal(found, kernel_kmeans.canonical_labels(truth[order]))


def test_points_have_these_products():
    K = kernel(6, 3)
    F = points_of(K)
    assert F.shape == (6, 3)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)


def test_equal_items_still_make_k_clusters():
    for search in (batch, normalised_cut):
        assert search(np.ones((4, 4)), 3).max() == 2


def test_similarities_that_are_no_kernels_are_refused():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"semidefinite.*the eigenvalue -1 beside 1; learn with kernel_"):
        batch(K, 1)
    with pytest.raises(ValueError, match="an item has the similarity -1 with itself"):
        batch(-np.eye(3), 2)
    with pytest.raises(ValueError, match="an item has the degree -1"):
        normalised_cut(np.array([[1.0, -2.0], [-2.0, 1.0]]), 2)
