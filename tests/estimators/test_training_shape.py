"""A model knows what it was shown: sizes, pairs and scores of training, and a warning far from them."""

import warnings

import numpy as np
import pytest

from clustruct import ItemSet, Recipe, SupervisedCorrelationClustering, SupervisedKMeans, load, save
from clustruct.core.exceptions import ReliabilityWarning, UnfamiliarDataWarning
from clustruct.data import EqualRows, Grouping, PairScores
from clustruct.data.datasets import make_records, make_synth
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.estimators.training_shape import TrainingShape

LEARNERS = [SupervisedCorrelationClustering(C=1.0), PairwiseClassifierClustering()]


def one_set(m, seed, shift=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(m) // 4
    a, b = np.triu_indices(m, 1)
    same = shift * ((y[a] == y[b]) + 0.1 * rng.normal(size=len(a))) + offset
    return ItemSet(pairs=np.column_stack([same, np.ones(len(a))])), y


@pytest.fixture(scope="module")
def data():
    return [list(part) for part in zip(*[one_set(m, m) for m in (12, 16, 20)], strict=True)]


@pytest.mark.parametrize("model", LEARNERS, ids=["correlation", "pairs"])
def test_what_was_shown_is_kept_and_saved(model, data, tmp_path):
    shown = model.fit(*data).shown_
    assert shown.set_sizes.tolist() == [12.0, 14.0, 16.0, 18.0, 20.0]
    assert shown.cluster_sizes[-1] == 4.0
    assert shown.compared == 1.0
    assert shown.scores[0] < 0.0 < shown.scores[-1]
    save(tmp_path / "m", model)
    held = load(tmp_path / "m").shown_
    np.testing.assert_array_equal(held.scores, shown.scores)
    assert held.near_zero == shown.near_zero


@pytest.mark.parametrize("model", LEARNERS, ids=["correlation", "pairs"])
def test_a_set_far_larger_is_warned_of_once(model, data):
    model.fit(*data)
    model.predict([one_set(60, 0)[0]])  # three times as large is not too large
    with pytest.warns(UnfamiliarDataWarning) as said:
        model.predict([one_set(64, 0)[0], one_set(80, 0)[0]])
    assert len(said) == 1
    assert "80 items is 4.0 times as large" in str(said[0].message)
    assert "learn from sets as large" in str(said[0].message)


@pytest.mark.parametrize("model", LEARNERS, ids=["correlation", "pairs"])
def test_scores_that_crowd_at_zero_are_warned_of(model, data):
    model.fit(*data)
    w, b = model.linear_similarity()
    border = -(w[1] + b) / w[0]
    rng = np.random.default_rng(0)
    a = 16 * 15 // 2
    near = ItemSet(pairs=np.column_stack([border + 0.01 * rng.normal(size=a), np.ones(a)]))
    with pytest.warns(UnfamiliarDataWarning, match="of the similarities are near zero"):
        model.predict([near])
    with pytest.warns(UnfamiliarDataWarning, match="times as large as any in training"):
        model.predict([one_set(16, 0, shift=100.0)[0]])


def test_kmeans_has_no_border_at_zero():
    X, y = make_synth(n_sets=4, n_clusters=3, cluster_size=8)
    model = SupervisedKMeans(C=1.0).fit(X[:3], y[:3])
    assert model.shown_.set_sizes[-1] == 24.0
    model.predict([ItemSet(pairs=1e-6 * X[3].pairs)], n_clusters=3)


def test_listed_pairs_are_a_share():
    x = ItemSet(pairs=np.c_[[1.0, 0.0, 0.1], np.ones(3)], pair_index=[[0, 1], [1, 2], [3, 4]], n_items=5)
    model = SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1, 2, 3]])
    assert model.shown_.compared == pytest.approx(0.3)


def test_a_table_that_was_cut_counts_as_it_was_shown():
    """Parts of a table are no hint of the sizes that come: the table is."""
    table = make_records(n_sets=1, n_people=40, most=3)[0]
    other = make_records(n_sets=1, n_people=40, most=3, random_state=1)[0]
    recipe = Recipe(C=1.0).fit([table])
    assert recipe.pipeline_[-1].shown_.set_sizes[-1] == len(table)
    recipe.predict([other])


def test_models_without_it_predict_as_before(data):
    """Models of earlier files do not know what they were shown."""
    model = SupervisedCorrelationClustering(C=1.0).fit(*data)
    del model.shown_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict([one_set(100, 0)[0]])


def test_groups_that_cannot_be_right_are_told():
    """A chain through sixty rows where two was the most; copies of one row are no chain."""
    shape = TrainingShape.of(
        [ItemSet(pairs=[[2.0], [-1.0], [-3.0]])], [np.array([0, 0, 1])], lambda x, pairs: x.pairs[:, 0]
    )
    with pytest.warns(ReliabilityWarning, match="largest group has 60 different rows, .* learned from 2: "):
        shape.warn_of_groups(60, 0, 100)
    with pytest.warns(ReliabilityWarning, match="60 of 100 items were compared with nothing"):
        shape.warn_of_groups(5, 60, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shape.warn_of_groups(20, 40, 100)


def test_copies_of_a_row_are_one_row_of_a_group():
    x = ItemSet(pairs=np.array([[2.0], [-1.0], [-3.0]]), pair_index=[[0, 1], [0, 2], [1, 2]], n_items=3)
    model = SupervisedCorrelationClustering(C=1.0).fit([x], [np.array([0, 0, 1])])
    m = 80
    labels, sure = np.zeros(m, np.int64), np.zeros(m, np.bool_)
    index = np.column_stack([np.zeros(m - 1, np.int64), np.arange(1, m)])
    scores = PairScores(m, index=index, values=np.ones(m - 1))
    with pytest.warns(ReliabilityWarning, match="80 different rows"):
        model.warn_of_groups([Grouping(labels, sure)], [scores])
    copies = scores.with_equal_rows(EqualRows.of(np.zeros(m, np.int64)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.warn_of_groups([Grouping(labels, sure)], [copies])
