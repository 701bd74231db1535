"""Smoothed training comes to the optimum of the cutting planes, and keeps the engine's promises."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import LinearConstraint
from sklearn.exceptions import ConvergenceWarning

from clustruct import ItemSet, ssvm
from clustruct.data.datasets import make_synth
from clustruct.learning.problems import ClusteringProblem, MulticlassProblem, Units
from clustruct.search.oracles import kmeans_oracles


def problem(oracle="spectral", item_mean=False):
    X, y = make_synth(3, n_clusters=3, cluster_size=5, region_size=6, active=2, random_state=0)
    units = Units.of_means(X, "kmeans") if item_mean else None
    return ClusteringProblem(X, y, oracle=oracle, units=units)


@pytest.mark.parametrize("oracle", ["spectral", "centred"])
@pytest.mark.parametrize("item_mean", [False, True])
@pytest.mark.parametrize("constraints", [None, "nonnegative"])
def test_same_optimum_as_cutting_planes(oracle, item_mean, constraints):
    C = 20.0 if item_mean else 1.0
    options = {"rtol": 1e-4, "constraints": constraints}
    smooth = ssvm.fit(problem(oracle, item_mean=item_mean), C, formulation="smoothed", **options)
    planes = ssvm.fit(problem(oracle, item_mean=item_mean), C, formulation="n_slack", **options)
    assert smooth.stop_reason == planes.stop_reason == "converged"
    # Each bound of the one holds for the other.
    assert smooth.dual <= planes.objective * (1 + 1e-9)
    assert planes.dual <= smooth.objective * (1 + 1e-9)
    assert smooth.objective == pytest.approx(planes.objective, rel=2e-4)
    if constraints:
        assert (smooth.w >= 0).all()


@pytest.mark.parametrize("oracle", ["spectral", "centred"])
def test_large_sets_come_to_the_same_optimum_by_leading_eigenvectors(oracle, monkeypatch):
    """Sets that are only multiplied with, and smoothed over 12 of 210 eigenvectors."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 70)
    x = ItemSet(np.eye(3)[y] @ rng.normal(size=(3, 8)) + rng.normal(size=(210, 8)))
    found = []
    for limit in (500, 200):
        monkeypatch.setattr(kmeans_oracles, "SOFT_LIMIT", limit)
        task = ClusteringProblem([x], [y], oracle=oracle)
        assert task.preferred_formulation == "smoothed"
        found.append(ssvm.fit(task, 0.01, rtol=5e-3))
        assert (task._soft_start[0] is None) == (limit == 500)
    every, few = found
    assert every.converged
    assert few.converged
    assert few.objective == pytest.approx(every.objective, rel=1e-2)
    assert few.dual <= every.objective * (1 + 1e-9)
    assert every.dual <= few.objective * (1 + 1e-9)


def test_prior_and_weights():
    prior = np.full(36, 0.1)
    options = {"prior": prior, "sample_weight": [1.0, 0.0, 2.0], "rtol": 1e-4}
    smooth = ssvm.fit(problem(), 1.0, formulation="smoothed", **options)
    planes = ssvm.fit(problem(), 1.0, formulation="n_slack", **options)
    assert smooth.objective == pytest.approx(planes.objective, rel=2e-4)


def test_auto_is_what_the_problem_prefers():
    assert problem().preferred_formulation == "smoothed"
    assert problem("discrete").preferred_formulation == "n_slack"
    auto, named = (ssvm.fit(problem(), 10.0, formulation=f) for f in ("auto", "smoothed"))
    np.testing.assert_array_equal(auto.w, named.w)


def test_auto_gives_way_to_linear_constraints():
    rows = LinearConstraint(np.ones((1, 36)), lb=0.0)
    assert ssvm.fit(problem(), 0.1, constraints=rows, rtol=0.1).w.sum() >= -1e-9


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: MulticlassProblem([[1.0], [2.0]], [0, 1]), {}, "has no smoothed oracle"),
        (problem, {"constraints": LinearConstraint(np.ones((1, 36)), lb=0.0)}, "linear constraints"),
        (lambda: problem("iterative"), {"scaling": "slack"}, "margin scaling"),
        (lambda: problem("iterative"), {}, "ClusteringProblem has no smoothed oracle"),
    ],
)
def test_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        ssvm.fit(make(), 1.0, formulation="smoothed", **options)


def test_workers_do_not_change_the_answer():
    one, two = (ssvm.fit(problem(), 100.0, formulation="smoothed", n_jobs=j).w for j in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_warm_start_is_taken_up():
    earlier = ssvm.fit(problem(), 100.0, formulation="smoothed", rtol=1e-3)
    again = ssvm.fit(problem(), 100.0, formulation="smoothed", rtol=1e-3, w0=earlier)
    assert again.oracle_calls < earlier.oracle_calls / 2
    assert again.gap <= 1e-3 * again.objective


def test_limits_and_interrupt():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        short = ssvm.fit(problem(), 1e4, formulation="smoothed", max_iter=5)
    assert len(short.history) == 5
    assert short.dual <= short.objective

    def stop(entry):
        if entry.iteration == 4:
            raise KeyboardInterrupt

    cut = ssvm.fit(problem(), 1e4, formulation="smoothed", callback=stop)
    assert cut.stop_reason == "interrupted"
    assert np.isfinite(cut.objective)
    assert cut.w.any()


def test_checkpoint_is_taken_up(tmp_path):
    path = tmp_path / "run.ckpt"
    with pytest.warns(ConvergenceWarning):
        first = ssvm.fit(problem(), 100.0, max_iter=30, rtol=1e-6, checkpoint=path)
    second = ssvm.fit(problem(), 100.0, rtol=1e-6, checkpoint=path)
    assert second.dual >= first.dual * (1 - 1e-9)
    assert second.stop_reason == "converged"


def test_primal_and_dual_move_the_right_way():
    history = ssvm.fit(problem(), 1e3, formulation="smoothed").history
    assert all(b.primal <= a.primal for a, b in pairwise(history))
    assert all(e.dual <= e.primal for e in history)
