"""Solvers are looked up by name, say what they need, and are refused before any work."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from clustruct import ssvm
from clustruct.core.kernels import Kernel
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm import Planes
from clustruct.ssvm.solvers import SOLVERS, NSlack, OneSlack, Smoothed, Solver
from tests.reference import structural_svm as slow


class Subgradient(Solver):
    """A solver of one's own: plain subgradient steps, judged by the planes of all of them."""

    name = "subgradient"

    def missing(self, task):
        return f"{type(task.problem).__name__} has more than 9 examples" if len(task.weights) > 9 else None

    def planes(self, task):
        return OneSlack().planes(task)

    def solve(self, run, start):
        task, separate, planes, progress = run.task, run.separate, run.planes, run.progress
        best = ssvm.Incumbent(start)
        w = start
        while not progress.stop_reason:
            risk, gradient, b = 0.0, np.zeros_like(w), 0.0
            for found in separate(task.examples, w):
                share = task.weights[found.indices]
                risk += float(share @ found.violation)
                gradient += found.batch.combine(share)
                b += float(share @ found.batch.losses)
            value = ssvm.Incumbent(w, planes.half_norm(w) + task.C * risk, risk)
            best = best.better_of(value, planes.dual)
            planes.add(gradient[None], np.array([b]), np.zeros(1, np.intp))
            planes.solve()
            progress.judge(best.primal, planes.dual)
            progress.record(best, planes)
            w = w - (w - task.C * gradient) / (len(progress.history) + 1)
        return best


def test_a_solver_of_ones_own(monkeypatch):
    problem = slow.random_problem(1)
    expected = ssvm.fit(problem, 2.0, rtol=1e-6).objective
    given = ssvm.fit(problem, 2.0, formulation=Subgradient(), rtol=0.02, max_iter=5000)
    assert given.objective == pytest.approx(expected, rel=0.03)
    assert given.certificate.lower <= expected * (1 + 1e-9)
    monkeypatch.setitem(SOLVERS, "subgradient", Subgradient)
    named = ssvm.fit(problem, 2.0, formulation="subgradient", rtol=0.02, max_iter=5000)
    np.testing.assert_array_equal(named.w, given.w)
    with pytest.raises(ValueError, match="'subgradient' is not possible here: Enumerated has more than 9"):
        ssvm.fit(slow.random_problem(1, n=10), formulation="subgradient")
    with pytest.raises(ValueError, match="'smoothed' or 'subgradient', not 'newton'"):
        ssvm.fit(problem, formulation="newton")


def test_names():
    assert {name: kind.name for name, kind in SOLVERS.items()} == {name: name for name in SOLVERS}
    assert set(SOLVERS) == {"n_slack", "one_slack", "smoothed"}
    with pytest.raises(ValueError, match="store must be 'auto', 'gram' or 'pool', not 'disk'"):
        NSlack(store="disk")
    with pytest.raises(TypeError, match="abstract"):
        Solver()


class Untouched(slow.Enumerated):
    """Fails when it is asked anything but its size."""

    can_smooth = True

    def truth(self, i):
        raise AssertionError("work was begun")

    separate = truth

    def separate_smoothly(self, i, w, mu):
        raise AssertionError("work was begun")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "one_slack", "slack_norm": 2}, "square of the mean slack is not the mean"),
        ({"formulation": OneSlack(), "slack_norm": 2}, "formulation='one_slack' is not possible here"),
        ({"formulation": "smoothed", "scaling": "slack"}, "it needs margin scaling and slack_norm=1"),
        ({"formulation": Smoothed(), "kernel": Kernel()}, "it works without a kernel"),
        (
            {"formulation": "smoothed", "constraints": LinearConstraint(np.ones((1, 5)), 0.0)},
            "linear constraints do not go with it",
        ),
        ({"kernel": Kernel(), "prior": np.zeros(5)}, "with a kernel there is no weight vector"),
    ],
)
def test_what_is_missing_is_named_before_any_work(options, message):
    base = slow.random_problem(0)
    with pytest.raises(ValueError, match=message):
        ssvm.fit(Untouched(base.psi, base.losses), **options)


class Wrapping(ssvm.BatchProblem):
    """A batch problem with an attribute called ``problem`` that is none of the engine's business."""

    oracle_kind = "exact"

    def __init__(self, X, y):
        self._inner = MulticlassProblem(X, y)
        self.n_examples, self.n_features = self._inner.n_examples, self._inner.n_features
        self.problem = "choose a class"

    def separate_batch(self, indices, w, rule):
        return self._inner.separate_batch(indices, w, rule)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_attribute_called_problem_makes_no_adapter(formulation, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    options = {"formulation": formulation, "n_jobs": n_jobs}
    np.testing.assert_array_equal(
        ssvm.fit(Wrapping(X, y), 5.0, **options).w, ssvm.fit(MulticlassProblem(X, y), 5.0, **options).w
    )
    with pytest.raises(ValueError, match="Wrapping has no smoothed oracle"):
        ssvm.fit(Wrapping(X, y), formulation="smoothed")


# --- warm starts ------------------------------------------------------------------------------


@pytest.mark.parametrize("store", ["gram", "pool"])
def test_planes_may_be_given(store):
    """All constraints of a tiny problem as planes: the first round finds nothing more."""
    problem = slow.random_problem(2)
    vectors = (problem.psi[:, :1] - problem.psi[:, 1:]).reshape(-1, 5)
    group = np.repeat(np.arange(4), 3)
    planes = Planes(vectors, problem.losses[:, 1:].ravel(), group, np.zeros(12))
    cold = ssvm.fit(problem, 5.0, formulation=NSlack(store=store), rtol=1e-6)
    warm = ssvm.fit(problem, 5.0, formulation=NSlack(store=store), rtol=1e-6, w0=planes)
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    assert warm.oracle_calls < cold.oracle_calls
    again = ssvm.fit(problem, 5.0, formulation=NSlack(store=store), rtol=1e-6, w0=warm.planes)
    assert again.n_iter <= 2


def test_planes_go_from_store_to_store():
    problem = slow.random_problem(3, n=20)
    pool = ssvm.fit(problem, 5.0, formulation=NSlack(store="pool"), rtol=1e-6)
    gram = ssvm.fit(problem, 5.0, formulation=NSlack(store="gram"), rtol=1e-6, w0=pool)
    back = ssvm.fit(problem, 5.0, formulation=NSlack(store="pool"), rtol=1e-6, w0=gram)
    assert gram.n_iter <= 2
    assert back.n_iter <= 2
    assert back.objective == pytest.approx(pool.objective, rel=2e-6)


def test_planes_of_another_problem_are_refused():
    planes = ssvm.fit(slow.random_problem(0, features=3)).planes
    with pytest.raises(ValueError, match="planes belong to a problem of another size"):
        ssvm.fit(slow.random_problem(0), w0=planes)
