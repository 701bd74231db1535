"""Searches on listed pairs: the H searched is the H counted, never above the best, and nothing is m x m."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.data import PairScores
from clustruct.learning.problems import ClusteringProblem, Units
from clustruct.losses import (
    BCubedLoss,
    CEAFEntityLoss,
    CEAFMentionLoss,
    FunctionLoss,
    LEALoss,
    MitreLoss,
    MutualPurityLoss,
    PairwiseFLoss,
    PairwiseLoss,
    VariationOfInformationLoss,
)
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles import ExampleLoss, graph_search
from clustruct.search.oracles.graph_search import GraphSearch
from clustruct.search.oracles.violation_search import ViolationSearch
from tests.reference.partitions import all_partitions
from tests.search.oracles import search

LOSSES = {
    "pairwise": PairwiseLoss(),
    "costs": PairwiseLoss(3.0, 0.5),
    "mitre": MitreLoss(),
    "pairwise_f": PairwiseFLoss(),
    "transitive": PairwiseFLoss(transitive=True),
    "purity": MutualPurityLoss(),
    "b_cubed": BCubedLoss(),
    "lea": LEALoss(),
    "information": VariationOfInformationLoss(),
    "ceaf_entity": CEAFEntityLoss(),
    "ceaf_mention": CEAFMentionLoss(),
    "function": FunctionLoss(lambda y, z: 20.0 * abs(y.max() - z.max())),
}
RULES = [SlackRule(s, n) for s in ("margin", "slack") for n in (1, 2)]


def listed_set(seed, m=6, share=0.6, features=3):
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(m, 1))
    index = every[rng.random(len(every)) < share]
    x = ItemSet(pairs=rng.normal(size=(len(index), features)), pair_index=index, n_items=m)
    return x, rng.integers(0, 3, m)


def connected(y, index):
    """Whether listed pairs connect the items of every cluster."""
    parent = list(range(len(y)))

    def root(a):
        return a if parent[a] == a else root(parent[a])

    for a, b in index:
        if y[a] == y[b]:
            parent[root(a)] = root(b)
    return len({root(a) for a in range(len(y))}) == len(set(y.tolist()))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("in_means", [False, True])
def test_searched_is_counted_and_never_above_the_best(loss, rule, in_means):
    reached = tried = 0
    for seed, oracle in product(range(4), ("greedy", "local_search")):
        x, y = listed_set(seed, m=5 + seed % 2)
        units = Units.of_means([x], "correlation") if in_means else None
        problem = ClusteringProblem([x], [y], LOSSES[loss], oracle, units=units)
        truth = problem.truth(0)

        def H(z, w, problem=problem, truth=truth):
            gain = float((problem.joint_feature(0, z) - problem.joint_feature(0, truth)) @ w)
            return float(rule.violation(problem.loss(0, z), gain))

        every = [np.array(z) for z in all_partitions(x.n_items)]
        for size in (0.3, 30.0):
            w = size * np.random.default_rng(seed).normal(size=3) * (1.0 if in_means else 30.0)
            found = search(problem, 0, w, rule)
            assert found.loss == pytest.approx(problem.losses[0](np.array(found.output)), abs=1e-12)
            best = max(H(z, w) for z in every)
            within = max(H(z, w) for z in every if connected(z, x.pair_index) or np.array_equal(z, truth))
            value = H(found.output, w)
            assert value <= best + 1e-9
            tried += oracle == "local_search"
            reached += oracle == "local_search" and value >= within - 1e-6 * max(1.0, abs(within))
    assert reached >= 0.7 * tried


EXACT = ["pairwise", "costs", "mitre", "pairwise_f", "b_cubed", "lea", "information", "ceaf_entity"]


@pytest.mark.parametrize("loss", [*EXACT, "ceaf_mention"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_with_every_pair_listed_the_steps_are_those_on_the_matrix(loss, rule):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 4, 12)
        K = rng.normal(size=(12, 12)) * rng.choice([0.1, 1.0, 10.0])
        scores = PairScores.from_matrix(K + K.T)
        truth = ExampleLoss(LOSSES[loss], y)
        dense, thin = (
            ViolationSearch(scores.matrix, truth, rule),
            GraphSearch(scores.list_pairs(), truth, rule),
        )
        assert thin.value(y) == pytest.approx(dense.value(y))
        found = thin.greedy()
        assert thin.value(found) == pytest.approx(dense.value(found))
        assert thin.value(found) == pytest.approx(dense.value(dense.greedy()))
        local = thin.local_search()
        assert thin.value(local) >= max(thin.value(found), 0.0) - 1e-9


TABLES = ["b_cubed", "lea", "information", "ceaf_entity", "ceaf_mention"]


def steps_from(y, index):
    """All partitions after one allowed step: clusters with a listed pair between them merged, an item moved
    to a cluster that it has a listed pair with, or to one of its own.
    """
    for a, b in index:
        if y[a] != y[b]:
            yield np.where(y == y[b], y[a], y)
            for item, other in ((a, b), (b, a)):
                moved = y.copy()
                moved[item] = y[other]
                yield moved
    for item in range(len(y)):
        moved = y.copy()
        moved[item] = y.max() + 1
        yield moved


@pytest.mark.parametrize("loss", TABLES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_compiled_searches_take_the_steps_that_listed_pairs_allow(loss, rule, monkeypatch):
    """Greedy ends where the one in Python ends, and no allowed step is left that raises H."""
    for seed in range(6):
        x, y = listed_set(seed, m=14, share=0.25)
        values = np.random.default_rng(seed).normal(size=len(x.pair_index)) * (0.3, 3.0, 30.0)[seed % 3]
        scores = PairScores(14, index=x.pair_index, values=values)
        example = ExampleLoss(LOSSES[loss], y, x.pair_index)
        search = GraphSearch(scores, example, rule)
        assert search.on_matrix is not None
        with monkeypatch.context() as patch:
            patch.setattr(graph_search, "MOST_MATCHED", 0)
            patch.setattr(graph_search, "MOST_ADDED", 0)
            slow = GraphSearch(scores, example, rule)
            assert slow.on_matrix is None
            assert search.value(search.greedy()) == pytest.approx(slow.value(slow.greedy()))
        assert connected(search.greedy(), x.pair_index)
        for start in (np.arange(14), search.greedy()):
            end = search.hill_climb(start)
            reached = search.value(end)
            assert reached >= search.value(start) - 1e-9
            left = max(search.value(z) for z in steps_from(end, x.pair_index))
            assert left <= reached + 1e-7 * max(1.0, abs(reached))


def test_pairs_that_are_not_judged_add_no_loss():
    x, y = listed_set(3, share=1.0)
    judged = np.zeros(len(x.pair_index), bool)
    judged[:4] = True
    w = np.random.default_rng(0).normal(size=3)
    problem = ClusteringProblem([x], [y], judged=[judged])
    wrong = np.array([a == b for a, b in (y[x.pair_index[:4]])], float)
    alone = np.arange(x.n_items)
    assert problem.loss(0, alone) == pytest.approx(100.0 * wrong.mean())
    assert problem.loss(0, y) == 0.0
    dense = ClusteringProblem([ItemSet(pairs=x.pairs)], [y], judged=[judged])
    for rule in RULES:
        found = [search(p, 0, 50.0 * w, rule) for p in (problem, dense)]
        assert found[0].loss == found[1].loss
        np.testing.assert_array_equal(found[0].output, found[1].output)
    with pytest.raises(ValueError, match="not every pair is judged"):
        ClusteringProblem([x], [y], "mitre", judged=[judged])
    with pytest.raises(ValueError, match="every pair judged"):
        ClusteringProblem([x], [y], oracle="iterative", judged=[judged])


def test_listed_sets_of_relaxations_and_of_k_means():
    """Small ones work; what would need a matrix of a large one is refused by name, before any work."""
    x, y = listed_set(1)
    for oracle in ("lp", "exact"):
        problem = ClusteringProblem([x], [y], oracle=oracle)
        found = search(problem, 0, np.ones(3), SlackRule())
        best = max(
            problem.loss(0, np.array(z))
            + (problem.joint_feature(0, np.array(z)) - problem.joint_feature(0, problem.truth(0))).sum()
            for z in all_partitions(6)
        )
        psi = problem.joint_feature(0, found.output) - problem.joint_feature(0, problem.truth(0))
        assert problem.loss(0, found.output) + psi.sum() >= best - 1e-6
    search(ClusteringProblem([x], [y], oracle="iterative"), 0, np.ones(3), SlackRule())
    large = ItemSet(pairs=np.ones((1, 3)), pair_index=[[0, 1]], n_items=5000)
    for oracle in ("lp", "exact", "iterative", "spectral", "centred", "discrete"):
        with pytest.raises(ValueError, match=r"5000 items .* too many"):
            ClusteringProblem([large], [np.zeros(5000, int)], oracle=oracle)


def large_set():
    """20,000 items in pairs, some of which are listed, and false candidates: a matrix would take 3 GB."""
    rng = np.random.default_rng(0)
    m = 20_000
    y = np.repeat(np.arange(m // 2), 2)
    others = np.unique(np.sort(rng.integers(0, m, (1500, 2)), axis=1), axis=0)
    index = np.concatenate([np.arange(3000).reshape(-1, 2), others[y[others[:, 0]] != y[others[:, 1]]]])
    alike = (y[index[:, 0]] == y[index[:, 1]]) + 0.3 * rng.normal(size=len(index))
    return ItemSet(pairs=np.column_stack([alike, np.ones(len(index))]), pair_index=index, n_items=m), y


def peak_memory(run):
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


OPTIONS = [
    {},
    {"scaling": "slack"},
    {"slack_norm": 2},
    {"loss": "mitre"},
    {"loss": "mitre", "scaling": "slack", "slack_norm": 2},
    {"loss": "pairwise_f"},
    {"loss": "pairwise_f", "scaling": "slack"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_sets_train_without_a_matrix(options):
    x, y = large_set()
    model = SupervisedCorrelationClustering(C=1.0, max_iter=5, **options)
    assert peak_memory(lambda: model.fit([x], [y])) < 50e6
    assert model.w_[0] > 0.0
    assert model.predict(x).shape == (20_000,)


@pytest.mark.parametrize("loss", ["pairwise", "mitre"])
@pytest.mark.parametrize("rule", RULES[1:3], ids=str)
def test_local_search_of_large_sets_makes_no_matrix(loss, rule):
    x, y = large_set()
    problem = ClusteringProblem([x], [y], loss, "local_search")
    assert peak_memory(lambda: search(problem, 0, np.array([1e5, -5e4]), rule)) < 50e6
