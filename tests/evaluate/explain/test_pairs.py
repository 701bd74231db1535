"""Contributions add up to the similarity, whatever the features are."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.estimators.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.evaluate.explain import pair_contributions
from clustruct.papers.toy_marbles import make_marbles


@pytest.fixture(scope="module")
def marbles():
    sets = make_marbles(3, 10, random_state=0)
    X, y = [m.item_set() for m in sets], [m.labels for m in sets]
    return SupervisedCorrelationClustering(C=1.0).fit(X, y), X, y


def with_weights(x, w, names=None):
    """A model with given weights, as one restored from a file is."""
    model = SupervisedCorrelationClustering()
    model.w_, model.n_features_in_ = np.asarray(w, float), x.n_features
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def test_contributions_sum_to_the_similarity(marbles):
    model, X, _ = marbles
    K = model.decision_function(X[0])
    for a, b in ((0, 1), (3, 9), (9, 3)):
        found = pair_contributions(model, X[0], a, b)
        assert found.contributions.sum() == pytest.approx(K[a, b], abs=1e-12)
        assert found.similarity == pytest.approx(K[a, b], abs=1e-12)
        np.testing.assert_allclose(found.weights * found.values, found.contributions)
        assert set(found.names) == set(X[0].feature_names)
        assert np.all(np.diff(np.abs(found.contributions)) <= 0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_node_products_and_listed_pairs(make):
    x = ItemSet(
        nodes=make([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]]), pairs=make([[4.0]]), pair_index=[[0, 1]], n_items=3
    )
    model = with_weights(x, [1.0, -1.0, 0.5])
    assert pair_contributions(model, x, 0, 1).largest(9) == [("feature 0", 3.0), ("feature 2", 2.0)]
    assert pair_contributions(model, x, 0, 2).largest(9) == [("feature 1", -2.0)]


def test_kmeans_and_intercept(marbles):
    _, X, y = marbles
    model = SupervisedKMeans(C=1.0).fit(X, y)
    found = pair_contributions(model, X[0], 0, 1)
    assert found.similarity == pytest.approx(model.decision_function(X[0])[0, 1])
    model.intercept_ = 2.5
    found = pair_contributions(model, X[0], 0, 1)
    assert "intercept" in found.names
    assert found.similarity == pytest.approx(model.decision_function(X[0])[0, 1])


@pytest.mark.parametrize("listed", [False, True])
def test_together_only_through_others(listed):
    """0 - 1 - 2 - 3 in a chain and a bridge over 4: the best path has the strongest weakest link."""
    values = {(0, 1): 3.0, (1, 2): 2.5, (2, 3): 3.0, (0, 3): -1.0, (0, 4): 5.0, (3, 4): 1.0}
    index = list(values)
    x = ItemSet(pairs=[[values[p]] for p in index], pair_index=index, n_items=5)
    if not listed:
        K = x.similarity([1.0])
        x = ItemSet(pairs=K[np.triu_indices(5, 1)][:, None])
    model = with_weights(x, [1.0])
    found = pair_contributions(model, x, 0, 3)
    assert found.together
    assert found.path == (0, 1, 2, 3)
    assert found.path_similarities == (3.0, 2.5, 3.0)
    assert (found.support_a, found.support_b) == (7.0, 3.0)
    assert pair_contributions(model, x, 0, 1).path == ()
    apart = pair_contributions(model, x, 0, 3, labels=[0, 1, 2, 3, 4])
    assert (apart.together, apart.path, apart.support_a) == (False, (), 0.0)
    unconnected = pair_contributions(model, x, 1, 4, labels=[1, 0, 1, 1, 0])
    assert (unconnected.together, unconnected.path) == (True, ())


def test_largest_sums_up_the_rest():
    x = ItemSet(pairs=[[1.0, 2.0, 3.0, 0.0]])
    found = pair_contributions(with_weights(x, [1.0, 1.0, -1.0, 1.0], list("abcd")), x, 1, 0)
    assert found.largest(3) == [("c", -3.0), ("b", 2.0), ("a", 1.0)]
    assert found.largest(2) == [("c", -3.0), ("2 others", 3.0)]


def test_refusals(marbles):
    model, X, y = marbles
    with pytest.raises(ValueError, match="both are item 2"):
        pair_contributions(model, X[0], 2, 2)
    with pytest.raises(ValueError, match="item 10 is not in"):
        pair_contributions(model, X[0], 2, 10)
    with pytest.raises(ValueError, match="the set has 2 features, the model 5"):
        pair_contributions(model, ItemSet(pairs=[[1.0, 2.0]]), 0, 1)
    trees = PairwiseClassifierClustering(HistGradientBoostingClassifier(max_iter=2))
    for other in (DefaultClustering(), trees):
        with pytest.raises(ValueError, match="no weights"):
            pair_contributions(other.fit(X, y), X[0], 0, 1)


def test_pair_classifier_in_the_units_of_the_features(marbles):
    _, X, y = marbles
    model = PairwiseClassifierClustering().fit(X, y)
    found = pair_contributions(model, X[0], 0, 1)
    assert found.similarity == pytest.approx(model.decision_function(X[0])[0, 1])
    assert "intercept" in found.names
    alike = PairwiseClassifierClustering().fit(X, [np.zeros(10, int)] * 3)
    assert pair_contributions(alike, X[0], 0, 1).largest(3) == [("intercept", 1.0)]
