"""Ctrl-C: exit code 130, and the model so far where there is one."""

import os
import signal
import subprocess
import sys
import time

import pytest

from clustruct.cli.main import main
from clustruct.cli.progress import ProgressOutput, ending_gently
from clustruct.core.callbacks import Training
from clustruct.core.storage import load, read
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets


@pytest.fixture
def data(tmp_path):
    write_sets(tmp_path / "a.csv", make_records(n_sets=16, n_people=25, errors=0.6))
    return tmp_path


def in_training():
    progress = ProgressOutput(quiet=True)
    progress.on_begin(Training(1.0, 1e-3))
    return progress


def start(folder, *options):
    words = ["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--model", "m", *options]
    code = f"import sys; from clustruct.cli.main import main; sys.exit(main({words!r}))"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, **pipes, text=True)


def test_a_signal_during_training_keeps_the_model(data):
    """A real SIGINT, sent when the process says that it is choosing C."""
    process = start(data)
    deadline = time.monotonic() + 120
    while "choosing C" not in process.stderr.readline():
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "(not chosen; trained without batch" in out
    assert "stopping after this round" in err
    assert err.endswith("clustruct: interrupted; the model so far was kept\n")
    assert "Traceback" not in err
    assert "C was not chosen" in err
    saved = read(data / "m")
    assert all(name.startswith("batch") for name in saved.about["training"]["left_out"])
    assert saved.about["training"]["interrupted"]
    assert saved.object[-1].result_.stop_reason == "interrupted"
    assert sorted(p.name for p in data.iterdir()) == ["a.csv", "m"]


@pytest.mark.parametrize("C", ["cv", "1"])
def test_an_interrupt_in_the_first_round_keeps_a_usable_model(data, C, monkeypatch, capsys):
    def interrupt(self, training, iteration):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressOutput, "on_iteration", interrupt)
    monkeypatch.chdir(data)
    words = ["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--where", "set=batch 0,batch 1,batch 2"]
    assert main([*words, "--C", C, "--model", "m"]) == 130
    assert "the model so far was kept" in capsys.readouterr().err
    assert load("m")[-1].w_.shape == (load("m")[-1].n_features_in_,)
    assert main(["predict", "a.csv", "--where", "set=batch 3", "--model", "m"]) == 0


def test_an_interrupt_before_training_writes_nothing(data, monkeypatch, capsys):
    from clustruct.features import PairFeatures

    def interrupt(self, sets, touching=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(PairFeatures, "transform", interrupt)
    monkeypatch.chdir(data)
    assert main(["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--model", "m"]) == 130
    assert capsys.readouterr().err == "clustruct: interrupted; nothing was written\n"
    assert [p.name for p in data.iterdir()] == ["a.csv"]


def test_a_signal_in_the_middle_of_a_write(monkeypatch):
    """A buffer that is being written to must not be entered again: Python raises, and the model is lost."""
    reading, writing = os.pipe()

    class Busy:
        def fileno(self):
            return writing

        def write(self, text):
            raise RuntimeError("reentrant call")

        flush = write

    progress = in_training()
    monkeypatch.setattr(sys, "stderr", Busy())
    with ending_gently(progress):
        signal.raise_signal(signal.SIGINT)
    assert progress.stopping
    os.close(writing)
    with os.fdopen(reading) as said:
        assert said.read() == "stopping after this round (Ctrl-C again: at once)\n"


def test_a_second_signal_does_not_wait(capsys):
    progress = in_training()
    before = signal.getsignal(signal.SIGINT)
    with ending_gently(progress):
        signal.raise_signal(signal.SIGINT)
        assert progress.stopping
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert "stopping after this round" in capsys.readouterr().err


def test_a_signal_before_training_does_not_wait():
    progress = ProgressOutput(quiet=True)
    progress.on_step("features", 0, 10)
    with ending_gently(progress), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not progress.stopping


def test_a_key_pressed_before_the_work_begins_is_one_line(monkeypatch, capsys):
    def slow(*words):
        raise KeyboardInterrupt

    monkeypatch.setattr("clustruct.cli.fit.add_arguments", slow)
    assert main(["fit", "a.csv", "--model", "m"]) == 130
    assert capsys.readouterr().err == "clustruct: interrupted; nothing was written\n"
