"""The pair classifier on sets that list their pairs: all others are apart."""

import numpy as np
import pytest
from scipy import sparse

from clustruct import ItemSet
from clustruct.estimators.baselines import PairwiseClassifierClustering


def item_set(listed, seed=0):
    """Twelve items of three clusters; pairs apart are listed now and then."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 4)
    a, b = np.triu_indices(12, 1)
    values = np.column_stack([(y[a] == y[b]) + 0.2 * rng.normal(size=len(a)), np.ones(len(a))])
    if not listed:
        return ItemSet(pairs=values), y
    kept = (y[a] == y[b]) | (rng.random(len(a)) < 0.3)
    return ItemSet(pairs=values[kept], pair_index=np.column_stack([a, b])[kept], n_items=12), y


@pytest.mark.parametrize("predictor", ["greedy", "local_search", "components", "nearest_mate"])
def test_listed_pairs_give_a_sparse_graph(predictor):
    (x, y), (new, truth) = item_set(True), item_set(True, seed=1)
    model = PairwiseClassifierClustering(predictor=predictor).fit([x], [y])
    K = model.decision_function([new])[0]
    assert sparse.issparse(K)
    assert K.nnz == 2 * len(new.pair_index)
    assert model.set_losses([new], [truth])[0] == 0.0


def test_all_pairs_listed_is_the_same_as_none_listed():
    x, y = item_set(False)
    listed = ItemSet(pairs=x.pairs, pair_index=np.column_stack(np.triu_indices(12, 1)), n_items=12)
    dense = PairwiseClassifierClustering().fit([x], [y])
    thin = PairwiseClassifierClustering().fit([listed], [y])
    np.testing.assert_allclose(thin.decision_function([listed])[0].toarray(), dense.decision_function([x])[0])


def test_one_item_is_one_cluster():
    x, y = item_set(True)
    model = PairwiseClassifierClustering().fit([x], [y])
    lone = ItemSet(pairs=np.zeros((0, 2)), pair_index=np.zeros((0, 2), np.int64), n_items=1)
    assert model.predict([lone])[0].tolist() == [0]
    assert model.predict([ItemSet(pairs=np.zeros((0, 2)), n_items=1)])[0].tolist() == [0]
