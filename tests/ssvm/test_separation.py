"""Separation: wherever the oracle runs, the answer is the same."""

import pickle

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.data.datasets import make_synth
from clustruct.learning.problems import BinaryProblem, MulticlassProblem
from clustruct.papers.multilabel import MultiLabelProblem
from clustruct.ssvm import Executor, JoblibExecutor, SerialExecutor, Session, SlackRule
from tests.reference import structural_svm as slow


class Threaded(slow.Enumerated):
    parallel_backend = "threads"


class Backwards(Executor, Session):
    """Calls the oracle for the last piece first, and counts what is opened and closed."""

    def __init__(self):
        self.opened, self.closed, self.rounds = 0, 0, 0

    def open(self, problem):
        self.opened += 1
        self.problem = problem
        return self

    def separate(self, pieces, w, rule):
        self.rounds += 1
        return [self.problem.separate_batch(piece, w, rule) for piece in reversed(pieces)][::-1]

    def separate_smoothly(self, indices, w, mu):
        self.rounds += 1
        return [self.problem.separate_smoothly(int(i), w, mu) for i in reversed(indices)][::-1]

    def close(self):
        self.closed += 1


class Remote(Backwards):
    """The problem crosses a border once, at the beginning; then only pieces, w and answers do."""

    def open(self, problem):
        self.problem_size = len(pickle.dumps(problem))
        self.sent = 0
        return super().open(pickle.loads(pickle.dumps(problem)))

    def separate(self, pieces, w, rule):
        stored = pickle.dumps((pieces, w, rule))
        self.sent += len(stored)
        return pickle.loads(pickle.dumps(super().separate(*pickle.loads(stored))))


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("n", [25, 90])
def test_every_executor_gives_the_same_bits(formulation, n):
    base = slow.random_problem(3, n=n, outputs=6)
    serial = ssvm.fit(base, 10.0, formulation=formulation)
    threaded = Threaded(base.psi, base.losses)
    assert (base.parallel_backend, threaded.parallel_backend) == ("processes", "threads")
    for problem, executor in (
        (base, SerialExecutor()),
        (base, JoblibExecutor(2)),
        (threaded, JoblibExecutor(2)),
        (base, Backwards()),
        (base, Remote()),
    ):
        found = ssvm.fit(problem, 10.0, formulation=formulation, executor=executor)
        np.testing.assert_array_equal(found.w, serial.w)
        assert found.oracle_calls == serial.oracle_calls
        assert [h.dual for h in found.history] == [h.dual for h in serial.history]


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
@pytest.mark.parametrize("kind", [BinaryProblem, MulticlassProblem, MultiLabelProblem])
def test_a_vectorised_problem_gives_the_same_bits_everywhere(kind, formulation):
    """Its examples are cut the same way, and answers that come back refer to the rows that are here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    seen = X @ rng.normal(size=(5, 3)) + rng.normal(size=(3000, 3))
    y = {BinaryProblem: seen[:, 0] > 0, MulticlassProblem: seen.argmax(axis=1), MultiLabelProblem: seen > 0}
    executors = (SerialExecutor(), JoblibExecutor(2), Backwards(), Remote())
    fits = [
        ssvm.fit(kind(X, y[kind]), 10.0, formulation=formulation, executor=executor) for executor in executors
    ]
    for found in fits[1:]:
        np.testing.assert_array_equal(found.w, fits[0].w)
    assert np.abs(fits[0].w).max() > 0.1


@pytest.mark.parametrize("kind", [BinaryProblem, MulticlassProblem, MultiLabelProblem])
def test_answers_leave_the_rows_behind(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    problem = kind(X, X[:, :2] > 0 if kind is MultiLabelProblem else X[:, 0] > 0)
    w = rng.normal(size=problem.n_features)
    batch = problem.separate_batch(np.arange(200), w, SlackRule())
    stored = pickle.dumps(batch)
    assert len(stored) < X.nbytes / 10
    again = pickle.loads(stored)
    assert again.source is problem.source
    np.testing.assert_array_equal(again.margins(w), batch.margins(w))
    other = rng.normal(size=problem.n_features)
    np.testing.assert_array_equal(again.margins(other), batch.margins(other))


def test_smoothed_training_goes_through_the_executor():
    from clustruct.learning.problems import ClusteringProblem

    X, y = make_synth(3, n_clusters=3, cluster_size=5, region_size=6, active=2, random_state=0)
    serial = ssvm.fit(ClusteringProblem(X, y, oracle="spectral"), 10.0, formulation="smoothed")
    executor = Backwards()
    found = ssvm.fit(
        ClusteringProblem(X, y, oracle="spectral"), 10.0, formulation="smoothed", executor=executor
    )
    np.testing.assert_array_equal(found.w, serial.w)
    assert executor.rounds > 0


def test_a_session_is_opened_once_and_closed_even_after_an_error():
    executor = Remote()
    problem = slow.random_problem(0, n=300, outputs=8, features=60)
    ssvm.fit(problem, 1.0, executor=executor)
    assert (executor.opened, executor.closed) == (1, 1)
    assert executor.sent / executor.rounds < executor.problem_size / 50
    broken = slow.random_problem(0)
    broken.loss = lambda i, y: -float(y)
    executor = Backwards()
    with pytest.raises(ValueError, match="the loss is negative"):
        ssvm.fit(broken, executor=executor)
    assert (executor.opened, executor.closed) == (1, 1)
