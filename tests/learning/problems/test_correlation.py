"""The correlation clustering problem against brute force over all partitions."""

import numpy as np
import pytest

from clustruct import ItemSet, ssvm
from clustruct.learning.problems import ClusteringProblem, Units
from clustruct.losses import MitreLoss, PairwiseLoss
from clustruct.search.correlation import EdgeDegrees
from clustruct.search.oracles import make_oracle
from clustruct.ssvm import SlackRule
from tests.reference.partitions import all_partitions

RULES = [SlackRule(s, n) for s in ("margin", "slack") for n in (1, 2)]


def partitions(m):
    return [np.array(y) for y in all_partitions(m)]


def random_sets(seed, n=3, m=5, features=3, sparse=False):
    rng = np.random.default_rng(seed)
    sets = []
    for k in range(n):
        size = m + k % 2
        pairs = rng.normal(size=(size * (size - 1) // 2, features))
        sets.append(ItemSet(nodes=rng.normal(size=(size, 2)), pairs=pairs))
    return sets, [rng.integers(0, 3, x.n_items) for x in sets]


def of_means(sets, labels, *given, **options):
    """The problem in means over pairs."""
    return ClusteringProblem(sets, labels, *given, units=Units.of_means(sets, "correlation"), **options)


MAKERS = pytest.mark.parametrize("make", [ClusteringProblem, of_means])


def test_psi_and_loss_are_those_of_the_paper():
    sets, labels = random_sets(0)
    problem = ClusteringProblem(sets, labels)
    for i, x in enumerate(sets):
        for y in partitions(x.n_items)[::7]:
            psi = np.zeros(x.n_features)
            wrong = 0
            for a in range(x.n_items):
                for b in range(a + 1, x.n_items):
                    psi += x.pair_features(a, b) * (y[a] == y[b])
                    wrong += (y[a] == y[b]) != (labels[i][a] == labels[i][b])
            np.testing.assert_allclose(problem.joint_feature(i, y), psi / x.n_items**2, atol=1e-12)
            assert problem.loss(i, y) == pytest.approx(100 * wrong / (x.n_items * (x.n_items - 1) / 2))


@MAKERS
def test_exact_oracle_equals_brute_force(make):
    rng = np.random.default_rng(1)
    sets, labels = random_sets(1)
    problem = make(sets, labels, oracle="exact")
    for scale in (0.0, 1.0, 30.0):
        w = scale * rng.normal(size=problem.n_features)
        for i in range(len(sets)):
            best = max(value(problem, i, y, w, SlackRule()) for y in partitions(sets[i].n_items))
            found = problem.separate(i, w, SlackRule())
            assert value(problem, i, found, w, SlackRule()) == pytest.approx(best, abs=1e-9)


def value(problem, i, y, w, rule):
    gain = (problem.joint_feature(i, y) - problem.joint_feature(i, problem.truth(i))) @ w
    return rule.violation(problem.loss(i, y), gain)


@pytest.mark.parametrize("loss", [PairwiseLoss(), PairwiseLoss(merge_cost=3.0), MitreLoss(), "purity"])
@pytest.mark.parametrize("rule", RULES, ids=str)
@MAKERS
def test_searches_never_exceed_and_often_reach_the_best(loss, rule, make):
    rng = np.random.default_rng(2)
    sets, labels = random_sets(2)
    for oracle in ("greedy", "local_search"):
        problem = make(sets, labels, loss, oracle)
        reached = 0
        for scale in (0.1, 1.0, 10.0):
            w = scale * rng.normal(size=problem.n_features)
            for i in range(len(sets)):
                every = [value(problem, i, y, w, rule) for y in partitions(sets[i].n_items)]
                found = value(problem, i, problem.separate(i, w, rule), w, rule)
                assert found <= max(every) + 1e-9
                reached += found >= max(every) - 1e-6 * abs(max(every))
        assert reached >= 5


def test_lp_oracle_is_an_upper_bound_and_relaxed_loss_counts():
    rng = np.random.default_rng(3)
    sets, labels = random_sets(3)
    problem = ClusteringProblem(sets, labels, oracle="lp")
    assert problem.oracle_kind == "overgenerating"
    w = 5 * rng.normal(size=problem.n_features)
    for i in range(len(sets)):
        found = problem.separate(i, w, SlackRule())
        assert isinstance(found, EdgeDegrees)
        best = max(value(problem, i, y, w, SlackRule()) for y in partitions(sets[i].n_items))
        assert value(problem, i, found, w, SlackRule()) >= best - 1e-6


def test_training_objectives_are_ordered():
    """More constraints, higher optimum: greedy <= exact <= LP."""
    sets, labels = random_sets(4, n=4)
    values = {}
    for oracle in ("greedy", "exact", "lp"):
        problem = of_means(sets, labels, oracle=oracle)
        result = ssvm.fit(problem, 100.0, rtol=1e-6)
        values[oracle] = result.objective
        if oracle == "exact":
            exact = result
    assert values["greedy"] <= values["exact"] * (1 + 1e-5)
    assert values["exact"] <= values["lp"] * (1 + 1e-5)
    assert exact.certificate.lower <= exact.certificate.upper


def test_exact_training_reaches_the_written_out_optimum():
    """OP 4 with every partition listed, as the paper states it (1/m^2, losses up to 100)."""
    from tests.reference import structural_svm as slow

    sets, labels = random_sets(5, n=2, m=4, features=2)
    sets, labels = [sets[0], sets[0].subset([0, 1, 2])], [labels[0], labels[0][:3]]
    problem = ClusteringProblem(sets, labels, oracle="exact")
    listed = [[problem.truth(i), *partitions(x.n_items)] for i, x in enumerate(sets)]
    width = max(map(len, listed))
    psi = np.array(
        [[problem.joint_feature(i, (ys * 9)[k]) for k in range(width)] for i, ys in enumerate(listed)]
    )
    losses = np.array([[problem.loss(i, (ys * 9)[k]) for k in range(width)] for i, ys in enumerate(listed)])
    _, best = slow.solve(slow.Enumerated(psi, losses), 3.0)
    assert ssvm.fit(problem, 3.0, rtol=1e-7).objective == pytest.approx(best, rel=1e-5)


def test_loss_left_out_of_the_search():
    sets, labels = random_sets(6)
    problem = ClusteringProblem(sets, labels, oracle=make_oracle("exact", loss_in_oracle=False))
    w = np.random.default_rng(0).normal(size=problem.n_features)
    for i, x in enumerate(sets):
        scores = [problem.joint_feature(i, y) @ w for y in partitions(x.n_items)]
        assert problem.joint_feature(i, problem.separate(i, w, SlackRule())) @ w == pytest.approx(max(scores))
    assert problem.oracle_kind == "undergenerating"
    blind = make_oracle("lp", loss_in_oracle=False)
    assert ClusteringProblem(sets, labels, oracle=blind).oracle_kind == "heuristic"


def test_impossible_combinations_are_refused():
    sets, labels = random_sets(0)
    for oracle in ("lp", "exact"):
        with pytest.raises(ValueError, match="not linear in pairs"):
            ClusteringProblem(sets, labels, "mitre", oracle)
        with pytest.raises(ValueError, match="no oracle for slack scaling, slack norm 2"):
            ssvm.fit(ClusteringProblem(sets, labels, oracle=oracle), scaling="slack", slack_norm=2)
        with pytest.raises(ValueError, match="no oracle for margin scaling, slack norm 2"):
            ssvm.fit(ClusteringProblem(sets, labels, oracle=oracle), slack_norm=2)
    with pytest.raises(ValueError, match="oracle must be one of"):
        ClusteringProblem(sets, labels, oracle="magic")


def test_pair_mean_and_paper_scaling_are_the_same_problem_for_sets_of_one_size():
    """With equal m the two differ by constants that C absorbs."""
    rng = np.random.default_rng(7)
    m = 6
    sets = [ItemSet(pairs=rng.normal(size=(15, 3))) for _ in range(3)]
    labels = [rng.integers(0, 3, m) for _ in sets]
    s, p = 1 / m**2, 2 / (m * (m - 1))
    C = 2.0
    paper = ssvm.fit(ClusteringProblem(sets, labels, oracle="exact"), C, rtol=1e-7)
    # w_mean = w_paper * (s / p) / 100 keeps every margin; |w|^2 and the loss scale by known factors.
    ratio = (s / p) * 0.01
    mean = ssvm.fit(of_means(sets, labels, oracle="exact"), C * ratio**2 * 100, rtol=1e-7)
    np.testing.assert_allclose(mean.w, paper.w * ratio, rtol=1e-3, atol=1e-6)
