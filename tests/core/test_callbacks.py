"""One protocol for progress and stopping, from the engine outwards."""

import numpy as np
import pytest
from numba import TypingError

from clustruct import ssvm
from clustruct.core.callbacks import (
    Callback,
    Iteration,
    PrintProgress,
    Training,
    steps,
    training_callback,
    training_listener,
    working,
)
from clustruct.core.jit import kernel
from tests.reference import structural_svm as slow


class Notes(Callback):
    def __init__(self, stop_at=None, reason=True):
        self.stop_at, self.reason, self.begun, self.rounds = stop_at, reason, [], []

    def on_begin(self, training):
        self.begun.append(training)

    def on_iteration(self, training, iteration):
        self.rounds.append(iteration.iteration)
        return self.reason if iteration.iteration == self.stop_at else None


@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_the_engine_takes_a_callback_object(formulation):
    problem = slow.random_problem(0, n=30, outputs=8)
    notes = Notes()
    result = ssvm.fit(problem, 50.0, formulation=formulation, callback=notes)
    assert notes.begun == [Training(50.0, 1e-3)]
    assert notes.rounds == [h.iteration for h in result.history][: len(notes.rounds)]
    assert result.n_iter - len(notes.rounds) <= 1
    for reason, said in ((True, "callback"), ("enough", "enough")):
        stopped = ssvm.fit(problem, 50.0, formulation=formulation, callback=Notes(1, reason))
        assert stopped.stop_reason == said
        assert stopped.n_iter == 1


def test_observed_joins_the_surrounding_callback_and_the_printing(capsys):
    assert training_listener(1.0, 0.1) is None
    notes = Notes(2, "enough")
    with training_callback(notes):
        call = training_listener(2.0, 0.1, verbose=1)
    entry = [Iteration(i, 2.0, 1.0, i, 0, 0.0) for i in (1, 2)]
    assert [call(e) for e in entry] == [None, "enough"]
    assert notes.begun == [Training(2.0, 0.1)]
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "training with C = 2"
    assert said[1].startswith("round 1: objective 2, gap 50 %, 1 oracle calls")


def test_some_rounds_are_printed_or_all(capsys):
    for verbose, rounds in ((1, [1, 2, 5, 10, 20, 50, 100]), (2, list(range(1, 121)))):
        printing = PrintProgress(verbose)
        for i in range(1, 121):
            assert not printing.on_iteration(Training(1.0, 0.1), Iteration(i, np.inf, 1.0, i, 0, 0.0))
        said = capsys.readouterr().out.splitlines()
        assert [int(line.split()[1].rstrip(":")) for line in said] == rounds


class Stages(Callback):
    def __init__(self):
        self.said = []

    def on_open(self, stage, total):
        self.said.append((stage, "of", total))

    def on_step(self, stage, done, total):
        self.said.append((stage, done))

    def on_close(self, cost):
        self.said.append((stage := cost.stage, "kept", dict(cost.kept)))
        assert stage
        assert cost.cpu_seconds >= 0.0
        assert 0.0 <= cost.seconds < 60.0
        assert cost.peak is None or cost.peak > 2**20


def fail_within_stages():
    for _ in steps(["one"], "outer"):
        with working("inner", 5) as work:
            work.advance(3)
            work.keep(pairs=2)
            work.keep(pairs=4, rows=1)
            raise ZeroDivisionError


def test_work_says_how_far_it_is_and_what_it_kept():
    heard = Stages()
    with training_callback(heard), pytest.raises(ZeroDivisionError):
        fail_within_stages()
    inner = [("inner", "of", 5), ("inner", 3), ("inner", "kept", {"pairs": 6, "rows": 1})]
    assert heard.said[:5] == [("outer", "of", 1), ("outer", 0), *inner]


def test_work_without_a_listener_goes_on():
    with working("inner") as work:
        work.advance()
    assert (work.done, list(steps([1, 2], "outer"))) == (1, [1, 2])


class Compiled(Callback):
    def __init__(self):
        self.heard = []

    def on_compile(self, seconds):
        self.heard.append(seconds)


def test_compilations_are_told_once_for_all_within():
    """One kernel that calls another is one wait; what fails to compile is over, too."""
    inner = kernel()(lambda x: x + 1.0)
    outer = kernel()(lambda x: 2.0 * inner(x))
    wrong = kernel()(lambda x: x.no_such_thing)
    heard = Compiled()
    with training_callback(heard):
        assert outer(1.0) == 4.0
        assert outer(2.0) == 6.0
        with pytest.raises(TypingError):
            wrong(1.0)
    began, took, again, failed = heard.heard
    assert began is again is None
    assert took > 0.0
    assert failed > 0.0
