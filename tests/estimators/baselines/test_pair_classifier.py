"""DEFECTS 22: features of any size end in an answer, or in a refusal that names them."""

import numpy as np
import pytest

from clustruct import ItemSet
from clustruct.estimators.baselines import PairKMeans, PairwiseClassifierClustering

MODELS = [PairwiseClassifierClustering(), PairKMeans(n_clusters=4)]


def one_set(scale):
    rng = np.random.default_rng(0)
    y = np.arange(12) // 3
    a, b = np.triu_indices(12, 1)
    same = (y[a] == y[b]) + 0.1 * rng.normal(size=len(a))
    return ItemSet(pairs=scale * np.column_stack([same, np.ones(len(a))])), y


@pytest.mark.parametrize("model", MODELS, ids=["correlation", "kmeans"])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_pair_features_of_any_size(model, scale):
    x, y = one_set(scale)
    assert model.fit([x], [y]).predict([x])[0].tolist() == y.tolist()


@pytest.mark.parametrize("model", MODELS, ids=["correlation", "kmeans"])
@pytest.mark.parametrize("scale", [1e80, 1e100, 1e140])
def test_large_nodes_are_as_good_as_small_ones(model, scale):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), [np.arange(12) // 3]
    w, _ = model.fit([X], y).linear_similarity()
    large, _ = model.fit([scale * X], y).linear_similarity()
    assert np.allclose(large * scale * scale, w, rtol=1e-3, atol=1e-3 * np.abs(w).max())


@pytest.mark.parametrize("model", MODELS, ids=["correlation", "kmeans"])
@pytest.mark.parametrize("scale", [1e160, 1e300])
def test_nodes_whose_products_are_out_of_reach(model, scale):
    """They are refused by name; liblinear would never return from them."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(ValueError, match="too large for double precision"):
        model.fit([scale * X], [np.arange(12) // 3])
