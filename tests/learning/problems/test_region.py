"""The region of what is known is the problem on the whole set, with less to do; the rest is completed."""

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.exceptions import NotEnoughMemory
from clustruct.data import Evidence, all_pairs
from clustruct.learning.problems import ClusteringProblem, Region, Units, training
from clustruct.losses.slack_rule import SlackRule
from tests.reference import partial
from tests.reference.partitions import all_partitions


def partly_labelled(seed, listed=True, m=6):
    rng = np.random.default_rng(seed)
    labels = np.array([0, 0, 1, -1, -1, -1, 1][:m])
    rng.shuffle(labels)
    index = all_pairs(m)
    if listed:
        index = index[rng.random(len(index)) < 0.6]
    pairs = rng.normal(size=(len(index), 3))
    kept = {"pair_index": index} if listed else {}
    return ItemSet(pairs=pairs, n_items=m, **kept), labels


def region_of(x, labels, **options):
    return Region.of(x, Evidence.of_labels(labels), **options)


def problem_of(x, labels, loss):
    region = region_of(x, labels)
    units = Units.of_means([region.x], "correlation")
    known = None if region.is_complete else region.known_items
    return region, ClusteringProblem(
        [region.x],
        [region.labels],
        loss,
        "exact" if loss == "pairwise" else "greedy",
        units=units,
        known=[known],
    )


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_largest_violation_is_that_of_the_whole_set(seed, listed):
    x, labels = partly_labelled(seed, listed)
    w = np.random.default_rng(100 + seed).normal(size=3)
    K, index = x.similarity(w), all_pairs(6) if x.pair_index is None else x.pair_index
    _, problem = problem_of(x, labels, "pairwise")
    y = problem.separate(0, w, SlackRule())
    psi = problem.joint_feature(0, y) - problem.joint_feature(0, problem.truth(0))
    wanted = max(partial.violation(K, labels, index, z) for z in all_partitions(6))
    assert problem.loss(0, y) + w @ psi == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("loss", ["pairwise", "pairwise_f"])
def test_every_partition_is_worth_the_same(seed, loss):
    x, labels = partly_labelled(seed)
    region, problem = problem_of(x, labels, loss)
    outside = np.setdiff1d(np.arange(6), region.items)
    w = np.random.default_rng(seed).normal(size=3)
    K = x.similarity(w)
    for z in map(np.array, all_partitions(6)):
        if any((z[a] == np.delete(z, a)).any() for a in outside):
            continue  # nothing is said of strangers: no search puts them together
        y = np.unique(z[region.items], return_inverse=True)[1]
        psi = problem.joint_feature(0, y) - problem.joint_feature(0, problem.truth(0))
        if loss == "pairwise":
            wanted = partial.violation(K, labels, x.pair_index, z)
            assert problem.loss(0, y) + w @ psi == pytest.approx(wanted)
        else:
            assert problem.loss(0, y) == pytest.approx(0.01 * partial.pairwise_f(labels, z, x.pair_index))


def test_the_region_has_what_touches_a_label_and_nothing_else():
    index = [[0, 1], [1, 2], [2, 3], [3, 4]]
    x = ItemSet(pairs=[[1.0], [2.0], [3.0], [4.0]], pair_index=index, n_items=6, ids=list("abcdef"))
    region = region_of(x, np.array([-1, 7, -1, -1, -1, -1]))
    assert region.items.tolist() == [0, 1, 2]
    assert region.x.ids == ("a", "b", "c")
    assert region.x.pairs.ravel().tolist() == [1.0, 2.0]
    assert region.labels.tolist() == [0, 1, 2]
    assert region.known_items.tolist() == [False, True, False]
    assert not region.is_complete


def test_a_set_with_all_labels_is_its_own_region():
    x, _ = partly_labelled(0)
    region = region_of(x, np.arange(6))
    assert region.x is x
    assert region.is_complete


@pytest.mark.parametrize("held", ["nodes", "sparse nodes", "nodes and pairs"])
def test_sets_without_a_list_get_one(held):
    from scipy import sparse

    rng = np.random.default_rng(0)
    nodes = rng.normal(size=(5, 2))
    given = {"nodes": sparse.csr_array(nodes) if held == "sparse nodes" else nodes}
    if held == "nodes and pairs":
        given["pairs"] = rng.normal(size=(10, 2))
    x = ItemSet(**given)
    region = region_of(x, np.array([-1, 0, -1, 0, 1]))
    assert len(region.x.index) == 10 - 1
    w = rng.normal(size=x.n_features)
    a, b = region.items[region.x.index].T
    assert np.allclose(region.x.pairs @ w, x.similarity(w)[a, b])


def test_memory_is_looked_at_before_a_list_is_made():
    x = ItemSet(nodes=np.ones((200, 3)))
    with pytest.raises(NotEnoughMemory, match="touch a labelled item"):
        region_of(x, np.where(np.arange(200) < 100, 0, -1), memory_limit="10K")


@pytest.mark.parametrize("seed", range(10))
def test_the_completion_is_the_best_of_all_that_keep_the_labels(seed):
    x, labels = partly_labelled(seed)
    region = region_of(x, labels)
    w = np.random.default_rng(seed).normal(size=3)
    K, known = region.x.similarity(w), np.flatnonzero(region.known_items)
    upper = np.triu_indices(len(K), 1)

    def score(z):
        return float((K[upper] * (z[upper[0]] == z[upper[1]])).sum())

    truth = np.equal.outer(region.labels[known], region.labels[known])
    every = [np.array(z) for z in all_partitions(region.x.n_items)]
    kept = [z for z in every if (np.equal.outer(z[known], z[known]) == truth).all()]
    found = region.complete_labels(w)
    assert (np.equal.outer(found[known], found[known]) == truth).all()
    assert score(found) == pytest.approx(max(map(score, kept)))


@pytest.mark.parametrize("loss", ["pairwise", "pairwise_f"])
def test_the_objective_never_rises(loss, monkeypatch):
    objectives = []
    own = training.SimilarityTask._in_user_units

    def recorded(self, *args):
        found = own(self, *args)
        objectives.append(found.result.objective)
        return found

    monkeypatch.setattr(training.SimilarityTask, "_in_user_units", recorded)
    for seed in range(5):
        sets, labels = zip(*[partly_labelled(10 * seed + k, m=7) for k in range(4)], strict=True)
        objectives.clear()
        model = SupervisedCorrelationClustering(
            C=10.0, unlabelled="unknown", loss=loss, oracle="local_search", rtol=1e-6
        ).fit(list(sets), list(labels))
        assert model.result_.objective == min(objectives[1:])  # the first looked at known items alone


def test_slack_scaling_is_refused():
    x, labels = partly_labelled(0)
    with pytest.raises(ValueError, match="needs scaling='margin'"):
        SupervisedCorrelationClustering(C=1.0, unlabelled="unknown", scaling="slack").fit(x, labels)


def test_a_region_has_the_pairs_that_touch_a_named_item():
    x = ItemSet(pairs=[[1.0], [2.0], [3.0]], pair_index=[[0, 1], [1, 2], [2, 3]], n_items=4)
    region = Region.of(x, Evidence.of_pairs(4, same=[(0, 1)]), listed=True)
    assert region.items.tolist() == [0, 1, 2]
    assert region.x.pair_list.tolist() == [[0, 1], [1, 2]]
    assert region.judged_pairs.tolist() == [True, False]
    # What is not known is completed at w: item 2 joins where that scores more.
    assert region.complete_labels(np.array([1.0])).tolist() == [0, 0, 0]
    assert region.complete_labels(np.array([-1.0])).tolist() == [0, 0, 1]
