"""The multi-label problem against an obvious twin, and what its oracles' kinds promise."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from clustruct import ssvm
from clustruct.learning.problems import BinaryProblem
from clustruct.papers.multilabel import MultiLabelProblem, make_multilabel_count
from clustruct.ssvm import SlackRule
from tests.reference import mrf as slow

MARGIN = SlackRule("margin", 1)
RULES = [SlackRule(scaling, norm) for scaling in ("margin", "slack") for norm in (1, 2)]
TIGHT = {"epsilon": 1e-8, "rtol": 1e-5}


def random_data(seed=0, n=30, d=4, V=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, V)) + 0.7 * rng.normal(size=(n, V)) > 0).astype(int)
    return X, Y, rng


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("edges", ["full", [(0, 1), (1, 3), (3, 0)], "tree", "none"])
def test_constraints_are_the_twins(form, rule, edges):
    X, Y, rng = random_data()
    problem = MultiLabelProblem(form(X), Y, edges=edges)
    twin = slow.SlowMultiLabel(X, Y, problem.edges.tolist())
    w = 3.0 * rng.normal(size=problem.n_features)
    which = np.array([3, 0, 7, 21])
    batch = problem.separate_batch(which, w, rule)
    found = [Y[i] - gap for i, gap in zip(which, batch.node_gaps, strict=True)]
    differences = np.array(
        [twin.joint_feature(i, Y[i]) - twin.joint_feature(i, y) for i, y in zip(which, found, strict=True)]
    )
    losses = np.array([twin.loss(i, y) for i, y in zip(which, found, strict=True)])
    np.testing.assert_allclose(batch.losses, losses)
    np.testing.assert_allclose(batch.margins(w), differences @ w)
    np.testing.assert_allclose(batch.margins(w.copy()), differences @ w)
    weights = rng.random(4)
    np.testing.assert_allclose(batch.combine(weights), weights @ differences, atol=1e-12)
    rows = batch.rows(np.array([2, 0]))
    np.testing.assert_allclose(rows.tocsr().toarray(), differences[[2, 0]])
    np.testing.assert_allclose(rows.scale(np.array([2.0, 3.0])).tocsr().toarray()[1], 3 * differences[0])
    for i, difference, loss in zip(which, differences, losses, strict=True):
        y = twin.separate(i, w, rule)
        gain = w @ twin.joint_feature(i, y) - w @ twin.joint_feature(i, Y[i])
        assert rule.violation(loss, -w @ difference) == pytest.approx(rule.violation(twin.loss(i, y), gain))


@pytest.mark.parametrize("oracle", ["graph_cut", "linear_program"])
def test_relaxed_constraints_reach_the_relaxed_optimum(oracle):
    X, Y, rng = random_data(1)
    problem = MultiLabelProblem(X, Y, oracle)
    w = 20.0 * rng.normal(size=problem.n_features)
    w[-6:] -= 60.0
    batch = problem.separate_batch(np.arange(30), w, MARGIN)
    unary, pairwise = problem.unary(X, w), problem.pairwise(w)
    undecided = 0
    for i in range(30):
        augmented = unary[i] + 25.0 * (1 - 2 * Y[i])
        best, _ = slow.relaxed_optima(augmented, pairwise)
        truth = slow.value(unary[i], pairwise, Y[i])
        need = best + 25.0 * Y[i].sum() - truth
        assert batch.losses[i] - batch.margins(w)[i] == pytest.approx(need)
        undecided += np.sum(np.abs(batch.node_gaps[i]) == 0.5)
    assert undecided > 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("formulation", ["one_slack", "n_slack"])
@pytest.mark.parametrize("n", [20, 80])
def test_the_optimum_is_the_twins(form, formulation, n):
    X, Y, _ = random_data(2, n=n, V=3)
    problem = MultiLabelProblem(form(X), Y)
    twin = slow.SlowMultiLabel(X, Y, problem.edges.tolist())
    expected = ssvm.fit(twin, 2.0, formulation="one_slack", rtol=1e-4)
    found = ssvm.fit(problem, 2.0, formulation=formulation, **TIGHT)
    assert found.objective == pytest.approx(expected.objective, rel=2e-4)


@pytest.mark.parametrize("rule", RULES)
def test_other_rules_train(rule):
    X, Y, _ = random_data(3, V=3)
    settings = {"scaling": rule.scaling, "slack_norm": rule.norm, "rtol": 1e-4}
    problem = MultiLabelProblem(X, Y)
    expected = ssvm.fit(slow.SlowMultiLabel(X, Y, problem.edges.tolist()), 1.0, **settings)
    assert ssvm.fit(problem, 1.0, **settings).objective == pytest.approx(expected.objective, rel=2e-4)


def test_without_edges_it_is_one_svm_per_label():
    X, Y, _ = random_data(4, n=80, V=3)
    C, step = 0.5, 100.0 / 3
    alone = sum(ssvm.fit(BinaryProblem(X, Y[:, u]), C / step, **TIGHT).objective for u in range(3))
    together = ssvm.fit(MultiLabelProblem(X, Y, edges="none"), C, **TIGHT)
    assert together.objective == pytest.approx(step**2 * alone, rel=1e-4)


def test_kinds_of_oracles_are_ordered():
    X, Y = make_multilabel_count(200, n_labels=6)
    X = np.hstack([X, np.ones((200, 1))])
    values = {
        name: ssvm.fit(MultiLabelProblem(X, Y, name), 3000.0, rtol=1e-4).objective
        for name in ("greedy", "exact", "graph_cut", "linear_program")
    }
    assert values["graph_cut"] == pytest.approx(values["linear_program"], rel=2e-4)
    assert values["greedy"] <= values["exact"] * (1 + 1e-4)
    assert values["exact"] <= values["graph_cut"] * (1 + 1e-4)


def test_relaxed_slack_bounds_the_relaxed_loss():
    """Theorem 13, and the certificate that says so."""
    X, Y, _ = random_data(5, n=100)
    problem = MultiLabelProblem(X, Y, "graph_cut")
    result = ssvm.fit(problem, 0.3)
    loss = 100.0 * np.abs(problem.predict_relaxed(X, result.w).nodes - Y).mean()
    assert loss <= result.certificate.training_loss
    assert result.certificate.lower is None


@pytest.mark.parametrize("rho", [0.9, 0.5])
def test_certified_rho_oracle_brackets_the_optimum(rho):
    X, Y, _ = random_data(6, n=80, V=3)
    optimum = ssvm.fit(MultiLabelProblem(X, Y), 1.0, **TIGHT).objective
    certificate = ssvm.fit(MultiLabelProblem(X, Y, "rho_above", rho=rho), 1.0).certificate
    assert certificate.lower <= optimum * (1 + 1e-6)
    assert certificate.upper >= optimum * (1 - 1e-6)


@pytest.mark.parametrize(
    ("oracle", "rho"), [("exact", None), ("graph_cut", None), ("rho_above", 0.9), ("rho_above", 0.5)]
)
def test_the_loss_of_the_worst_rho_predictor_is_bounded(oracle, rho):
    """Theorem 10 by enumeration: of all labelings within a share of the best score the worst."""
    X, Y, _ = random_data(7, n=40, V=4)
    every = np.array(list(product((0, 1), repeat=4)))
    problem = MultiLabelProblem(X, Y, oracle, rho=rho)
    for C in (0.1, 3.0, 100.0):
        found = ssvm.fit(problem, C, rtol=1e-2)
        unary, phi = problem.unary(problem.X, found.w), problem.pairwise(found.w)
        scores = unary @ every.T + np.einsum("yu,uv,yv->y", every, np.triu(phi, 1), every)
        losses = 100.0 * np.mean(every[None] != Y[:, None], axis=2)
        for share in (1.0, 0.95, 0.7, 0.2):
            good = scores >= share * scores.max(axis=1, keepdims=True) - 1e-9
            worst = np.where(good, losses, 0.0).max(axis=1).mean()
            assert worst <= found.certificate.training_loss_bound(share) + 1e-6
        truth = problem.truth_scores(np.arange(len(Y)), found.w)
        np.testing.assert_allclose(problem.truth_scores(np.arange(len(Y)), found.w), truth)


def test_uncertified_rho_oracle_has_no_upper_end():
    X, Y, _ = random_data(6, V=3)
    certificate = ssvm.fit(MultiLabelProblem(X, Y, "rho_below", rho=0.9), 1.0).certificate
    assert certificate.upper is None


@pytest.mark.parametrize("oracle", ["greedy", "loopy_bp", "graph_cut"])
def test_rules_without_an_oracle_are_refused(oracle):
    X, Y, _ = random_data()
    with pytest.raises(ValueError, match="no oracle for slack scaling, slack norm 2"):
        ssvm.fit(MultiLabelProblem(X, Y, oracle), 1.0, scaling="slack", slack_norm=2)
    with pytest.raises(ValueError, match="no oracle for slack scaling"):
        ssvm.fit(MultiLabelProblem(X, Y, "rho_below", rho=0.9), 1.0, scaling="slack")


def test_a_tree_of_many_labels_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, 30)) > 0).astype(int)
    problem = MultiLabelProblem(X, Y, edges="tree")
    assert len(problem.edges) <= 29
    result = ssvm.fit(problem, 10.0)
    assert np.mean(problem.predict(X, result.w) != Y) < 0.1
    with pytest.raises(ValueError, match="enumerates 2\\^30"):
        MultiLabelProblem(X, Y)
    assert not problem.supports(SlackRule("slack", 2))
    assert problem.kind_for(SlackRule("slack")) == "undergenerating"


@pytest.mark.parametrize("formulation", ["one_slack", "n_slack"])
def test_wide_sparse_input(formulation):
    """47,236 columns and 10 labels: w has 472,405 entries, the planes stay small."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((150, 47236), density=1e-3, format="csr", rng=rng)
    Y = (rng.random((150, 10)) < 0.3).astype(int)
    problem = MultiLabelProblem(X, Y, "graph_cut")
    result = ssvm.fit(problem, 1000.0, formulation=formulation, rtol=0.02)
    assert len(result.w) == 472405
    assert np.mean(problem.predict(X, result.w) != Y) < 0.01


def test_parallel_equals_serial():
    X, Y = make_multilabel_count(2100, n_labels=5)
    serial, parallel = (ssvm.fit(MultiLabelProblem(X, Y, "graph_cut"), 100.0, n_jobs=n) for n in (None, 2))
    np.testing.assert_array_equal(serial.w, parallel.w)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_an_earlier_fit_is_taken_up(form):
    """Along a grid of C each fit starts from the one before, at the same optimum and without copies."""
    X, Y = make_multilabel_count(150, n_labels=5)
    problem = MultiLabelProblem(form(X), Y)
    earlier = ssvm.fit(problem, 100.0)
    planes_before = earlier.planes.a.copy()
    warm = ssvm.fit(problem, 1000.0, w0=earlier, rtol=1e-4)
    cold = ssvm.fit(problem, 1000.0, rtol=1e-4)
    assert warm.objective == pytest.approx(cold.objective, rel=2e-4)
    assert warm.working_set.segments._data is earlier.working_set.segments._data
    np.testing.assert_array_equal(earlier.planes.a, planes_before)
    down = ssvm.fit(problem, 100.0, w0=warm, rtol=1e-4)
    assert down.objective == pytest.approx(earlier.objective, rel=2e-3)


def test_edges_help_where_labels_depend():
    """Which of five labels is on is no linear function of the features, but a joint one."""
    train, test = (make_multilabel_count(400, n_labels=5, random_state=s) for s in (1, 2))
    wrong = {}
    for edges in ("none", "full"):
        problem = MultiLabelProblem(np.hstack([train.X, np.ones((400, 1))]), train.Y, edges=edges)
        w = ssvm.fit(problem, 30000.0, rtol=1e-2).w
        wrong[edges] = np.mean(problem.predict(np.hstack([test.X, np.ones((400, 1))]), w) != test.Y)
    assert wrong["full"] < 0.6 * wrong["none"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": np.full((30, 4), 2)}, "0 and 1 only"),
        ({"Y": np.zeros(30)}, "one column per label"),
        ({"Y": np.zeros((29, 4))}, "30 rows, Y has 29"),
        ({"oracle": "magic"}, "oracle must be one of"),
        ({"edges": "some"}, "edges must be"),
        ({"edges": [(0, 9)]}, "numbered from 0 to 3"),
        ({"edges": [(1, 1)]}, "pairs of two labels"),
        ({"rho": 0.5}, "rho goes with"),
        ({"oracle": "rho_above"}, "needs rho"),
    ],
)
def test_bad_input_is_named(change, message):
    X, Y, _ = random_data()
    with pytest.raises(ValueError, match=message):
        MultiLabelProblem(**{"X": X, "Y": Y, **change})


def test_predictors_are_named():
    X, Y, rng = random_data()
    problem = MultiLabelProblem(X, Y, "rho_below", rho=0.9)
    w = rng.normal(size=problem.n_features)
    np.testing.assert_array_equal(problem.predict(X, w), problem.predict(X, w, "exact"))
    with pytest.raises(ValueError, match="predictor must be one of"):
        problem.predict(X, w, "rho_below")
    with pytest.raises(ValueError, match="relaxed predictor"):
        problem.predict_relaxed(X, w, "exact")
