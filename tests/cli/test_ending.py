"""SIGTERM, closed streams and outputs that take no more: the right exit code, one line, nothing left."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import clustruct
from clustruct.cli.ending import Terminated, terminating
from clustruct.cli.main import main
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets

START = "import sys; from clustruct.cli.main import main; sys.exit(main())"
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


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    there = tmp_path_factory.mktemp("long")
    write_sets(there / "a.csv", make_records(n_sets=16, n_people=25, errors=0.6))
    return there


def test_a_sigterm_ends_in_order(data):
    words = ["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--model", "m"]
    process = subprocess.Popen([sys.executable, "-c", START, *words], cwd=data, stderr=-1, text=True)
    while "choosing C" not in process.stderr.readline():
        assert process.poll() is None
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
