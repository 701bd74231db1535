"""Cutting planes reach the optimum of any convex risk."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from clustruct import ssvm
from clustruct.ssvm import Cut, Incumbent, Risk, cutting_plane, solve_planes, weight_constraints
from clustruct.ssvm.planes import LinearPlanes
from tests.reference import structural_svm as slow


def hinges(seed=0, n=30, d=4):
    """The mean hinge of a linear classifier: value and subgradient."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.where(rng.random(n) < 0.5, 1.0, -1.0)[:, None] + 0.3

    def risk(w):
        short = 1.0 - X @ w
        return float(np.maximum(short, 0.0).mean()), -X[short > 0].sum(axis=0) / n

    return risk, X


def smooth_program(X, C, bounds=None, constraints=()):
    """The same by SLSQP over (w, xi)."""
    n, d = X.shape
    kept = [{"type": "ineq", "fun": lambda z: X @ z[:d] + z[d:] - 1.0}, *constraints]
    box = ([(None, None)] * d if bounds is None else bounds) + [(0, None)] * n
    found = minimize(
        lambda z: 0.5 * z[:d] @ z[:d] + C * z[d:].mean(),
        np.concatenate([np.zeros(d), np.ones(n)]),
        jac=lambda z: np.concatenate([z[:d], np.full(n, C / n)]),
        bounds=box,
        constraints=kept,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x[:d], found.fun


@pytest.mark.parametrize("C", [0.3, 5.0, 200.0])
def test_the_optimum_of_a_function(C):
    risk, X = hinges()
    w, value = smooth_program(X, C)
    found = cutting_plane(risk, weight_constraints(None, None, 4), C, rtol=1e-8)
    assert found.converged
    assert found.objective == pytest.approx(value, rel=1e-6)
    assert found.dual <= value * (1 + 1e-7)
    np.testing.assert_allclose(found.point, w, atol=1e-3)


def test_conditions_on_w_hold():
    risk, X = hinges(1)
    row = np.array([[1.0, -1.0, 0.0, 0.0]])
    conditions = weight_constraints([Bounds(-0.2, 0.3), LinearConstraint(row, 0.1, np.inf)], None, 4)
    above = {"type": "ineq", "fun": lambda z: row @ z[:4] - 0.1}
    _, value = smooth_program(X, 10.0, [(-0.2, 0.3)] * 4, [above])
    found = cutting_plane(risk, conditions, 10.0, rtol=1e-8)
    assert found.objective == pytest.approx(value, rel=1e-6)
    assert found.point.min() >= -0.2
    assert found.point.max() <= 0.3
    assert row @ found.point >= 0.1 - 1e-9


def test_a_prior_draws_the_weights_to_it():
    risk, _ = hinges(2)
    prior = np.array([1.0, 2.0, 3.0, 4.0])
    found = cutting_plane(risk, weight_constraints(None, prior, 4), 1e-9)
    np.testing.assert_allclose(found.point, prior, atol=1e-6)


class TwoGroups(Risk):
    """Two risks, each with a slack and a weight of its own."""

    def __init__(self, risks, weights):
        self.risks, self.weights = risks, weights

    def cut(self, point, planes):
        values, gradients = zip(*(risk(point) for risk in self.risks), strict=True)
        b = [v - g @ point for v, g in zip(values, gradients, strict=True)]
        primal = planes.half_norm(point) + self.weights @ values
        return Cut([-g for g in gradients], b, Incumbent(point, primal))


def test_two_groups_are_the_sum_of_their_risks():
    (first, _), (second, _) = hinges(3), hinges(4)
    weights = np.array([3.0, 7.0])
    conditions = weight_constraints(None, None, 4)
    groups = cutting_plane(TwoGroups([first, second], weights), conditions, weights, rtol=1e-8)

    def joined(w):
        (a, g), (b, h) = first(w), second(w)
        return 3.0 * a + 7.0 * b, 3.0 * g + 7.0 * h

    one = cutting_plane(joined, conditions, 1.0, rtol=1e-8)
    assert groups.objective == pytest.approx(one.objective, rel=1e-7)
    # Which points are asked depends on the last digits, so the number of rounds does by a few.
    assert len(groups.history) <= len(one.history) + 3
    assert set(groups.planes.group.tolist()) == {0, 1}
    assert set(groups.planes.of_group(1).group.tolist()) == {1}


def test_it_is_what_one_slack_training_does():
    problem = slow.random_problem(5, n=12)

    def mean_slack(w):
        gain = np.einsum("iyd,d->iy", problem.psi - problem.psi[:, :1], w)
        worst = np.argmax(problem.losses + gain, axis=1)
        rows = np.arange(12)
        gradient = (problem.psi[rows, worst] - problem.psi[:, 0]).mean(axis=0)
        return float((problem.losses + gain)[rows, worst].mean()), gradient

    found = cutting_plane(mean_slack, weight_constraints(None, None, 5), 3.0, rtol=1e-10)
    fitted = ssvm.fit(problem, 3.0, formulation="one_slack", epsilon=0.0, rtol=1e-10, cache_size=0)
    np.testing.assert_allclose(found.point, fitted.w, atol=1e-5)
    assert found.objective == pytest.approx(fitted.objective, rel=1e-9)
    # Both sum in another order, and an equal slack within rounding decides how far the next step goes.
    for ours, theirs in zip(found.history[:3], fitted.history, strict=False):
        assert (ours.primal, ours.dual) == pytest.approx((theirs.primal, theirs.dual), rel=1e-12)


def test_known_planes_save_rounds_and_limits_end_it():
    risk, _ = hinges(6, n=60)
    conditions = weight_constraints(None, None, 4)
    cold = cutting_plane(risk, conditions, 50.0, rtol=1e-6)
    warm = cutting_plane(risk, conditions, 50.0, rtol=1e-6, planes=cold.planes, start=cold.point)
    assert len(warm.history) < len(cold.history) / 2
    short = cutting_plane(risk, conditions, 50.0, max_iter=3)
    assert (short.stop_reason, len(short.history)) == ("max_iter", 3)
    assert short.dual <= short.objective
    stopped = cutting_plane(risk, conditions, 50.0, callback=lambda entry: "enough")
    assert (stopped.stop_reason, len(stopped.history)) == ("enough", 1)


def test_an_interrupt_keeps_the_best_point():
    risk, _ = hinges(7)
    calls = iter(range(100))

    def interrupted(w):
        if next(calls) == 5:
            raise KeyboardInterrupt
        return risk(w)

    found = cutting_plane(interrupted, weight_constraints(None, None, 4), 50.0)
    assert found.stop_reason == "interrupted"
    assert found.objective <= 50.0 * risk(np.zeros(4))[0]


def test_known_planes_alone():
    """With all planes known the QP is the whole problem."""
    rng = np.random.default_rng(0)
    vectors, b = rng.normal(size=(6, 3)), rng.uniform(0.5, 2.0, 6)
    conditions = weight_constraints(None, None, 3)

    def risk(w):
        j = int(np.argmax(b - vectors @ w))
        return max(0.0, float(b[j] - vectors[j] @ w)), -vectors[j] * (b[j] > vectors[j] @ w)

    whole = solve_planes(vectors, b, conditions, 4.0)
    found = cutting_plane(risk, conditions, 4.0, rtol=1e-9)
    assert whole.dual == pytest.approx(found.objective, rel=1e-7)
    again = solve_planes(vectors, b, conditions, 4.0, whole.a)
    np.testing.assert_allclose(again.w, whole.w, atol=1e-9)


def test_planes_added_at_once_are_those_added_one_by_one():
    rng = np.random.default_rng(0)
    vectors, b = rng.normal(size=(40, 6)), rng.normal(size=40)
    rows, lower = rng.normal(size=(3, 6)), np.full(3, -0.1)
    one, all_ = (LinearPlanes(weight_constraints(None, None, 6), np.array([2.0])) for _ in range(2))
    for vector, right in zip(vectors, b, strict=True):
        one.add_plane(vector, right, 0)
    for row, right in zip(rows, lower, strict=True):
        one.add_conditions([row], np.array([right]))
    all_.add(vectors, b, np.zeros(40, np.intp))
    all_.add_conditions(rows, lower)
    for planes in (one, all_):
        planes.solve()
        assert len(planes) == 43
        assert (rows @ planes.w >= lower - 1e-9).all()
    np.testing.assert_allclose(all_.gram, np.concatenate([vectors, rows]) @ np.concatenate([vectors, rows]).T)
    np.testing.assert_allclose(all_.w, one.w, atol=1e-9)
    assert all_.dual == pytest.approx(one.dual)


def test_no_planes_at_all_change_nothing():
    planes = LinearPlanes(weight_constraints(None, None, 2), np.array([1.0]))
    planes.add_conditions([], np.zeros(0))
    assert len(planes) == 0
    np.testing.assert_array_equal(planes.w, 0.0)
