"""Slack scaling by searches for margins, against enumeration of all partitions and labelings."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct import ItemSet, ssvm
from clustruct.data import PairScores
from clustruct.learning.problems import ClusteringProblem
from clustruct.losses import NormalisedLoss, PairwiseLoss
from clustruct.losses.multiplier_search import MultiplierSearch, Point
from clustruct.losses.slack_rule import SlackRule
from clustruct.papers.multilabel import MultiLabelProblem, mrf
from clustruct.papers.multilabel.slack import search_most_slack
from clustruct.search import kmeans
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles.base import SCALED
from clustruct.search.oracles.violation_search import ViolationSearch
from tests.reference.loss_augmented import best_of_all, objective
from tests.reference.partitions import all_partitions

SEEDS = st.integers(0, 10**6)
NEAR = 1e-6


@given(
    points=st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(-20.0, 20.0)), max_size=9),
)
@settings(max_examples=300, deadline=None)
def test_multipliers_find_the_least_bound_and_no_answer_exceeds_it(points):
    outputs = [Point(None, 0.0, 0.0), *(Point(None, loss, gain) for loss, gain in points)]
    search = MultiplierSearch(outputs[0])
    while (at := search.multiplier) is not None:
        search.tell(max(outputs, key=lambda p: p.line(at)))
    most = max(p.need for p in outputs)
    assert search.best.need <= most + NEAR
    assert most <= search.bound * (1.0 + NEAR) + NEAR
    tried = [max(p.line(10.0**k) for p in outputs) ** 2 / (4.0 * 10.0**k) for k in np.linspace(-6, 6, 200)]
    assert search.bound <= min(tried) * (1.0 + NEAR) + NEAR
    assert search.steps < 15


def test_an_output_between_the_ends_is_missed_and_the_bound_says_how_much():
    outputs = [Point("truth", 0.0, 0.0), Point("a", 1.0, 8.0), Point("b", 9.0, 0.0), Point("c", 4.0, 2.9)]
    search = MultiplierSearch(outputs[0])
    while (at := search.multiplier) is not None:
        search.tell(max(outputs, key=lambda p: p.line(at)))
    assert (search.best.need, outputs[3].need) == (9.0, 15.6)
    assert search.bound == pytest.approx(25.0)


def made(seed: int, m: int = 6) -> tuple[np.ndarray, list[int]]:
    """Scores of the size of a margin, and a truth."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m)) * rng.choice([0.05, 0.3, 2.0])
    return (K + K.T) * (1 - np.eye(m)), canonical(rng.integers(0, 3, m))


def canonical(labels) -> list[int]:
    names: dict[int, int] = {}
    return [names.setdefault(int(c), len(names)) for c in labels]


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_exact_with_slack_scaling_lies_between_local_search_and_the_maximum(seed):
    K, y = made(seed)
    loss = ExampleLoss(PairwiseLoss(), np.array(y))
    H = objective(K, y, lambda a, b: PairwiseLoss()(a, b), "slack", 1)
    most = best_of_all(6, H)
    found = make_oracle("exact").separate(PairScores(6, matrix=K), loss, SCALED)
    need = H(found.output.tolist())
    assert need <= most + NEAR
    assert need >= H(ViolationSearch(K, loss, SCALED).local_search().tolist()) - NEAR
    assert found.bound is not None
    assert most <= found.bound * (1.0 + NEAR) + NEAR
    assert found.loss == pytest.approx(loss(found.output))


@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_linear_programme_stays_overgenerating_with_slack_scaling(seed):
    K, y = made(seed)
    loss, oracle = ExampleLoss(PairwiseLoss(), np.array(y)), make_oracle("lp")
    most = best_of_all(6, objective(K, y, lambda a, b: PairwiseLoss()(a, b), "slack", 1))
    scores = PairScores(6, matrix=K)
    found = oracle.separate(scores, loss, SCALED)
    gain = oracle.score(scores, found.output) - oracle.score(scores, np.array(y))
    assert found.loss * (1.0 + gain) >= most - 1e-4 * (1.0 + most)
    assert found.loss * (1.0 + gain) <= found.bound * (1.0 + 1e-4) + 1e-4
    assert found.loss == pytest.approx(loss(found.output), abs=1e-6)
    assert oracle.kind_for(SCALED) == "overgenerating"


@pytest.mark.parametrize("name", ["spectral", "centred", "discrete", "discrete_centred"])
@given(seed=SEEDS)
@settings(max_examples=12, deadline=None)
def test_spectral_searches_with_slack_scaling(name, seed):
    K, y = made(seed)
    truth, k = np.array(y), max(y) + 1
    loss, oracle, scores = ExampleLoss(NormalisedLoss(), truth), make_oracle(name), PairScores(6, matrix=K)
    others = [np.array(other) for other in all_partitions(6) if max(other) + 1 == k]
    base = kmeans.objective(K, truth)
    most = max(loss(other) * (1.0 + kmeans.objective(K, other) - base) for other in others)
    found = oracle.separate(scores, loss, SCALED)
    B = found.coefficients.factor
    B = B.toarray() if hasattr(B, "toarray") else B
    need = found.loss * (1.0 + float(np.sum(B * (K @ B))) - base)
    if oracle.exactness == "overgenerating":
        assert need >= most - 1e-6 * (1.0 + abs(most))
        assert need <= found.bound * (1.0 + NEAR) + NEAR
        Y = loss.factor.toarray()
        assert found.loss == pytest.approx(100.0 * (1.0 - np.sum((Y.T @ B) ** 2) / k), abs=1e-6)
    else:
        assert -NEAR <= need <= most + NEAR
        assert found.bound is None


@pytest.mark.parametrize("oracle", ["greedy", "loopy_bp", "combine", "exact", "linear_program", "graph_cut"])
def test_labelings_with_slack_scaling(oracle):
    rng = np.random.default_rng(7)
    V, n = 5, 40
    unary, phi = 0.7 * rng.normal(size=(n, V)), 0.7 * rng.normal(size=(V, V))
    phi = np.triu(phi, 1) + np.triu(phi, 1).T
    truth, step = rng.integers(0, 2, (n, V)), 20.0
    relaxed = oracle in ("linear_program", "graph_cut")
    found, bounds = search_most_slack(
        lambda u: getattr(mrf, oracle)(u, phi), unary, phi, truth, step, relaxed
    )
    pairs = phi[np.triu_indices(V, 1)]
    for i in range(n):
        base = mrf.score(unary[i], phi, truth[i])
        everything = [np.array(y) for y in product([0, 1], repeat=V)]
        need = [
            step * np.abs(y - truth[i]).sum() * (1.0 + mrf.score(unary[i], phi, y) - base) for y in everything
        ]
        most = max(*need, 0.0)
        loss = step * np.abs(found.nodes[i] - truth[i]).sum()
        mine = loss * (1.0 + float(found.nodes[i] @ unary[i] + found.edges[i] @ pairs) - base)
        assert most <= bounds[i] * (1.0 + NEAR) + NEAR or oracle in ("greedy", "loopy_bp", "combine")
        if relaxed:
            assert mine >= most - 1e-6 * (1.0 + most)
        else:
            assert -NEAR <= mine <= most + NEAR


def small_problem(oracle: str) -> ClusteringProblem:
    rng = np.random.default_rng(3)
    sets, labels = [], []
    for _ in range(4):
        y = rng.integers(0, 3, 6)
        a, b = np.triu_indices(6, 1)
        same = (y[a] == y[b]) + 0.8 * rng.normal(size=len(a))
        sets.append(ItemSet(pairs=np.column_stack([same, np.ones(len(a))])))
        labels.append(y)
    return ClusteringProblem(sets, labels, oracle=oracle)


def test_the_certificate_of_slack_scaling_holds_the_true_optimum():
    result = ssvm.fit(small_problem("exact"), C=10.0, scaling="slack", rtol=1e-5)
    certificate = result.certificate
    assert certificate.oracle_kind == "undergenerating"
    assert certificate.upper is not None
    problem, w = small_problem("exact"), result.w
    slacks = []
    for i in range(4):
        truth = problem.joint_feature(i, problem.truth(i)) @ w
        needs = [
            SlackRule("slack").violation(
                problem.loss(i, np.array(y)), problem.joint_feature(i, np.array(y)) @ w - truth
            )
            for y in all_partitions(6)
        ]
        slacks.append(max(needs))
    true = 0.5 * w @ w + 10.0 * float(np.mean(slacks))
    assert certificate.lower <= true <= certificate.upper * (1.0 + 1e-9)
    margin = ssvm.fit(small_problem("exact"), C=10.0).certificate
    assert margin.oracle_kind == "exact"


def test_the_relaxation_keeps_its_upper_end_with_slack_scaling():
    certificate = ssvm.fit(small_problem("lp"), C=10.0, scaling="slack", rtol=1e-3).certificate
    assert certificate.oracle_kind == "overgenerating"
    assert certificate.lower is None
    assert certificate.upper is not None


def test_a_forest_of_many_labels_is_learned_with_slack_scaling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    Y = (X @ rng.normal(size=(4, 22)) + 0.1 * rng.normal(size=(12, 22)) > 0).astype(int)
    problem = MultiLabelProblem(X, Y, edges="tree")
    result = ssvm.fit(problem, C=1.0, scaling="slack", rtol=0.05)
    assert result.certificate.oracle_kind == "undergenerating"
    assert result.certificate.upper is not None
    assert result.certificate.upper >= result.objective - 1e-9
    assert math.isfinite(result.certificate.upper)
    assert (problem.predict(X, result.w) == Y).mean() > 0.9
