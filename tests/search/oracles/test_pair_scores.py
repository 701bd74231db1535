"""Scores of pairs and coefficients of pairs: two forms of one thing, adjoint to each other."""

import numpy as np
import pytest
from scipy import sparse

from clustruct import ItemSet
from clustruct.data import PairScores
from clustruct.search.oracles import make_oracle
from clustruct.search.oracles.base import PairCoefficients


def listed_set(m=6, seed=0):
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(m, 1))
    index = every[rng.random(len(every)) < 0.5]
    return ItemSet(pairs=rng.normal(size=(len(index), 3)), pair_index=index, n_items=m), rng.normal(size=3)


def test_a_set_that_lists_its_pairs_has_listed_scores():
    x, w = listed_set()
    scores = make_oracle("greedy").scores(x, w, 2.0)
    assert x.is_sparse
    assert scores.matrix is None
    K = scores.graph().toarray()
    np.testing.assert_allclose(K + K.T, 2.0 * x.similarity(w), atol=1e-12)
    dense = ItemSet(nodes=np.eye(3), pairs=np.ones((1, 1)), pair_index=[[0, 1]])
    assert not dense.is_sparse
    assert make_oracle("greedy").scores(dense, np.ones(4)).matrix.shape == (3, 3)


def test_scores_of_a_graph_in_either_form():
    x, w = listed_set()
    K = x.similarity(w, sparse=True)
    for given in (K, sparse.triu(K), sparse.tril(K)):
        np.testing.assert_allclose(PairScores.from_matrix(given).graph().toarray(), np.triu(K.toarray()))
    with pytest.raises(ValueError, match="not symmetric"):
        PairScores.from_matrix(sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(ValueError, match="square"):
        PairScores.from_matrix(sparse.csr_array(np.ones((2, 3))))


def test_adding_coefficients_and_listing_all_pairs():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(5, 5))
    scores, c = PairScores.from_matrix(K + K.T), rng.normal(size=10)
    a, b = np.triu_indices(5, 1)
    np.testing.assert_array_equal(scores.plus(c).matrix[a, b], scores.matrix[a, b] + c)
    np.testing.assert_array_equal(scores.list_pairs().plus(c).values, scores.plus(c).matrix[a, b])


def test_coefficients_are_adjoint_to_scores():
    """<w, Psi> is the sum of coefficients times scores, in all three forms."""
    rng = np.random.default_rng(1)
    x, w = ItemSet(rng.normal(size=(5, 2)), rng.normal(size=(10, 3))), rng.normal(size=5)
    K, y = x.similarity(w), np.array([0, 1, 0, 2, 1])
    upper = np.triu(np.ones((5, 5)), 1).astype(bool)
    together = np.equal.outer(y, y)
    assert PairCoefficients(labels=y).joint_feature(x) @ w == pytest.approx(K[upper & together].sum())
    e = rng.random(10)
    assert PairCoefficients(degrees=e).joint_feature(x) @ w == pytest.approx(K[np.triu_indices(5, 1)] @ e)
    Y = rng.normal(size=(5, 2))
    assert PairCoefficients(factor=Y).joint_feature(x) @ w == pytest.approx(np.sum(K * (Y @ Y.T)))
