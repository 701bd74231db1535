"""Pairwise F on listed and partly known sets: counted as defined, searched never above the best of all
partitions, and nearly always to it by the thorough search.
"""

import numpy as np
import pytest

from clustruct import ItemSet, ssvm
from clustruct.data import PairScores
from clustruct.learning.problems import ClusteringProblem, Units
from clustruct.losses import MitreLoss, MutualPurityLoss, PairwiseFLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search._kernels import pair_counts as kernels
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles.graph_loss import graph_loss
from clustruct.search.oracles.graph_search import GraphSearch
from clustruct.search.oracles.pair_count_search import PairCountSearch
from tests.reference import losses as definitions
from tests.reference.partitions import all_partitions
from tests.reference.structural_svm import Enumerated
from tests.search.oracles import search

LOSSES = [PairwiseFLoss(), PairwiseFLoss(beta=2.0), PairwiseFLoss(background_weight=0.5)]


def instance(seed, m=6, share=0.7, known_share=0.6):
    """Scores of listed pairs round a truth of which some labels are known; their size goes over the seeds
    from below the loss to above it.
    """
    rng = np.random.default_rng(seed)
    known = rng.random(m) < known_share if known_share < 1.0 else np.ones(m, bool)
    truth = np.where(known, rng.integers(0, 3, m), 3 + np.arange(m))
    every = np.column_stack(np.triu_indices(m, 1))
    index = every[(rng.random(len(every)) < share) & known[every].any(axis=1)]
    alike = np.where(truth[index[:, 0]] == truth[index[:, 1]], 1.0, -1.0)
    values = (3.0, 10.0, 30.0, 100.0)[seed % 4] * (alike + rng.normal(scale=1.5, size=len(index)))
    return PairScores(m, index=index, values=values), truth, known


def search_of(seed, loss=LOSSES[0], start=None, **options):
    scores, truth, known = instance(seed, **options)
    return PairCountSearch(scores, ExampleLoss(loss, truth, scores.index, known=known), start)


def counted(y, truth, known, index, loss):
    """Delta by its definition, over the listed pairs."""
    listed = {tuple(pair) for pair in index.tolist()}
    both = found = right = 0.0
    for a, b in listed:
        weight = 1.0 if known[a] and known[b] else loss.background_weight * float(known[a] or known[b])
        found += weight * (y[a] == y[b])
        right += (truth[a] == truth[b]) and weight > 0
        both += (truth[a] == truth[b]) and (y[a] == y[b])
    below = found + loss.beta**2 * right
    return 100.0 * (1.0 - (1.0 + loss.beta**2) * both / below) if below else 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_listed_judged_pairs_count(loss, seed):
    scores, truth, known = instance(seed, m=5)
    example = ExampleLoss(loss, truth, scores.index, known=known)
    search = PairCountSearch(scores, example)
    first, second = scores.index.T
    for z in map(np.array, all_partitions(5)):
        expected = counted(z, truth, known, scores.index, loss)
        assert example(z) == pytest.approx(expected, abs=1e-9)
        S = float(scores.values @ (z[first] == z[second]) - scores.values @ (truth[first] == truth[second]))
        assert search.value(z) == pytest.approx(expected + S, abs=1e-9)
    assert example(truth) == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("transitive", [False, True])
def test_with_every_pair_listed_it_is_the_loss_of_the_partition(loss, transitive):
    loss = PairwiseFLoss(loss.beta, loss.background_weight, transitive)
    for seed in range(4):
        _, truth, known = instance(seed, m=5)
        partly, whole = ExampleLoss(loss, truth, known=known), ExampleLoss(loss, truth)
        for z in map(np.array, all_partitions(5)):
            defined = definitions.pairwise_f(
                truth.tolist(), z.tolist(), loss.beta, known.tolist(), loss.background_weight
            )
            assert partly(z) == pytest.approx(defined, abs=1e-9)
            assert whole(z) == pytest.approx(definitions.pairwise_f(truth, z, loss.beta), abs=1e-9)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("loss", [PairwiseFLoss(), PairwiseLoss(2.0, 0.5)], ids=str)
def test_no_mask_means_that_all_are_known(loss, listed):
    scores, truth, _ = instance(3, known_share=1.0)
    index = scores.index if listed else None
    every = np.ones(6, bool)
    plain, masked = ExampleLoss(loss, truth, index), ExampleLoss(loss, truth, index, known=every)
    assert masked.known is None
    assert all(plain(np.array(z)) == masked(np.array(z)) for z in all_partitions(6))


def test_known_items_give_a_mask_of_judged_pairs():
    scores, truth, known = instance(1, m=7)
    touched = known[scores.index].any(axis=1)
    half = np.arange(len(touched)) % 2 == 0
    for loss in (PairwiseLoss(), PairwiseFLoss()):
        by_known = ExampleLoss(loss, truth, scores.index, half, known)
        by_mask = ExampleLoss(loss, truth, scores.index, half & touched)
        assert all(by_known(np.array(z)) == by_mask(np.array(z)) for z in all_partitions(7))


def test_what_cannot_be_done_is_said_by_name():
    truth, known = np.array([0, 0, 1]), np.array([True, True, False])
    index = np.array([[0, 1], [1, 2]])
    for loss in (MitreLoss(), MutualPurityLoss()):
        with pytest.raises(ValueError, match=rf"{type(loss).__name__}.*not every label is known.*pairwise_f"):
            ExampleLoss(loss, truth, index, known=known)
    with pytest.raises(ValueError, match="not every pair is judged"):
        ExampleLoss(PairwiseFLoss(transitive=True), truth, index, np.array([True, False]))
    with pytest.raises(ValueError, match="item 1 has no known label"):
        ExampleLoss(PairwiseFLoss(), truth, index, known=np.array([True, False, True]))
    with pytest.raises(ValueError, match="known must be 3 truth values"):
        ExampleLoss(PairwiseFLoss(), truth, index, known=np.array([1, 0, 1]))
    x = ItemSet(pairs=np.ones((2, 1)), pair_index=index, n_items=3)
    with pytest.raises(ValueError, match="every pair judged"):
        make_oracle("iterative").example_loss(PairwiseFLoss(), truth, x, known=known)
    with pytest.raises(ValueError, match="not linear in pairs: use oracle='greedy' or 'local_search'"):
        ClusteringProblem([x], [truth], "pairwise_f", "lp")


@pytest.mark.parametrize("transitive", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_steps_on_the_graph_equal_evaluation_from_scratch(loss, transitive):
    loss = PairwiseFLoss(loss.beta, loss.background_weight, transitive)
    for seed in range(8):
        scores, truth, known = instance(seed, m=7)
        example = ExampleLoss(loss, truth, scores.index, known=known)
        search = GraphSearch(scores, example, SlackRule("slack"))
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 4, 7).tolist()
        state = graph_loss(example, labels)

        def between(group, other, costs=search.costs, index=scores.index):
            inside = np.isin(index, group).any(axis=1) & np.isin(index, other).any(axis=1)
            return complex(costs[inside].sum())

        for _ in range(8):
            item, target = int(rng.integers(7)), int(rng.integers(7))
            y, source = np.array(labels), labels[item]
            if target != source:
                rest = np.flatnonzero((y == source) & (np.arange(7) != item))
                costs = between([item], np.flatnonzero(y == target)) - between([item], rest)
                moved = np.where(np.arange(7) == item, target, y)
                assert state.after_move(item, target, costs) == pytest.approx(example(moved), abs=1e-9)
                state.move(item, target, costs, state.after_move(item, target, costs))
                labels[item] = target
            c, d = (int(v) for v in rng.choice(np.unique(labels), 2))
            y = np.array(labels)
            if c != d:
                change = state.merge_change(c, d, between(np.flatnonzero(y == c), np.flatnonzero(y == d)))
                merged = np.where(y == d, c, y)
                assert state.after_merge(change) == pytest.approx(example(merged), abs=1e-9)
                if rng.random() < 0.3:
                    state.merge(c, d, change)
                    labels[:] = merged.tolist()
            assert state.value == pytest.approx(example(np.array(labels)), abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("options", [{}, {"known_share": 1.0}, {"share": 1.0}], ids=str)
def test_never_above_the_best_nor_below_the_starts_and_thorough_nearly_always_the_best(loss, options):
    reached = quick_reached = 0
    trials = 60
    for seed in range(trials):
        m = 5 + seed % 3
        start = np.random.default_rng(seed).integers(0, 3, m)
        search = search_of(seed, loss, start, m=m, **options)
        best = max(search.value(np.array(z)) for z in all_partitions(m))
        quick, thorough = search.value(search.greedy()), search.value(search.local_search())
        for found in (quick, thorough):
            assert found <= best + 1e-9
            assert found >= max(0.0, search.value(start)) - 1e-9
        reached += thorough >= best - 1e-9
        quick_reached += quick >= best - 1e-9
    assert reached >= 0.97 * trials
    assert quick_reached >= 0.8 * trials


def test_climbing_raises_H_and_ends_where_no_step_does():
    for seed in range(30):
        search = search_of(seed, m=7)
        first = np.random.default_rng(seed).integers(0, 4, 7)
        end = search.hill_climb(first)
        assert search.value(end) >= search.value(first) - 1e-9
        for item in range(7):
            near = [b for pair in search.loss.index.tolist() if item in pair for b in pair if b != item]
            for c in {int(end[b]) for b in near} | {8}:
                moved = np.where(np.arange(7) == item, c, end)
                assert search.value(np.unique(moved, return_inverse=True)[1]) <= search.value(end) + 1e-8
        for a, b in search.loss.index:
            joined = np.where(end == end[b], end[a], end)
            assert search.value(joined) <= search.value(end) + 1e-8


def test_greedy_within_components_is_greedy():
    plain = make_oracle("greedy")
    for seed in range(20):
        scores, truth, known = instance(seed, m=30, share=0.15)
        judged = ExampleLoss(PairwiseFLoss(), truth, scores.index, known=known).judged_pairs
        found = kernels.greedy(judged.graph, judged.sides, scores.values)
        together = found[:, None] == found
        expected = plain.predict(scores)
        np.testing.assert_array_equal(together, expected[:, None] == expected)


def test_no_pair_at_all():
    scores = PairScores(3, index=np.zeros((0, 2), np.int64), values=np.zeros(0))
    loss = ExampleLoss(PairwiseFLoss(), np.array([0, 0, 1]), scores.index)
    search = PairCountSearch(scores, loss)
    assert search.value(search.greedy()) == search.value(search.local_search()) == 0.0


def toy(seed, n_sets=1, m=12):
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for _ in range(n_sets):
        y = rng.integers(0, 5, m)
        every = np.column_stack(np.triu_indices(m, 1))
        index = every[rng.random(len(every)) < 0.6]
        same = (y[index[:, 0]] == y[index[:, 1]]).astype(float)
        columns = [same + rng.normal(scale=0.7, size=len(index)) for _ in range(3)]
        pairs = np.column_stack([*columns, np.ones(len(index))])
        sets.append(ItemSet(pairs=pairs, pair_index=index, n_items=m))
        labels.append(y)
    return sets, labels


@pytest.mark.parametrize("n_sets", [1, 6])
@pytest.mark.parametrize("oracle", ["greedy", "local_search"])
def test_training_reaches_one_optimum_in_both_formulations(n_sets, oracle):
    sets, labels = toy(n_sets, n_sets)
    units = Units.of_means(sets, "correlation")
    results = {}
    for formulation in ("n_slack", "one_slack"):
        problem = ClusteringProblem(sets, labels, "pairwise_f", oracle, units=units)
        result = ssvm.fit(problem, 300.0, rtol=1e-3, formulation=formulation)
        assert result.converged
        assert result.certificate.oracle_kind == "undergenerating"
        assert result.certificate.upper is None
        assert 0.0 <= result.gap <= 1e-3 * result.objective
        rises = np.diff([h.dual for h in result.history])
        assert (rises >= -1e-9 * result.objective).all()
        results[formulation] = result
    first, second = results.values()
    assert first.objective == pytest.approx(second.objective, rel=5e-3)


def test_a_small_training_has_the_optimum_of_all_partitions():
    """With every partition written out as an output, an exact solver comes to the same objective."""
    sets, labels = toy(11, m=6)
    units = Units.of_means(sets, "correlation")
    problem = ClusteringProblem(sets, labels, "pairwise_f", units=units)
    truth = problem.truth(0).tolist()
    every = [truth, *(z for z in all_partitions(6) if z != truth)]
    psi = np.array([[problem.joint_feature(0, np.array(z)) for z in every]])
    losses = np.array([[problem.loss(0, np.array(z)) for z in every]])
    exact = ssvm.fit(Enumerated(psi, losses), 50.0, rtol=1e-5)
    found = ssvm.fit(problem, 50.0, rtol=1e-5)
    assert found.converged
    assert found.objective == pytest.approx(exact.objective, rel=3e-5)


def test_which_searches_are_quick():
    sets, labels = toy(0)
    x, y = sets[0], labels[0]
    dense = ItemSet(pairs=np.random.default_rng(0).normal(size=(66, 4)))
    quick = ClusteringProblem([x], [y], "pairwise_f")
    assert quick.is_quick(SlackRule())
    assert quick.preferred_formulation == "one_slack"
    assert not quick.is_quick(SlackRule("slack"))
    assert not quick.is_quick(SlackRule("margin", 2))
    for problem in (
        ClusteringProblem([x], [y]),
        ClusteringProblem([x], [y], "pairwise_f", "local_search"),
        ClusteringProblem([x], [y], PairwiseFLoss(transitive=True)),
        ClusteringProblem([x], [y], "pairwise_f", make_oracle("greedy", loss_in_oracle=False)),
        ClusteringProblem([dense], [y], "pairwise_f"),
    ):
        assert not problem.is_quick(SlackRule())
        assert problem.preferred_formulation == "n_slack"
        again = search(problem, 0, np.ones(4), SlackRule(), thorough=True)
        np.testing.assert_array_equal(again.output, search(problem, 0, np.ones(4), SlackRule()).output)
