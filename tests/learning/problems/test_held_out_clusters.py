"""Clusters held out inside their sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustruct import ItemSet
from clustruct.learning.problems import HeldOutClusters, SimilarityTask
from clustruct.learning.problems.fold_losses import count_pairs
from clustruct.losses import PairwiseLoss
from clustruct.search.oracles import make_oracle, make_predictor
from tests.reference.partial import touching_counts


@given(st.integers(0, 10_000), st.booleans())
def test_counts_are_those_of_pairs_one_by_one(seed, unknown_apart):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    clusters, y = rng.integers(-1, 4, m), rng.integers(0, 4, m)
    clusters[0] = 3
    held_out = [0, 3]
    found = count_pairs(clusters, y, held_out, unknown_apart)
    for row, c in zip(found.tolist(), held_out, strict=True):
        assert row == touching_counts(clusters, y, c, unknown_apart)


def task(unlabelled="apart"):
    rng = np.random.default_rng(0)
    labels = [np.array([0, 0, 1, 1, -1, 2]), np.array([0, 1, 1, -1])]
    sets = []
    for y in labels:
        a, b = np.triu_indices(len(y), 1)
        same = (y[a] == y[b]) & (y[a] >= 0)
        pairs = np.column_stack([same + 0.3 * rng.normal(size=len(a)), np.ones(len(a))])
        sets.append(ItemSet(pairs=pairs, pair_index=np.column_stack([a, b]), n_items=len(y)))
    options = {"formulation": "n_slack", "scaling": "margin", "slack_norm": 1, "rtol": 1e-4, "max_iter": 100}
    oracle, predictor = make_oracle("greedy"), make_predictor("local_search", "correlation")
    return SimilarityTask(sets, labels, PairwiseLoss(), oracle, predictor, options, unlabelled=unlabelled)


def test_clusters_are_numbered_through_the_sets():
    clusters = HeldOutClusters(task())
    assert [c.tolist() for c in clusters.clusters] == [[0, 0, 1, 1, -1, 2], [3, 4, 4, -1]]
    assert clusters.n_clusters == 5
    assert clusters.sizes.tolist() == [2, 2, 1, 1, 2]


@pytest.mark.parametrize("unlabelled", ["apart", "unknown"])
def test_held_out_items_are_not_there_in_training(unlabelled):
    """Training on some clusters is the training of a task without the items of the others: their wrong pairs
    are not learned from, by which the training is judged later.
    """
    whole = task(unlabelled)
    found = HeldOutClusters(whole).train(10.0, np.array([0, 1, 4]), None)
    shown = task(unlabelled)
    shown.sets = [shown.sets[0].subset(np.arange(5)), shown.sets[1].subset(np.arange(1, 4))]
    shown.labels = [np.array([0, 0, 1, 1, -1]), np.array([0, 0, -1])]
    np.testing.assert_allclose(found.result.w, shown.train(10.0).result.w)


def test_pairs_of_held_out_items_do_not_move_the_weights():
    found = []
    for factor in (1.0, -7.0):
        one = task()
        sets = []
        for x, held_out in zip(one.sets, ([5], [0]), strict=True):
            touching = np.isin(x.index, held_out).any(axis=1)
            pairs = np.where(touching[:, None], factor, 1.0) * x.pairs
            sets.append(ItemSet(pairs=pairs, pair_index=x.index, n_items=x.n_items))
        one.sets = sets
        found.append(HeldOutClusters(one).train(10.0, np.array([0, 1, 4]), None).result.w)
    np.testing.assert_allclose(found[0], found[1])


def test_a_set_without_a_chosen_cluster_is_left_out():
    one = task()
    found = HeldOutClusters(one).train(10.0, np.array([0, 2]), None)
    alone = task()
    alone.sets, alone.labels = [alone.sets[0].subset([0, 1, 4, 5])], [np.array([0, 0, -1, 1])]
    np.testing.assert_allclose(found.result.w, alone.train(10.0).result.w)


@pytest.mark.parametrize("unlabelled", ["apart", "unknown"])
def test_held_out_clusters_are_judged(unlabelled):
    clusters = HeldOutClusters(task(unlabelled))
    trained = clusters.train(10.0, np.array([0, 1]), None)
    for judged in clusters.judge(trained, [2, 3, 4]):
        both, found, true = judged.pairs
        assert judged.loss == pytest.approx(found + true - 2 * both)
        assert both <= min(found, true)
