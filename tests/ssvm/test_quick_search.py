"""A problem with a quick search beside a thorough one: no training ends on the word of the quick one."""

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.core.kernels import Kernel
from clustruct.ssvm import JoblibExecutor
from clustruct.ssvm.solvers.base import THOROUGH_EVERY
from tests.reference import structural_svm as slow
from tests.ssvm.test_kernels import KernelMulticlass


class Hasty(slow.Enumerated):
    """Its quick search looks at the first outputs only (of one: at the truth); the thorough one at all."""

    parallel_backend = "threads"

    def __init__(self, psi, losses, seen, quick=True):
        super().__init__(psi, losses)
        self.oracle_kind = "undergenerating"
        self.seen, self.quick, self.calls = seen, quick, {"quick": 0, "thorough": 0}

    def is_quick(self, rule):
        return self.quick

    def separate(self, i, w, rule):
        self.calls["quick"] += 1
        gains = (self.psi[i, : self.seen] - self.psi[i, 0]) @ w
        return int(np.argmax(rule.violation(self.losses[i, : self.seen], gains)))

    def separate_thoroughly(self, i, w, rule):
        self.calls["thorough"] += 1
        return super().separate(i, w, rule)


def hasty(seed, seen, n=4, outputs=8):
    base = slow.random_problem(seed, n=n, outputs=outputs)
    return base, Hasty(base.psi, base.losses, seen)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("scaling", ["margin", "slack"])
@pytest.mark.parametrize("seen", [1, 4])
@pytest.mark.parametrize("n", [1, 7, 80])
def test_it_comes_to_the_optimum_of_all_constraints(formulation, scaling, seen, n):
    base, problem = hasty(n, seen, n)
    options = {"formulation": formulation, "scaling": scaling, "rtol": 1e-4, "epsilon": 0.0}
    exact = ssvm.fit(base, 5.0, **options)
    found = ssvm.fit(problem, 5.0, **options)
    assert found.converged
    assert 0.0 <= found.gap <= 1e-4 * found.objective
    assert found.objective == pytest.approx(exact.objective, rel=3e-4)
    # What is reported is the value over all outputs, not over those that the quick search sees.
    assert found.objective >= slow.objective(base, found.w, 5.0, scaling) * (1.0 - 1e-9)
    assert problem.calls["quick"] > 0
    assert found.oracle_calls == sum(problem.calls.values())


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_a_limit_ends_with_a_value_that_is_sure(formulation):
    base, problem = hasty(3, seen=2)
    with pytest.warns(match="max_iter"):
        found = ssvm.fit(problem, 50.0, formulation=formulation, max_iter=2)
    assert problem.calls["thorough"] > 0
    assert found.objective >= slow.objective(base, found.w, 50.0) * (1.0 - 1e-9)


def test_where_the_quick_search_is_good_the_thorough_one_is_asked_now_and_then():
    _, problem = hasty(5, seen=8, n=2)
    found = ssvm.fit(problem, 1e4, rtol=1e-6, formulation="n_slack")
    rounds = problem.calls["quick"] // 2
    assert found.converged
    assert 0 < problem.calls["thorough"] // 2 <= 2 + rounds // (THOROUGH_EVERY - 1)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_a_problem_that_is_not_quick_is_asked_once(formulation):
    base = slow.random_problem(2, outputs=8)
    problem = Hasty(base.psi, base.losses, seen=8, quick=False)
    found, plain = (ssvm.fit(p, 5.0, formulation=formulation) for p in (problem, base))
    assert problem.calls["thorough"] == 0
    np.testing.assert_array_equal(found.w, plain.w)
    assert found.oracle_calls == plain.oracle_calls


def test_in_parallel_as_one_after_another():
    _, first = hasty(4, seen=3, n=20)
    _, second = hasty(4, seen=3, n=20)
    one = ssvm.fit(first, 5.0)
    other = ssvm.fit(second, 5.0, executor=JoblibExecutor(2))
    np.testing.assert_array_equal(one.w, other.w)


class HastyKernel(KernelMulticlass):
    oracle_kind = "undergenerating"

    def is_quick(self, rule):
        return True

    def separate(self, i, w, rule):
        return self.truth(i)

    def separate_thoroughly(self, i, w, rule):
        return super().separate(i, w, rule)


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_with_a_kernel_too(formulation):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = (X[:, 0] > 0.2).astype(int)
    options = {"kernel": Kernel("linear"), "formulation": formulation}
    found, exact = (ssvm.fit(kind(X, y), 3.0, **options) for kind in (HastyKernel, KernelMulticlass))
    assert found.converged
    assert found.objective == pytest.approx(exact.objective, rel=3e-3)
