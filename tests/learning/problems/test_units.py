"""The scale of features depends on their numbers, not on how they are held."""

import numpy as np
import pytest
from scipy import sparse

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.estimators.baselines import PairKMeans, PairwiseClassifierClustering
from clustruct.learning.problems import feature_scale

MODELS = {
    "correlation": SupervisedCorrelationClustering(C=1.0, rtol=1e-7),
    "kmeans": SupervisedKMeans(C=1.0, rtol=1e-5),
    "pairs": PairwiseClassifierClustering(),
    "pair k-means": PairKMeans(),
}


def tables(share, seed=0):
    """Nodes and pair features of four sets, of which this share is not zero."""
    rng = np.random.default_rng(seed)
    labels = [np.repeat([0, 1, 2], 4)[rng.permutation(12)] for _ in range(4)]
    held = []
    for y in labels:
        nodes = (rng.normal(size=(12, 6)) + y[:, None]) * (rng.random((12, 6)) < share)
        a, b = np.triu_indices(12, 1)
        pairs = ((y[a] == y[b])[:, None] + rng.normal(size=(66, 3))) * (rng.random((66, 3)) < share)
        held.append((nodes, pairs))
    return held, labels


def forms(held):
    """The same numbers: dense, CSR, CSR in the first set only, CSR in all but the first."""
    dense = [ItemSet(nodes=x, pairs=p) for x, p in held]
    csr = [ItemSet(nodes=sparse.csr_array(x), pairs=sparse.csr_array(p)) for x, p in held]
    return {"dense": dense, "csr": csr, "first": [csr[0], *dense[1:]], "others": [dense[0], *csr[1:]]}


@pytest.mark.parametrize("share", [1.0, 0.6, 0.2, 0.05])
@pytest.mark.parametrize("objective", ["correlation", "kmeans"])
def test_the_scale_is_that_of_the_numbers(objective, share):
    held, _ = tables(share)
    scales = [feature_scale(sets, objective) for sets in forms(held).values()]
    for scale in scales[1:]:
        assert np.allclose(scale, scales[0], rtol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_csr_and_dense_train_the_same_model(model, share):
    """DEFECTS 9."""
    held, labels = tables(share)
    fitted = {
        name: model.fit(sets, labels).linear_similarity()[0].copy() for name, sets in forms(held).items()
    }
    for name in ("csr", "first", "others"):
        size = np.abs(fitted["dense"]).max()
        assert np.allclose(fitted[name], fitted["dense"], atol=2e-3 * size), name


@pytest.mark.parametrize("objective", ["correlation", "kmeans"])
@pytest.mark.parametrize("factor", [2.0**-490, 2.0**-300, 2.0**300, 2.0**490])
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_scale_follows_the_features(objective, factor, share):
    """From 1e-147 to 1e147; powers of two lose no digit."""
    held, _ = tables(share)
    plain = feature_scale(forms(held)["dense"], objective)
    for form in ("dense", "csr"):
        nodes = feature_scale(forms([(x * factor, p) for x, p in held])[form], objective)
        pairs = feature_scale(forms([(x, p * factor) for x, p in held])[form], objective)
        if share == 1.0:
            assert np.array_equal(nodes, plain * np.where(np.arange(9) < 6, factor**2, 1.0))
            assert np.array_equal(pairs, plain * np.where(np.arange(9) < 6, 1.0, factor))
        assert (nodes > 0.0).all()
        assert np.isfinite(pairs).all()


def test_a_rare_word_is_not_blown_up():
    """Of a table with few entries all products have one scale; a full table has one for each."""
    held, _ = tables(0.05)
    thin = feature_scale([ItemSet(nodes=x) for x, _ in held])
    assert np.ptp(thin) == 0.0
    full = feature_scale([ItemSet(nodes=x) for x, _ in tables(1.0)[0]])
    assert len(set(full.tolist())) == 6
