"""Progress: a bar on a terminal, plain lines elsewhere, silence where asked for."""

import io
import os
import pty
import select

import pytest

from clustruct.cli import progress
from clustruct.cli.progress import ProgressOutput, estimate
from clustruct.core.callbacks import COMPILING, Cost, Training, compiling, steps, training_callback, working
from clustruct.ssvm import Iteration


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes 20 seconds further with every look."""
    ticks = iter(range(0, 10**6, 20))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(ticks)))


def rounds(n):
    for t in range(1, n + 1):
        primal = float("inf") if t < n else 1.01
        yield Iteration(t, primal, 1.0 - 0.5**t, 10 * t, t, float(t), 0.0, 0.0)


def tell(shown):
    shown.on_begin(Training(0.1, 1e-3, "choosing C", 0, 10))
    shown.on_begin(Training(1.0, 1e-3, "choosing C", 5, 10))
    shown.on_begin(Training(1.0, 1e-3))
    for iteration in rounds(6):
        shown.on_iteration(Training(1.0, 1e-3), iteration)
    shown.close_stage()


def test_a_terminal_sees_a_bar_with_gap_and_time_left(clock):
    stream = Terminal()
    tell(ProgressOutput(stream=stream))
    drawn = stream.getvalue().split("\r")
    assert any(
        d.startswith("choosing C [##########..........] training 6 of 10, C = 1, about ") for d in drawn
    )
    assert any("round 5, gap 3.2%, about 5 s left" in d for d in drawn)
    assert any("round 6, gap 2.5%" in d for d in drawn)
    assert drawn[-1] == ""
    assert "\n" not in stream.getvalue()


def test_a_terminal_that_does_not_know_its_size_sees_the_bar(monkeypatch):
    reading, writing = pty.openpty()
    monkeypatch.setattr(progress, "REDRAW", 0.0)
    with os.fdopen(writing, "w") as stream:
        shown = ProgressOutput(stream=stream)
        for n in range(3):
            shown.on_step("features", n, 3)
        shown.close_stage()
        drawn = ""
        while "features [######..............] 2 of 3" not in drawn:
            ready, _, _ = select.select([reading], [], [], 10.0)
            assert ready, drawn
            drawn += os.read(reading, 10_000).decode()
    os.close(reading)


def test_elsewhere_there_are_plain_lines(clock):
    stream = io.StringIO()
    tell(ProgressOutput(stream=stream))
    said = stream.getvalue().splitlines()
    assert "choosing C: training 6 of 10, C = 1, about 20 s left" in said
    assert "\r" not in stream.getvalue()


def test_quiet_is_silent(clock):
    stream = Terminal()
    tell(ProgressOutput(quiet=True, stream=stream))
    assert stream.getvalue() == ""


def test_what_is_over_at_once_is_not_told():
    stream = io.StringIO()
    assert list(ProgressOutput(stream=stream).each([1, 2, 3], "things")) == [1, 2, 3]
    ProgressOutput(stream=stream).on_step("things", 0, None)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_compiling_is_told_once_and_is_no_part_of_the_time_left(monkeypatch, stream):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    shown = ProgressOutput(stream=stream())
    with training_callback(shown), working("learning"):
        shown.on_begin(Training(1.0, 1e-3, "choosing C", 0, 4))
        for _ in range(3):
            with compiling():
                now[0] += 100.0
        now[0] += 20.0
        shown.on_begin(Training(1.0, 1e-3, "choosing C", 1, 4))
    said = shown.stream.getvalue()
    assert said.count(COMPILING) == 1
    assert "training 2 of 4, C = 1, about 60 s left" in said


def test_short_compilations_are_not_told():
    shown = ProgressOutput(stream=io.StringIO())
    for seconds in (None, 0.4, None, 0.5, None):
        shown.on_compile(seconds)
    assert shown.stream.getvalue() == ""


def test_no_estimate_without_rounds_or_rise():
    assert estimate([], float("inf"), 1e-3) == (None, None, None)
    assert estimate([(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)], 2.0, 1e-3) == (0.5, None, None)
    assert estimate([(1.0, 0.5), (2.0, 0.75), (3.0, 0.875)], 0.8751, 1e-3)[1:] == (1.0, 0.0)


def test_stages_within_one_large_table_are_told(clock):
    stream = io.StringIO()
    shown = ProgressOutput(stream=stream)
    with training_callback(shown):
        for _ in steps(["table"], "features"):
            with working("blocking", 4) as work:
                for _ in range(3):
                    work.advance()
            with working("comparing", 10**6) as work:
                for _ in range(4):
                    work.advance(250_000)
    said = stream.getvalue().splitlines()
    assert any(line.startswith("blocking: 3 of 4, about ") for line in said)
    assert any(line.startswith("comparing: 75%, about ") for line in said)


def test_stages_within_many_small_sets_are_not_told(monkeypatch):
    monkeypatch.setattr(progress, "REDRAW", 0.0)
    stream = Terminal()
    with training_callback(ProgressOutput(stream=stream)):
        for _ in steps([1, 2, 3], "features"):
            with working("blocking", 4) as work:
                work.advance()
    assert "blocking" not in stream.getvalue()
    assert "3 of 3" in stream.getvalue()


def test_stages_within_a_training_do_not_hide_it(clock):
    shown = ProgressOutput(stream=io.StringIO())
    with training_callback(shown), working("learning"):
        shown.on_begin(Training(1.0, 1e-3))
        with working("searching", 4) as work:
            work.advance()
        assert shown.stage == "training"  # by which Ctrl-C knows what it ends


def test_costs_are_told_by_step():
    shown = ProgressOutput(quiet=True)
    with training_callback(shown):
        for _ in range(2):
            with working("features") as work, working("blocking"):
                work.keep(pairs=1500, items=2)
    shown.on_open("reading", None)
    shown.on_close(Cost("reading", 2.5, 1.25, 2**31, {"rows": 10**6}))
    head, features, blocking, reading = shown.costs.text().splitlines()
    assert head.split() == ["step", "seconds", "CPU", "s", "peak", "kept"]
    assert features.startswith("features (2 times)")
    assert features.endswith("3,000 pairs, 4 items")
    assert blocking.startswith("  blocking (2 times)")
    assert reading.split() == ["reading", "2.50", "1.25", "2.0", "GB", "1,000,000", "rows"]


def test_time_left_is_told_when_a_tenth_is_done(clock):
    said = io.StringIO()
    shown = ProgressOutput(stream=said)
    for done in range(0, 8, 2):
        shown.on_step("reading", done, 40)
    lines = said.getvalue().splitlines()
    assert lines[0] == "reading: 3 of 40"
    assert lines[1].startswith("reading: 5 of 40, about ")
