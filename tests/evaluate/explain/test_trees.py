"""Why two items are together where trees took the place of the features: fields are named, and add up."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Recipe, SupervisedCorrelationClustering
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.evaluate.explain import (
    by_field,
    explain_pair,
    feature_fields,
    field_sizes,
    field_sums,
    pair_contributions,
)
from clustruct.features import Numbers
from clustruct.features.similarity import BoostedColumn, ForestColumn, TreeColumn
from tests.features.similarity.test_maps import toy_sets

SETS = make_records(n_sets=5, n_people=5, random_state=1)
KINDS = {"trees": "trees", "forest": ForestColumn(n_trees=20), "boosted": BoostedColumn(n_trees=20)}


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    return Recipe(C=1.0, similarity=KINDS[request.param]).fit(SETS[:4]).pipeline_


def older(pipeline):
    """The model as an older version wrote it: no values of inner nodes."""
    made = pipeline[0].map_
    for kind in (made.forest_, made.boosted_):
        kind.trees_ = [replace(t, value=np.where(t.feature < 0, t.value, 0.0)) for t in kind.trees_]
    return pipeline


def test_contributions_add_up_to_what_clusters_and_name_fields(fitted):
    table = SETS[4]
    K = fitted.decision_function([table])[0]
    fields = feature_fields(fitted[0])
    for a, b in ((0, 1), (6, 2)):
        why = explain_pair(fitted, table, a, b)
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


def test_pairs_the_other_way_round_are_the_same(fitted):
    one, other = (explain_pair(fitted, SETS[4], *pair) for pair in ((3, 0), (0, 3)))
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


def test_fields_of_many_pairs_add_up(fitted):
    features, w = fitted[0], fitted[-1].linear_similarity()[0]
    pairs = features.compared_pairs(SETS[4])
    sums = field_sums(features.terms(SETS[4], pairs, w), feature_fields(features))
    K = fitted.decision_function(SETS[4:])[0]
    np.testing.assert_allclose(sum(sums.values()), K[pairs[:, 0], pairs[:, 1]], atol=1e-9)


def test_how_much_each_field_counts(fitted):
    sizes = field_sizes(fitted, SETS[3:])
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    assert set(SETS[4].fields()) <= set(sizes)
    assert "in general" not in sizes
    assert set(field_sizes(fitted, SETS[3:], most=4)) == set(sizes)
    alone = field_sizes(fitted, [SETS[4].take([0]), SETS[4]])
    assert alone == pytest.approx(field_sizes(fitted, SETS[4:]))


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
