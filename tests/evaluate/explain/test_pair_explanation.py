"""Pairs explained: contributions of features and of fields, linear and by trees."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from clustruct import ItemSet, PairFeatures, Recipe, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.estimators.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.evaluate.explain import (
    by_field,
    counterfactual,
    explain_pair,
    feature_fields,
    field_sizes,
    field_sums,
    item_set_of,
    pair_contributions,
)
from clustruct.features import Numbers, likeness_features
from clustruct.features.similarity import BoostedColumn, ForestColumn, TreeColumn
from clustruct.papers.toy_marbles import make_marbles
from tests.features.similarity.test_maps import toy_sets


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


@pytest.fixture(scope="module")
def fitted() -> tuple[Pipeline, Table]:
    sets = make_records(n_sets=4, n_people=5, random_state=1)
    return Recipe(C=1.0).fit(sets[:3]).pipeline_, sets[3]


def test_fields_add_up_to_the_similarity(fitted: tuple[Pipeline, Table]) -> None:
    pipeline, table = fitted
    why = pair_contributions(pipeline[-1], item_set_of(pipeline, table), 0, 1)
    found = by_field(why, feature_fields(pipeline[0]))
    assert sum(one.contribution for one in found) == pytest.approx(why.similarity)
    for one in found:
        assert sum(c for *_, c in one.features) == pytest.approx(one.contribution)
    assert set(table.fields()) <= {one.field for one in found}


def pairs(labels: np.ndarray, together: bool) -> list[tuple[int, int]]:
    m = len(labels)
    return [(a, b) for a in range(m) for b in range(a + 1, m) if (labels[a] == labels[b]) == together][:4]


@pytest.mark.parametrize("together", [True, False])
def test_a_change_makes_the_prediction_another(fitted: tuple[Pipeline, Table], together: bool) -> None:
    pipeline, table = fitted
    labels = pipeline.predict([table])[0]
    for a, b in pairs(labels, together):
        found = counterfactual(pipeline, table, a, b, labels)
        assert found.together == together
        assert found.changes
        # Made by hand on the two items alone, with what their clusters have besides.
        mates = [i for i in range(len(table)) if labels[i] in (labels[a], labels[b]) and i not in (a, b)]
        items = [dict(table.items[i]) for i in (a, b, *mates)]
        for change in found.changes:
            items[0][change.field], items[1][change.field] = change.values
        again = pipeline.predict([Table(items)])[0]
        assert bool(again[0] == again[1]) != together
        fields = {change.field for change in found.changes}
        assert len(fields) == len(found.changes)


def test_items_that_are_apart_are_joined_by_making_fields_equal_or_missing(
    fitted: tuple[Pipeline, Table],
) -> None:
    pipeline, table = fitted
    labels = pipeline.predict([table])[0]
    a, b = pairs(labels, False)[0]
    kinds = {change.kind for change in counterfactual(pipeline, table, a, b, labels).changes}
    assert kinds <= {"equal", "missing"}


def test_nonnegative_keeps_likeness_from_counting_against_a_pair() -> None:
    sets = make_records(n_sets=4, n_people=5, random_state=1)
    pipeline = Recipe(C=1.0, nonnegative=True).fit(sets[:3]).pipeline_
    names = [str(name) for name in pipeline[0].get_feature_names_out()]
    alike = set(likeness_features(names))
    weights = dict(zip(names, pipeline[-1].w_.tolist(), strict=True))
    assert all(weights[name] >= 0.0 for name in alike)
    assert weights["constant"] < 0.0
    assert pipeline.score(sets[3:], [table.labels for table in sets[3:]]) > 0.8


SETS = make_records(n_sets=5, n_people=5, random_state=1)
KINDS = {"trees": "trees", "forest": ForestColumn(n_trees=20), "boosted": BoostedColumn(n_trees=20)}


@pytest.fixture(scope="module", params=KINDS)
def tree_pipeline(request):
    return Recipe(C=1.0, similarity=KINDS[request.param]).fit(SETS[:4]).pipeline_


def older(pipeline):
    """The model as an older version wrote it: no values of inner nodes."""
    made = pipeline[0].map_
    for kind in (made.forest_, made.boosted_):
        kind.trees_ = [replace(t, value=np.where(t.feature < 0, t.value, 0.0)) for t in kind.trees_]
    return pipeline


def test_contributions_add_up_to_what_clusters_and_name_fields(tree_pipeline):
    table = SETS[4]
    K = tree_pipeline.decision_function([table])[0]
    fields = feature_fields(tree_pipeline[0])
    for a, b in ((0, 1), (6, 2)):
        why = explain_pair(tree_pipeline, table, a, b)
        assert why.contributions.sum() == pytest.approx(K[a, b], abs=1e-9)
        assert why.compared
        assert why.note == ""
        assert np.all(np.diff(np.abs(why.contributions)) <= 0)
        found = by_field(why, fields)
        assert sum(one.contribution for one in found) == pytest.approx(why.similarity)
        assert set(table.fields()) <= {one.field for one in found if one.contribution != 0.0}
        assert "trees" not in why.names
        of_trees = np.isnan(why.weights)
        assert of_trees.any()
        np.testing.assert_allclose((why.weights * why.values)[~of_trees], why.contributions[~of_trees])
        assert "nan" not in why._repr_html_()


def test_pairs_the_other_way_round_are_the_same(tree_pipeline):
    one, other = (explain_pair(tree_pipeline, SETS[4], *pair) for pair in ((3, 0), (0, 3)))
    np.testing.assert_array_equal(one.contributions, other.contributions)


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.UnfamiliarDataWarning")
def test_a_pair_that_is_not_compared_is_explained_as_if_it_were():
    recipe = Recipe(C=1.0, similarity="trees", block=10, n_neighbors=1).fit(SETS[:4])
    table = Table([item for one in SETS for item in one.items])
    x = recipe.pipeline_[0].transform([table])[0]
    listed = {tuple(pair) for pair in x.pair_index.tolist()}
    far = next((0, b) for b in range(1, len(table)) if (0, b) not in listed)
    why = explain_pair(recipe.pipeline_, table, *far)
    assert not why.compared
    two = Table([table.items[i] for i in far])
    assert why.similarity == pytest.approx(recipe.pipeline_.decision_function([two])[0][0, 1], abs=1e-9)
    near = explain_pair(recipe.pipeline_, table, *min(listed))
    assert near.compared
    K = recipe.pipeline_[-1].decision_function([x])[0]
    assert near.similarity == pytest.approx(K[min(listed)], abs=1e-9)


def test_linear_similarities_are_explained_as_before():
    pipeline = Recipe(C=1.0).fit(SETS[:4]).pipeline_
    one = explain_pair(pipeline, SETS[4], 0, 1)
    other = pair_contributions(pipeline[-1], pipeline[0].transform(SETS[4:])[0], 0, 1)
    assert one.names == other.names
    np.testing.assert_array_equal(one.contributions, other.contributions)
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("listed", [False, True])
def test_pipelines_of_item_sets_are_explained_by_their_features(listed):
    sets, labels = toy_sets(5, listed=listed)
    column, model = TreeColumn(n_trees=10), SupervisedCorrelationClustering(1.0)
    pipeline = make_pipeline(column, model).fit(sets, labels)
    why = explain_pair(pipeline, sets[0], 4, 1)
    K = pipeline.decision_function(sets[:1])[0]
    assert why.similarity == pytest.approx(K[4, 1], abs=1e-9)
    assert {"ring", "hint"} < set(why.names)


def test_a_map_after_features_is_explained_by_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60).reshape(5, 12)
    sets = [Table([{"n": float(v)} for v in 3 * row + rng.normal(size=12)], labels=list(row)) for row in y]
    pipeline = make_pipeline(
        PairFeatures([Numbers("n")]), TreeColumn(n_trees=5), SupervisedCorrelationClustering(1.0)
    )
    pipeline.fit(sets, [table.labels for table in sets])
    why = explain_pair(pipeline, sets[0], 0, 1)
    assert why.similarity == pytest.approx(pipeline.decision_function(sets[:1])[0][0, 1], abs=1e-9)
    assert any(name.startswith("n: ") for name in why.names)


def test_a_model_of_an_older_form_says_why_it_tells_no_more():
    pipeline = older(Recipe(C=1.0, similarity="trees").fit(SETS[:4]).pipeline_)
    why = explain_pair(pipeline, SETS[4], 0, 1)
    assert set(why.names) == {"trees", "constant"}
    assert "learn it again" in why.note
    assert why.similarity == pytest.approx(pipeline.decision_function(SETS[4:])[0][0, 1], abs=1e-12)
    fields = {one.field for one in by_field(why, feature_fields(pipeline[0]))}
    assert fields == {"all fields together", "in general"}


def test_fields_of_many_pairs_add_up(tree_pipeline):
    features, w = tree_pipeline[0], tree_pipeline[-1].linear_similarity()[0]
    pairs = features.compared_pairs(SETS[4])
    sums = field_sums(features.terms(SETS[4], pairs, w), feature_fields(features))
    K = tree_pipeline.decision_function(SETS[4:])[0]
    np.testing.assert_allclose(sum(sums.values()), K[pairs[:, 0], pairs[:, 1]], atol=1e-9)


def test_how_much_each_field_counts(tree_pipeline):
    sizes = field_sizes(tree_pipeline, SETS[3:])
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    assert set(SETS[4].fields()) <= set(sizes)
    assert "in general" not in sizes
    assert set(field_sizes(tree_pipeline, SETS[3:], most=4)) == set(sizes)
    alone = field_sizes(tree_pipeline, [SETS[4].take([0]), SETS[4]])
    assert alone == pytest.approx(field_sizes(tree_pipeline, SETS[4:]))


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.LeakWarning")
def test_of_one_field_that_tells_all_that_field_counts():
    """What trees say of pairs comes from one number alone, the other is noise."""
    rng = np.random.default_rng(0)
    sets = []
    for _ in range(6):
        y = rng.integers(0, 5, 14)
        items = [{"n": float(10 * k), "noise": float(rng.normal())} for k in y]
        sets.append(Table(items, labels=list(y)))
    sizes = field_sizes(Recipe(C=1.0, similarity="trees").fit(sets).pipeline_, sets)
    assert sizes["n"] > 5.0 * sizes.get("noise", 0.0)
