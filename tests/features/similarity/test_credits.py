"""What each feature adds to what trees say: it adds up, and is nothing where no tree looks at the feature."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

from clustruct import ItemSet
from clustruct.core.storage import load, save
from clustruct.features.similarity import (
    BoostedColumn,
    ForestColumn,
    NystroemMap,
    SimilarityTerms,
    TreeColumn,
)
from clustruct.features.similarity.plain_trees import Trees
from clustruct.features.similarity.trees import CLIPPED
from tests.reference import trees as slow

N_FEATURES, UNUSED = 4, 2


def random_trees(seed, averaged, n_trees=5, n_splits=6):
    """Trees that grow at random leaves, over all features but one, without means."""
    rng = np.random.default_rng(seed)
    used = [j for j in range(N_FEATURES) if j != UNUSED]
    parts, roots, done = [], [], 0
    for _ in range(n_trees):
        nodes = [[-1, 0.0, 0, 0, rng.random() if averaged else rng.normal()]]
        for _ in range(int(rng.integers(0, n_splits + 1))):
            leaf = rng.choice([k for k, node in enumerate(nodes) if node[0] < 0])
            nodes[leaf] = [rng.choice(used), rng.normal(), done + len(nodes), done + len(nodes) + 1, 0.0]
            nodes += [[-1, 0.0, 0, 0, rng.random() if averaged else rng.normal()] for _ in range(2)]
        roots.append(done)
        done += len(nodes)
        parts += nodes
    feature, threshold, left, right, value = (np.array(column) for column in zip(*parts, strict=True))
    made = Trees(0.7, np.array(roots), feature, threshold, left, right, value.astype(float), averaged)
    made.check(N_FEATURES)
    return made


def single(rng, *shape):
    """Numbers that are the same in single precision, at which forests look."""
    return rng.normal(size=shape).astype(np.float32).astype(np.float64)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), averaged=st.booleans())
def test_credits_are_those_of_the_twin_and_add_up(seed, averaged):
    rng = np.random.default_rng(seed)
    rows, weight = single(rng, 30, N_FEATURES), rng.choice([0.5, 1.0, 3.0], 30)
    plain = random_trees(seed, averaged)
    trees = plain.with_means(rows, weight)
    means = slow.node_means(plain, rows, weight)
    reached = np.isin(
        np.arange(len(means)), [n for row in rows for r in plain.roots for n in slow.path(plain, r, row)]
    )
    np.testing.assert_allclose(trees.value[reached], means[reached], atol=1e-12)
    assert trees.has_means
    np.testing.assert_array_equal(trees.logits(rows), plain.logits(rows))
    new = single(rng, 20, N_FEATURES)
    base, found = trees.credits(new)
    for row, own in zip(new, found, strict=True):
        expected, each = slow.credits(trees, row)
        assert base == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(own, each, atol=1e-7)  # the twin's ratio of small steps is rough
    np.testing.assert_allclose(base + found.sum(axis=1), trees.logits(new), atol=1e-10)
    assert (found[:, UNUSED] == 0.0).all()


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), averaged=st.booleans())
def test_features_in_another_order_have_the_same_credits(seed, averaged):
    rng = np.random.default_rng(seed)
    rows = single(rng, 20, N_FEATURES)
    trees = random_trees(seed, averaged).with_means(rows, np.ones(20))
    order = rng.permutation(N_FEATURES)
    place = np.argsort(order)
    moved = replace(trees, feature=np.where(trees.feature < 0, -1, place[trees.feature]))
    base, found = trees.credits(rows)
    again, same = moved.credits(np.ascontiguousarray(rows[:, order]))
    assert base == again
    np.testing.assert_allclose(same, found[:, order], atol=1e-12)


def test_means_of_a_forest_are_the_shares_that_it_has_itself():
    rng = np.random.default_rng(0)
    X, weight = single(rng, 300, 4), rng.choice([0.5, 1.0], 300)
    y = (X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 1)
    made = ExtraTreesClassifier(20, min_samples_leaf=2, random_state=0).fit(X, y, sample_weight=weight)
    shares = np.concatenate([one.tree_.value[:, 0, 1] for one in made.estimators_])
    np.testing.assert_allclose(Trees.of(made).with_means(X, weight).value, shares, atol=1e-12)


def test_the_base_of_boosted_trees_is_their_mean_over_what_they_learned_from():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 4)), rng.choice([0.5, 1.0], 300)
    made = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5).fit(
        X, X[:, 0] * X[:, 1] > 0, weight
    )
    base, found = Trees.of(made).with_means(X, weight).credits(X)
    assert base == pytest.approx(np.average(made.decision_function(X), weights=weight), abs=1e-10)
    np.testing.assert_allclose(np.average(found, axis=0, weights=weight).sum(), 0.0, atol=1e-10)


def learned(column, n=5, m=14, seed=0):
    """A column learned from sets of which the last feature is 1 for all pairs, and new rows."""
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for _ in range(n):
        y = rng.integers(0, 4, m)
        a, b = np.triu_indices(m, 1)
        rows = rng.normal(size=(len(a), N_FEATURES)) + 2.0 * (y[a] == y[b])[:, None]
        rows[:, -1] = 1.0
        sets.append(ItemSet(pairs=rows))
        labels.append(y)
    return column.fit(sets, labels), rng.normal(size=(50, N_FEATURES))


NAMES = ["a", "b", "c", "constant"]


@pytest.mark.parametrize("kind", [TreeColumn, ForestColumn, BoostedColumn, NystroemMap])
def test_terms_add_up_to_the_similarity(kind):
    column, rows = learned(kind())
    w = np.random.default_rng(1).normal(size=len(column.all_names(NAMES)))
    terms = column.terms(rows, NAMES, w)
    np.testing.assert_allclose(terms.contributions.sum(axis=1), column.values(rows) @ w, atol=1e-9)
    assert terms.values.shape == terms.contributions.shape == (50, len(terms.names))
    weighed = ~np.isnan(terms.weights)
    np.testing.assert_allclose((terms.values * terms.weights)[:, weighed], terms.contributions[:, weighed])
    assert column.terms(rows[:0], NAMES, w).contributions.shape == (0, len(terms.names))
    assert len(set(terms.names)) == len(terms.names)


def test_terms_of_trees_are_named_as_features_are():
    column, rows = learned(TreeColumn(n_trees=10))
    terms = column.terms(rows, NAMES, np.array([2.0, -1.0]))
    assert terms.names == (*NAMES, "any pair")
    assert (terms.contributions[:, 3] == 0.0).all()  # no tree splits a constant
    assert np.ptp(terms.contributions[:, 4]) == 0.0
    np.testing.assert_array_equal(terms.values[:, :4], rows)
    beside, rows = learned(ForestColumn(n_trees=10))
    terms = beside.terms(rows, NAMES, np.arange(5.0))
    assert terms.names == (*NAMES, *(f"{name} (trees)" for name in NAMES), "any pair")


def test_a_clipped_column_is_divided_in_proportion():
    column, rows = learned(BoostedColumn(n_trees=10))
    free, before = column.credits(rows)
    certain = [replace(t, value=40.0 * t.value, baseline=40.0 * t.baseline) for t in column.trees_]
    column.trees_ = certain
    base, found = column.credits(rows)
    made = column.columns(rows)[:, 0]
    assert (np.abs(made) == CLIPPED).any()
    np.testing.assert_allclose(base + found.sum(axis=1), made, atol=1e-9)
    much = np.abs(before.sum(axis=1)) > 1e-3
    share = before / before.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[much], (share * found.sum(axis=1, keepdims=True))[much], atol=1e-6)
    assert abs(40.0 * free) > abs(base) or base == pytest.approx(40.0 * free)


@pytest.mark.parametrize("kind", [TreeColumn, ForestColumn])
def test_files_of_the_older_form_predict_the_same_and_say_why_they_tell_no_more(kind, tmp_path):
    column, rows = learned(kind(n_trees=10))
    made = column.columns(rows)
    for one in (column.forest_, column.boosted_) if kind is TreeColumn else (column,):
        one.trees_ = [replace(t, value=np.where(t.feature < 0, t.value, 0.0)) for t in one.trees_]
    save(tmp_path / "old", column)
    old = load(tmp_path / "old")
    np.testing.assert_array_equal(old.columns(rows), made)
    w = np.ones(len(old.all_names(NAMES)))
    terms = old.terms(rows, NAMES, w)
    assert terms.names == tuple(old.all_names(NAMES))
    assert "learn it again" in terms.note
    assert not old.by_feature
    np.testing.assert_allclose(terms.contributions.sum(axis=1), old.values(rows) @ w, atol=1e-12)


def test_a_file_keeps_what_explanations_need(tmp_path):
    column, rows = learned(TreeColumn(n_trees=10))
    save(tmp_path / "new", column)
    again, w = load(tmp_path / "new"), np.array([1.5, -2.0])
    np.testing.assert_array_equal(
        again.terms(rows, NAMES, w).contributions, column.terms(rows, NAMES, w).contributions
    )
    assert again.by_feature


def test_terms_beside_others():
    one = SimilarityTerms.linear(np.array([[2.0]]), ["x"], np.array([3.0]))
    both = one.beside(SimilarityTerms.of_credits(np.array([[5.0]]), ["y"], 2.0, -1.0, np.array([[0.5]])))
    assert both.names == ("x", "y", "any pair")
    np.testing.assert_array_equal(both.contributions, [[6.0, 1.0, -2.0]])
    np.testing.assert_array_equal(both.values, [[2.0, 5.0, 1.0]])
