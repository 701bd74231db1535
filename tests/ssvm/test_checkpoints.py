"""Checkpoints: a run that was cut short goes on, and a file of anything else is refused by name."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint
from sklearn.exceptions import ConvergenceWarning

from clustruct import ItemSet, load, ssvm
from clustruct.core.exceptions import ModelFileError
from clustruct.learning.problems import BinaryProblem, ClusteringProblem, MulticlassProblem
from clustruct.papers.multilabel import MultiLabelProblem
from clustruct.ssvm.solvers import NSlack
from tests.reference import structural_svm as slow

SLEEPY = """
import sys, time
import numpy as np
from clustruct import ssvm
from clustruct.ssvm.checkpoint import Checkpoint
from tests.reference import structural_svm as slow

problem = slow.random_problem(2, n={n}, outputs=10, features=20)
fast = problem.separate
def sleepy(i, w, rule):
    time.sleep(0.0005)
    return fast(i, w, rule)
problem.separate = sleepy
Checkpoint.every = 0.05
options = dict(formulation="{formulation}", rtol=1e-7, epsilon=1e-9, cache_size=0)
ssvm.fit(problem, 50.0, checkpoint=sys.argv[1], **options)
"""


@pytest.mark.parametrize(("formulation", "n"), [("n_slack", 100), ("n_slack", 30), ("one_slack", 100)])
def test_a_killed_run_resumes(tmp_path, formulation, n):
    path = tmp_path / "run"
    code = SLEEPY.format(formulation=formulation, n=n)
    child = subprocess.Popen([sys.executable, "-c", code, str(path)])
    deadline = time.time() + 60
    while not path.exists() and child.poll() is None and time.time() < deadline:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    problem = slow.random_problem(2, n=n, outputs=10, features=20)
    options = {"formulation": formulation, "rtol": 1e-7, "epsilon": 1e-9, "cache_size": 0}
    before = load(path).history
    assert len(before) >= 1
    resumed = ssvm.fit(problem, 50.0, checkpoint=path, **options)
    fresh = ssvm.fit(problem, 50.0, **options)
    assert resumed.converged
    assert resumed.objective == pytest.approx(fresh.objective, rel=1e-6)
    assert resumed.n_iter > len(before)
    assert resumed.history[0] == before[0]
    assert np.allclose(resumed.w, fresh.w, atol=1e-3 * np.abs(fresh.w).max())
    assert list(tmp_path.iterdir()) == []


def cut_short(problem, path, rounds=2, **options):
    """A training that is stopped after some rounds and leaves its checkpoint."""
    result = ssvm.fit(problem, checkpoint=path, callback=lambda e: e.iteration == rounds, **options)
    assert result.stop_reason == "callback"
    assert path.exists()
    return result


RNG = np.random.default_rng(3)
PSI, LOSSES = RNG.normal(size=(6, 5, 4)), np.column_stack([np.zeros(6), RNG.uniform(1, 3, (6, 4))])
X, Y = RNG.normal(size=(12, 3)), RNG.integers(0, 3, 12)
SETS = [ItemSet(pairs=RNG.normal(size=(10, 3))) for _ in range(4)]
LABELS = [RNG.integers(0, 3, 5) for _ in range(4)]
OTHER_SETS = [*SETS[:-1], ItemSet(pairs=SETS[-1].pairs + 1e-9)]
OTHER_LABELS = [*LABELS[:-1], np.arange(5)]
BITS = (RNG.normal(size=(12, 3)) > 0).astype(int)


def changed(array, by=1e-12):
    other = np.array(array, float)
    other[-1, -1] += by
    return other


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (MulticlassProblem(X, Y), MulticlassProblem(changed(X), Y), "not the same features"),
        (MulticlassProblem(X, Y), MulticlassProblem(X, Y[::-1]), "not the same labels"),
        (MulticlassProblem(X, Y), MulticlassProblem(X, Y, 1.5 * (1 - np.eye(3))), "not the same cost"),
        (BinaryProblem(X, Y > 1), BinaryProblem(changed(X), Y > 1), "not the same features"),
        (BinaryProblem(X, Y > 1), BinaryProblem(X, Y > 0), "not the same labels"),
        (
            BinaryProblem(sparse.csr_array(X), Y > 1),
            BinaryProblem(sparse.csr_array(2 * X), Y > 1),
            "not the same features",
        ),
        (MultiLabelProblem(X, BITS), MultiLabelProblem(changed(X), BITS), "not the same features"),
        (MultiLabelProblem(X, BITS), MultiLabelProblem(X, 1 - BITS), "not the same labels"),
        (MultiLabelProblem(X, BITS), MultiLabelProblem(X, BITS, "greedy"), "not the same oracle"),
        (ClusteringProblem(SETS, LABELS), ClusteringProblem(OTHER_SETS, LABELS), "not the same features"),
        (ClusteringProblem(SETS, LABELS), ClusteringProblem(SETS, OTHER_LABELS), "not the same labels"),
        (ClusteringProblem(SETS, LABELS), ClusteringProblem(SETS, LABELS, "purity"), "not the same loss"),
        (
            ClusteringProblem(SETS, LABELS, lambda a, b: 10.0 * abs(a.max() - b.max())),
            ClusteringProblem(SETS, LABELS, lambda a, b: 20.0 * abs(a.max() - b.max())),
            "not the same loss",
        ),
        (
            ClusteringProblem(SETS, LABELS),
            ClusteringProblem(SETS, LABELS, oracle="local_search"),
            "not the same oracle",
        ),
        (slow.Enumerated(PSI, LOSSES), slow.Enumerated(PSI + 1e-12, LOSSES), "not the same truths"),
        (slow.Enumerated(PSI, LOSSES), slow.Enumerated(PSI, 1.1 * LOSSES), "not the same first answers"),
    ],
)
def test_a_checkpoint_of_other_data_is_refused(tmp_path, first, second, named):
    """DEFECTS 3: same shapes, other data."""
    path = tmp_path / "run"
    cut_short(first, path, 1, C=5.0, rtol=1e-9)
    with pytest.raises(ValueError, match=f"belongs to another run: {named}"):
        ssvm.fit(second, 5.0, rtol=1e-9, checkpoint=path)
    assert ssvm.fit(first, 5.0, rtol=1e-9, checkpoint=path).history[0].iteration == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"C": 6.0}, "its C is 5.0, here it is 6.0"),
        ({"scaling": "slack"}, "its scaling is margin, here it is slack"),
        ({"slack_norm": 2}, "its slack_norm is 1, here it is 2"),
        ({"formulation": "one_slack"}, "its formulation is n_slack, here it is one_slack"),
        ({"formulation": NSlack(prune_after=3)}, "prune_after=20.*prune_after=3"),
        ({"rtol": 1e-4}, "its rtol is 1e-09, here it is 0.0001"),
        ({"epsilon": 1e-4}, "its epsilon is 1e-06, here it is 0.0001"),
        ({"cache_size": 4}, "its cache_size is None, here it is 4"),
        ({"random_state": 1}, "not the same random_state"),
        ({"sample_weight": [1, 1, 1, 1, 1, 2]}, "not the same sample_weight"),
        ({"constraints": "nonnegative"}, "not the same constraints"),
        ({"constraints": LinearConstraint(np.ones(4), lb=-9.0)}, "not the same constraints"),
        ({"prior": np.full(4, 0.1)}, "not the same prior"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(tmp_path, options, named):
    path, problem, usual = tmp_path / "run", slow.Enumerated(PSI, LOSSES), {"C": 5.0, "rtol": 1e-9}
    cut_short(problem, path, 1, **usual)
    with pytest.raises(ValueError, match=named):
        ssvm.fit(problem, checkpoint=path, **(usual | options))
    same = ssvm.fit(problem, checkpoint=path, max_iter=500, time_limit=99.0, n_jobs=1, **usual)
    assert same.converged


def test_every_difference_is_named(tmp_path):
    cut_short(MulticlassProblem(X, Y), tmp_path / "run", 1, C=5.0, rtol=1e-9)
    with pytest.raises(ValueError, match=r"its C is 5.0, here it is 6.0; not the same features, labels"):
        ssvm.fit(MulticlassProblem(2 * X, Y[::-1]), 6.0, rtol=1e-9, checkpoint=tmp_path / "run")


def test_it_goes_when_the_run_has_converged_and_stays_otherwise(tmp_path):
    path, problem = tmp_path / "run", slow.random_problem(2, n=8, outputs=8)
    whole = ssvm.fit(problem, 50.0, rtol=1e-8, checkpoint=path)
    assert whole.converged
    assert not path.exists()
    with pytest.warns(ConvergenceWarning):
        ssvm.fit(problem, 50.0, rtol=1e-8, max_iter=2, checkpoint=path)
    assert len(load(path).history) == 2
    again = ssvm.fit(problem, 50.0, rtol=1e-8, checkpoint=path)
    assert again.objective == pytest.approx(whole.objective, rel=1e-6)
    assert not path.exists()


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_ctrl_c_leaves_the_last_round(tmp_path, formulation):
    path, problem = tmp_path / "run", slow.random_problem(2, n=8, outputs=8)

    def stop(entry):
        if entry.iteration == 3:
            raise KeyboardInterrupt

    options = {"C": 50.0, "rtol": 1e-8, "formulation": formulation, "checkpoint": path}
    assert ssvm.fit(problem, callback=stop, **options).stop_reason == "interrupted"
    assert len(load(path).history) == 3
    assert ssvm.fit(problem, **options).converged


def test_a_problem_of_ones_own_may_say_what_it_is(tmp_path):
    """Then its oracle is not asked beforehand."""

    class Named(slow.Enumerated):
        name, calls = "a", 0

        def identity(self):
            return {"name": self.name}

        def separate(self, i, w, rule):
            self.calls += 1
            return super().separate(i, w, rule)

    problem = Named(PSI, LOSSES)
    result = cut_short(problem, tmp_path / "run", 1, C=5.0, rtol=1e-9)
    assert problem.calls == result.oracle_calls
    problem.name = "b"
    with pytest.raises(ValueError, match="not the same name"):
        ssvm.fit(problem, 5.0, rtol=1e-9, checkpoint=tmp_path / "run")


def test_what_is_no_checkpoint_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "run"
    for content in (b"not a checkpoint", b"", pickle.dumps({})):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="run is not a readable checkpoint"):
            ssvm.fit(slow.random_problem(0), 5.0, checkpoint=path)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]
