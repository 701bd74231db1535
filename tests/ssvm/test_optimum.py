"""Every combination reaches the optimum of its quadratic programme (OP 4-9)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint

from clustruct import ssvm
from clustruct.ssvm.solvers import NSlack
from tests.reference import structural_svm as slow

# Random data: w = 0 is the optimum of some.
pytestmark = pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")

COMBINATIONS = [
    ("n_slack", "margin", 1),
    ("n_slack", "slack", 1),
    ("n_slack", "margin", 2),
    ("n_slack", "slack", 2),
    ("one_slack", "margin", 1),
    ("one_slack", "slack", 1),
]
TIGHT = {"epsilon": 1e-8, "rtol": 1e-7}


@pytest.fixture(params=["gram", "pool"])
def solver(request):
    """The solver of a formulation; n-slack training with each of its two stores of planes."""

    def make(formulation="n_slack"):
        return NSlack(store=request.param) if formulation == "n_slack" else formulation

    return make


@pytest.mark.parametrize(("formulation", "scaling", "norm"), COMBINATIONS)
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_six_combinations(formulation, scaling, norm, C, solver):
    for seed in range(3):
        problem = slow.random_problem(seed)
        w, value = slow.solve(problem, C, scaling, norm)
        result = ssvm.fit(
            problem, C, formulation=solver(formulation), scaling=scaling, slack_norm=norm, **TIGHT
        )
        assert result.converged
        assert slow.objective(problem, result.w, C, scaling, norm) == pytest.approx(value, rel=1e-5)
        assert result.objective == pytest.approx(
            slow.objective(problem, result.w, C, scaling, norm), rel=1e-9
        )
        np.testing.assert_allclose(result.w, w, atol=2e-3)
        assert result.dual <= value * (1 + 1e-6)


@pytest.mark.parametrize("scaling", ["margin", "slack"])
def test_one_slack_equals_n_slack(scaling):
    """Theorem 5."""
    problem = slow.random_problem(7, n=30, outputs=6, features=8)
    one, many = (
        ssvm.fit(problem, 20.0, formulation=f, scaling=scaling, **TIGHT) for f in ("one_slack", "n_slack")
    )
    assert one.objective == pytest.approx(many.objective, rel=1e-6)
    np.testing.assert_allclose(one.w, many.w, atol=1e-3)


def test_pool_equals_gram():
    problem = slow.random_problem(3, n=40, outputs=5, features=6)
    for norm in (1, 2):
        gram, pool = (
            ssvm.fit(problem, 10.0, slack_norm=norm, formulation=NSlack(store=store), **TIGHT)
            for store in ("gram", "pool")
        )
        assert pool.objective == pytest.approx(gram.objective, rel=1e-7)
        named = ssvm.fit(problem, 10.0, slack_norm=norm, formulation="n_slack", **TIGHT)
        np.testing.assert_array_equal(named.w, gram.w)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_weights_are_repetitions(formulation, solver):
    problem = slow.random_problem(1, n=3)
    again = [0, 0, 1, 2, 2, 2]
    repeated = slow.Enumerated(problem.psi[again], problem.losses[again])
    weighted = ssvm.fit(problem, 5.0, sample_weight=[2, 1, 3], formulation=solver(formulation), **TIGHT)
    listed = ssvm.fit(repeated, 5.0, formulation=solver(formulation), **TIGHT)
    assert weighted.objective == pytest.approx(listed.objective, rel=1e-7)
    np.testing.assert_allclose(weighted.w, listed.w, atol=1e-4)


@pytest.mark.parametrize("slack_norm", [1, 2])
def test_weight_zero_leaves_an_example_out(solver, slack_norm):
    problem = slow.random_problem(1, n=4)
    rest = slow.Enumerated(problem.psi[1:], problem.losses[1:])
    settings = {**TIGHT, "slack_norm": slack_norm}
    without = ssvm.fit(problem, 5.0, sample_weight=[0, 1, 1, 1], formulation=solver(), **settings)
    alone = ssvm.fit(rest, 5.0, **settings)
    assert without.objective == pytest.approx(alone.objective, rel=1e-7)
    assert without.certificate.lower == pytest.approx(alone.certificate.lower, rel=1e-7)
    assert without.n_iter < 100


@pytest.mark.parametrize("slack_norm", [1, 2])
def test_planes_of_an_example_that_no_longer_counts_say_nothing(solver, slack_norm):
    """Weights may become zero, and come back, between one fit and the next that starts from it."""
    for seed in range(5):
        problem = slow.random_problem(seed, n=6)
        settings = {**TIGHT, "slack_norm": slack_norm, "formulation": solver()}
        every, some = (ssvm.fit(problem, 5.0, sample_weight=v, **settings) for v in ([1] * 6, [0, 1, 1] * 2))
        fewer = ssvm.fit(problem, 5.0, sample_weight=[0, 1, 1] * 2, w0=every, **settings)
        again = ssvm.fit(problem, 5.0, w0=some, **settings)
        assert fewer.objective == pytest.approx(some.objective, rel=1e-6)
        assert again.objective == pytest.approx(every.objective, rel=1e-6)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("C", [1.0, 50.0])
def test_nonnegative_weights(formulation, C, solver):
    for seed in range(3):
        problem = slow.random_problem(seed)
        w, value = slow.solve(problem, C, lower=0.0)
        result = ssvm.fit(problem, C, constraints="nonnegative", formulation=solver(formulation), **TIGHT)
        assert result.w.min() >= 0.0
        assert result.objective == pytest.approx(value, rel=1e-5)
        np.testing.assert_allclose(result.w, w, atol=2e-3)
        same = ssvm.fit(problem, C, constraints=Bounds(0.0, np.inf), formulation=solver(formulation), **TIGHT)
        assert same.objective == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_linear_constraints(formulation, solver):
    rng = np.random.default_rng(0)
    for seed in range(3):
        problem = slow.random_problem(seed)
        rows = rng.normal(size=(3, problem.n_features))
        least = np.array([0.5, 1.0, -0.2])
        _, value = slow.solve(problem, 10.0, rows=rows, least=least)
        kept = LinearConstraint(rows, least, np.inf)
        result = ssvm.fit(problem, 10.0, constraints=kept, formulation=solver(formulation), **TIGHT)
        assert np.all(rows @ result.w >= least - 1e-8)
        assert result.objective == pytest.approx(value, rel=1e-5)


def test_bounds_and_rows_together(solver):
    problem = slow.random_problem(4)
    rows, least = np.ones((1, problem.n_features)), np.array([2.0])
    _, value = slow.solve(problem, 10.0, rows=rows, least=least, lower=0.0)
    conditions = ["nonnegative", LinearConstraint(rows, least)]
    result = ssvm.fit(problem, 10.0, constraints=conditions, formulation=solver(), max_iter=3000, **TIGHT)
    assert result.w.min() >= 0.0
    assert rows @ result.w >= least - 1e-8
    assert result.objective == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_prior(formulation, solver):
    problem = slow.random_problem(5)
    prior = np.linspace(-1, 1, problem.n_features)
    _, value = slow.solve(problem, 2.0, prior=prior)
    result = ssvm.fit(problem, 2.0, prior=prior, formulation=solver(formulation), **TIGHT)
    assert result.objective == pytest.approx(value, rel=1e-6)
    tiny = ssvm.fit(problem, 1e-9, prior=prior, formulation=solver(formulation))
    np.testing.assert_allclose(tiny.w, prior, atol=1e-6)


def test_upper_bounds_hold_exactly(solver):
    problem = slow.random_problem(6)
    result = ssvm.fit(problem, 50.0, constraints=Bounds(-0.1, 0.2), formulation=solver(), **TIGHT)
    assert result.w.min() >= -0.1
    assert result.w.max() <= 0.2
    for _ in range(200):
        other = np.random.default_rng(_).uniform(-0.1, 0.2, problem.n_features)
        assert slow.objective(problem, other, 50.0) >= result.objective * (1 - 1e-7)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    C=st.floats(1e-3, 1e4),
    which=st.sampled_from(COMBINATIONS),
    scale=st.floats(1e-2, 30.0),
)
def test_gap_is_never_negative_and_closes(seed, C, which, scale):
    """Whatever the scale of features and C, the certificate brackets the truth."""
    formulation, scaling, norm = which
    problem = slow.random_problem(seed)
    problem.psi = problem.psi * scale
    result = ssvm.fit(problem, C, formulation=formulation, scaling=scaling, slack_norm=norm, max_iter=5000)
    duals = [h.dual for h in result.history]
    assert result.converged
    assert result.gap >= -1e-9 * abs(result.objective)
    assert result.gap <= 1.01e-3 * result.objective + 2e-6 * C
    assert np.all(np.diff(duals) >= -1e-9 * np.abs(duals[1:]))
    true = slow.objective(problem, result.w, C, scaling, norm)
    assert result.objective == pytest.approx(true, rel=1e-7, abs=1e-11 * C)
    assert result.certificate.lower <= true * (1 + 1e-7) + 1e-11 * C


def test_mean_loss_is_bounded_by_the_certificate():
    for scaling, norm in (("margin", 1), ("slack", 1), ("margin", 2), ("slack", 2)):
        problem = slow.random_problem(11, n=20)
        result = ssvm.fit(problem, 3.0, scaling=scaling, slack_norm=norm)
        predicted = [int(np.argmax(problem.psi[i] @ result.w)) for i in range(20)]
        mean_loss = np.mean([problem.losses[i, y] for i, y in enumerate(predicted)])
        assert mean_loss <= result.certificate.training_loss + 1e-9
