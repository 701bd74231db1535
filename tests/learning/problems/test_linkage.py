"""Links as oracles against enumeration of all forests, and latent training by turns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct import ItemSet, ssvm
from clustruct.learning.problems import LinkageProblem, LinkageTask
from clustruct.learning.problems.linkage import descend, move_planes, primal
from clustruct.losses import MitreLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles.base import PLAIN, SCALED
from clustruct.search.oracles.link_oracles import ForestLoss, LeftLoss
from tests.reference import agglomerative as slow
from tests.search.test_agglomerative import as_dict, scores

SEEDS = st.integers(0, 10**6)


def task(seed: int, m: int, listed: bool):
    s = scores(seed, m, listed)
    truth = np.array(slow.pieces(m, [(0, j) for j in range(1, m, 2)] + [(2, j) for j in range(4, m, 3)]))
    truth = np.random.default_rng(seed).permutation(truth)
    index = s.index if listed else None
    return s, np.unique(truth, return_inverse=True)[1], index


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_single_link_with_its_loss_is_the_most_violated_forest(listed, seed, m):
    s, truth, index = task(seed, m, listed)
    s, known = s.times(20.0), as_dict(s.times(20.0))
    loss, oracle = ForestLoss(PairwiseLoss(), truth, index), make_oracle("single", "links")
    forests = list(slow.all_forests(m, list(known)))
    H = [slow.single_loss(truth, known, f) + slow.total(known, f) for f in forests]
    found = oracle.separate(s, loss, PLAIN)
    assert found.loss == pytest.approx(
        slow.single_loss(truth, known, [tuple(p) for p in found.output.index.tolist()])
    )
    assert found.loss + found.output.score(s) == pytest.approx(max(H))
    assert oracle.kind == "exact"


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 6), r=st.sampled_from([1.0, 0.3]))
@settings(max_examples=30, deadline=None)
def test_left_links_with_their_loss_are_the_most_violated_ones(listed, seed, m, r):
    s, truth, index = task(seed, m, listed)
    s, known = s.times(20.0), as_dict(s.times(20.0))
    loss, oracle = LeftLoss(PairwiseLoss(), truth, index, r), make_oracle("left", "links")
    choices = slow.all_left_links(m, list(known))
    H = [slow.left_loss(truth, known, links, r) + slow.total(known, links) for links in choices]
    found = oracle.separate(s, loss, PLAIN)
    assert found.loss + found.output.score(s) == pytest.approx(max(H))


@pytest.mark.parametrize(
    "truth", [[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5], [0, 1, 1, 0, 1, 2]]
)
def test_the_loss_of_forests_is_0_for_those_of_the_truth_alone_and_100_at_most(truth):
    known = slow.scores_of(np.zeros((6, 6)))
    loss = ForestLoss(PairwiseLoss(), np.array(truth))
    forests = list(slow.all_forests(6, list(known)))
    assert len(forests) == 2932
    found = []
    for forest in forests:
        links = _links(6, forest)
        value = loss(links)
        assert value == pytest.approx(slow.single_loss(truth, known, forest))
        assert (value == 0.0) == (slow.pieces(6, forest) == slow.pieces(6, _same(truth)))
        found.append(value)
    assert max(found) == pytest.approx(100.0)


def _same(truth):
    return [(a, b) for a in range(len(truth)) for b in range(a) if truth[a] == truth[b]]


def _links(m, forest):
    from clustruct.search.agglomerative import WeightedLinks

    return WeightedLinks.plain(m, np.array(forest, np.int64).reshape(-1, 2))


@pytest.mark.parametrize("name", ["single", "left"])
@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_links_with_slack_scaling_stay_below_the_maximum_and_the_bound_holds(name, seed):
    s, truth, _ = task(seed, 5, False)
    s = s.times(0.3)
    known, oracle = as_dict(s), make_oracle(name, "links")
    loss = ForestLoss(PairwiseLoss(), truth) if name == "single" else LeftLoss(PairwiseLoss(), truth)
    loss.right = oracle.span(s, truth)
    base = loss.right.score(s)
    every = slow.all_forests(5, list(known)) if name == "single" else slow.all_left_links(5, list(known))
    most = max(loss(_links(5, f)) * (1.0 + slow.total(known, f) - base) for f in every)
    found = oracle.separate(s, loss, SCALED)
    need = found.loss * (1.0 + found.output.score(s) - base)
    assert -1e-9 <= need <= most + 1e-6
    assert most <= found.bound * (1.0 + 1e-9) + 1e-9
    assert oracle.kind_for(SCALED) == "undergenerating"


@pytest.mark.parametrize("name", ["average", "complete"])
@pytest.mark.parametrize("rule", [PLAIN, SCALED, SlackRule("margin", 2)])
@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_greedy_links_are_never_below_the_truth(name, rule, seed):
    s, truth, _ = task(seed, 7, False)
    oracle = make_oracle(name, "links")
    for loss in (ExampleLoss(PairwiseLoss(), truth), ExampleLoss(MitreLoss(), truth)):
        loss.right = oracle.span(s, truth)
        found = oracle.separate(s, loss, rule)
        value = rule.violation(loss(found.output), found.output.score(s) - loss.right.score(s))
        assert value >= -1e-9
        assert found.loss == loss(found.output)


@pytest.mark.parametrize("name", ["average", "complete"])
def test_compiled_merges_with_a_loss_are_those_of_the_search_for_any_loss(name):
    for seed in range(10):
        s, truth, _ = task(seed, 9, False)
        s = s.times(20.0)
        oracle, loss = make_oracle(name, "links"), ExampleLoss(PairwiseLoss(), truth)
        loss.right = oracle.span(s, truth)
        fast = oracle.separate(s, loss, PLAIN).output
        slow_one = oracle._merge_greedily(s, loss, PLAIN)
        assert fast.labels.tolist() == slow_one.labels.tolist()
        assert fast.score(s) == pytest.approx(slow_one.score(s))


def chains(seed: int, n: int = 5):
    """Clusters that are chains: neighbours are alike, ends are not."""
    rng, sets, labels = np.random.default_rng(seed), [], []
    for _ in range(n):
        at = np.concatenate([np.arange(4.0), 6.0 + np.arange(3.0)]) + 0.3 * rng.normal(size=7)
        side = rng.normal(size=7)
        a, b = np.triu_indices(7, 1)
        columns = [np.abs(at[a] - at[b]), np.abs(side[a] - side[b]), np.ones(len(a))]
        sets.append(ItemSet(pairs=np.column_stack(columns)))
        labels.append(np.array([0, 0, 0, 0, 1, 1, 1]))
    return sets, labels


OPTIONS = {"formulation": "n_slack", "scaling": "margin", "slack_norm": 1, "rtol": 1e-5, "max_iter": 500}


def task_of(name: str, sets, labels, **more) -> LinkageTask:
    oracle = make_oracle(name, "links")
    return LinkageTask(sets, labels, PairwiseLoss(), oracle, oracle, {**OPTIONS, **more})


@pytest.mark.parametrize("name", ["single", "left", "average", "complete"])
@pytest.mark.parametrize("scaling", ["margin", "slack"])
def test_the_objective_never_rises(name, scaling):
    sets, labels = chains(0)
    found = task_of(name, sets, labels, scaling=scaling).train(0.1)
    assert len(found.objectives) >= 1
    assert (np.diff(found.objectives) <= 0.0).all()


def test_the_objective_is_that_of_the_best_links_at_w():
    """Of an exact search: 1/2 |w|^2 + C mean [max H - ...] with the truth's best links, by enumeration."""
    sets, labels = chains(1, n=2)
    sets, labels = [x.subset([0, 1, 4, 5, 6]) for x in sets], [y[[0, 1, 4, 5, 6]] for y in labels]
    problem = LinkageProblem(sets, labels, oracle="single", w=np.array([-1.0, 0.0, 0.0]))
    C, weights = 5.0, np.full(2, 0.5)
    found = descend(problem, lambda p, planes: ssvm.fit(p, C, rtol=1e-6, w0=planes), PLAIN, weights, C)
    w, total = found.result.w, 0.0
    for x, y in zip(sets, labels, strict=True):
        known = slow.scores_of(x.similarity(w))
        forests = list(slow.all_forests(5, list(known)))
        most = max(slow.single_loss(y, known, f) + slow.total(known, f) for f in forests)
        right = max(slow.total(known, f) for f in forests if slow.single_loss(y, known, f) == 0.0)
        total += 0.5 * (most - right)
    value = 0.5 * float(w @ w) + C * total
    assert value <= found.objectives[-1] * (1.0 + 1e-6)
    assert primal(problem.completed_at(w), w, C, PLAIN, weights) == pytest.approx(value)


def test_a_training_that_ends_higher_is_not_taken():
    """As one that stops at a tolerance may: the old weights stay, and the objective does not rise."""
    sets, labels = chains(0)
    rng, m = np.random.default_rng(1), sets[0].n_items
    problem = LinkageProblem(sets, labels, oracle="single", w=rng.normal(size=sets[0].n_features))
    weights, ends = np.full(problem.n_examples, 1.0 / problem.n_examples), []

    def solve(given, planes):
        found = ssvm.fit(given, 1.0, w0=planes)
        ends.append(found if not ends else replace(found, w=100.0 * found.w + m, objective=1e9))
        return ends[-1]

    kept = descend(problem, solve, PLAIN, weights, 1.0)
    assert len(ends) > 1
    assert np.array_equal(kept.result.w, ends[0].w)
    assert (np.diff(kept.objectives) <= 0.0).all()


def test_planes_move_with_the_truths():
    """A fit that starts from moved planes has the optimum of one that starts from nothing."""
    sets, labels = chains(2)
    before = LinkageProblem(sets, labels, oracle="single", w=np.array([-1.0, 0.0, 0.0]))
    after = LinkageProblem(sets, labels, oracle="single", w=np.array([0.0, -1.0, 0.0]))
    assert not before.same_truths(after)
    for rule in (PLAIN, SCALED):
        options = {"scaling": rule.scaling, "rtol": 1e-6, "formulation": "n_slack"}
        first = ssvm.fit(before, 3.0, **options)
        planes = move_planes(first, before, after, rule)
        assert planes is not None
        warm, cold = ssvm.fit(after, 3.0, w0=planes, **options), ssvm.fit(after, 3.0, **options)
        if rule == PLAIN:
            assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
        for j in range(len(planes)):
            i = int(planes.group[j])
            factor = planes.b[j] if rule == SCALED else 1.0
            difference = first.planes.vectors[j] / factor - before.joint_feature(i, before.truth(i))
            assert planes.vectors[j] / factor == pytest.approx(
                difference + after.joint_feature(i, after.truth(i))
            )


def test_on_listed_pairs_the_truth_of_unconnected_pieces_has_no_loss():
    x = ItemSet(pairs=np.ones((2, 1)), pair_index=np.array([[0, 1], [2, 3]]), n_items=5)
    for name in ("single", "left", "average", "complete"):
        problem = LinkageProblem([x], [np.zeros(5, int)], oracle=name)
        assert problem.loss(0, problem.truth(0)) == 0.0
        assert problem.truth(0).labels.tolist() == [0, 0, 1, 1, 2]


def test_psi_of_left_links_is_a_mean_over_items():
    x = ItemSet(pairs=np.array([[1.0], [2.0], [4.0]]))
    left = LinkageProblem([x], [[0, 0, 0]], oracle="left", w=np.ones(1))
    single = LinkageProblem([x], [[0, 0, 0]], oracle="single", w=np.ones(1))
    assert left.joint_feature(0, left.truth(0)) == pytest.approx([(1.0 + 4.0) / 3])
    assert single.joint_feature(0, single.truth(0)) == pytest.approx([6.0])


def test_unknown_labels_are_refused():
    x = ItemSet(pairs=np.ones((3, 1)))
    for name in ("single", "average"):
        with pytest.raises(ValueError, match="links need a label for every item"):
            make_oracle(name).example_loss(
                PairwiseLoss(), np.array([0, 0, 1]), x, known=np.array([True, True, False])
            )
