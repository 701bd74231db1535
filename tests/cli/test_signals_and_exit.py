"""SIGTERM, Ctrl-C, closed streams, full outputs: the right exit code, one line, the model so far."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import clustruct
from clustruct.cli.main import main
from clustruct.cli.output import Terminated, terminating
from clustruct.cli.progress import ProgressOutput, ending_gently
from clustruct.core.callbacks import Training
from clustruct.core.storage import load, read
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets

START = "import sys; from clustruct.cli.main import main; sys.exit(main())"
FIT = ["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--model", "m"]
PREDICT = "predict test.csv --model records.model --quiet"


def shell(folder, words, more):
    """A command line of a shell: the words of the command, and what is said of its streams."""
    line = f"'{sys.executable}' -c '{START}' {words} {more}"
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "more", "codes", "said"),
    [
        (PREDICT, ">&-", {1}, "clustruct: stdout is closed: nothing can be printed\n"),
        (f"{PREDICT} --out /dev/stdout", ">&-", {1}, "clustruct: stdout is closed: nothing can be printed\n"),
        ("predict none.csv --model records.model", "2>&-", {1}, ""),
        ("show --model records.model", "> /dev/full", {1}, "clustruct: stdout: No space left on device\n"),
        # How much a pipe takes before it is closed is a matter of luck.
        (PREDICT, "| head -c 1; exit ${PIPESTATUS[0]}", {0, 1}, ""),
    ],
)
def test_outputs_that_take_nothing(folder, words, more, codes, said):
    done = shell(folder, words, more)
    assert (done.returncode in codes, done.stderr) == (True, said)
    assert len(done.stdout) <= 1


def test_a_file_needs_no_stream(folder, tmp_path):
    done = shell(folder, f"{PREDICT} --out {tmp_path}/p.csv", "<&- >&- 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "p.csv").read_text().startswith("set,id,cluster\n")


def test_a_full_device_is_named(folder, command):
    words = ("predict", folder / "test.csv", "--model", folder / "records.model", "--out", "/dev/full")
    assert command(*words) == (1, "", "clustruct: /dev/full: No space left on device\n")


def test_streams_as_files(folder, tmp_path):
    """What is in the file of stdout stays, and a program reads from a pipe that has a name."""
    (tmp_path / "log").write_text("before\n")
    spoken = PREDICT.removesuffix(" --quiet")
    assert shell(folder, f"{spoken} --out /dev/stdout", f">> {tmp_path}/log").returncode == 0
    plain = (tmp_path / "log").read_text().removeprefix("before\n")
    assert plain.startswith("set,id,cluster\n")
    assert "written to" not in plain
    done = shell(folder, f"{PREDICT} --out >(cat)", "| cat")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", plain)


@pytest.fixture
def data(tmp_path):
    write_sets(tmp_path / "a.csv", make_records(n_sets=16, n_people=25, errors=0.6))
    return tmp_path


@contextmanager
def choosing_c(folder):
    """A fit in a process of its own, which has said that it chooses C, however fast the machine."""
    code = "from clustruct.cli import progress; progress.PATIENCE = 0.0; " + START
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, *FIT], cwd=folder, **pipes, text=True) as process:
        for line in process.stderr:
            if "choosing C" in line:
                break
        else:
            pytest.fail("the fit ended and has chosen no C")
        yield process


def test_a_sigterm_ends_in_order(data):
    with choosing_c(data) as process:
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err.endswith("clustruct: terminated; nothing was written\n")
    assert "Traceback" not in err
    assert os.listdir(data) == ["a.csv"]


def test_a_sigterm_in_the_middle_of_a_write(folder, tmp_path, monkeypatch, capsys):
    """The last set is on its way to a file that must have a name."""
    monkeypatch.setattr(clustruct.core.storage.targets, "NAMELESS", None)
    seen = []

    def written(self, prediction, suffix, first):
        seen.extend(os.listdir(tmp_path))
        signal.raise_signal(signal.SIGTERM)
        yield ""

    monkeypatch.setattr(clustruct.data.io.csv_files.CsvFile, "prediction_lines", written)
    words = ["predict", folder / "test.csv", "--model", folder / "records.model", "--out", tmp_path / "p.csv"]
    assert main([*map(str, words)]) == 143
    assert len(seen) == 1
    assert os.listdir(tmp_path) == []
    assert capsys.readouterr().err == "clustruct: terminated; nothing was written\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_handlers_of_others_are_kept():
    def own(signum, frame):
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        with terminating():
            assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    with terminating():
        inside = signal.getsignal(signal.SIGTERM)
        with terminating():
            assert signal.getsignal(signal.SIGTERM) is inside
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
    thread = threading.Thread(target=lambda: terminating().__enter__())
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def in_training():
    progress = ProgressOutput(quiet=True)
    progress.on_begin(Training(1.0, 1e-3))
    return progress


def test_a_signal_during_training_keeps_the_model(data):
    """A real SIGINT, sent when the process says that it is choosing C."""
    with choosing_c(data) as process:
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
    assert main([*FIT, "--where", "set=batch 0,batch 1,batch 2", "--C", C]) == 130
    assert "the model so far was kept" in capsys.readouterr().err
    assert load("m")[-1].w_.shape == (load("m")[-1].n_features_in_,)
    assert main(["predict", "a.csv", "--where", "set=batch 3", "--model", "m"]) == 0


def test_an_interrupt_before_training_writes_nothing(data, monkeypatch, capsys):
    from clustruct.features import PairFeatures

    def interrupt(self, sets, touching=None, most_copies=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(PairFeatures, "transform", interrupt)
    monkeypatch.chdir(data)
    assert main(FIT) == 130
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
