"""``clustruct fit --checkpoint FILE``: a fit that was killed or stopped goes on."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from clustruct import load, read_sets
from clustruct.cli.main import main
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets

WORDS = ["fit", "a.csv", "--set", "set", "--cluster", "cluster", "--checkpoint", "c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data, and the model of an unbroken fit."""
    there = tmp_path_factory.mktemp("checkpoints")
    sets = make_records(n_sets=14, n_people=20, errors=0.6)
    write_sets(there / "a.csv", sets[:10])
    write_sets(there / "b.csv", sets[10:])
    names = ["--set", "set", "--cluster", "cluster", "--quiet"]
    assert main(["fit", str(there / "a.csv"), *names, "--model", str(there / "whole")]) == 0
    return there


def begin(folder, model):
    """The command in a process of its own, that keeps its state after every round."""
    code = (
        "import sys; from clustruct.ssvm.checkpoint import Checkpoint; Checkpoint.every = 0.0\n"
        f"from clustruct.cli.main import main; sys.exit(main({[*WORDS, '--model', model]!r}))"
    )
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, stderr=subprocess.PIPE, text=True)


def wait_for(path, process, writes):
    """Until the file was written so many times."""
    deadline, seen = time.monotonic() + 120, set()
    while len(seen) < writes:
        assert process.poll() is None
        assert time.monotonic() < deadline
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.002)


def assert_same_model(folder, name):
    found, whole = load(folder / name), load(folder / "whole")
    assert found[-1].C_ == whole[-1].C_
    assert found[-1].result_.converged
    assert found[-1].result_.objective == pytest.approx(whole[-1].result_.objective, rel=2e-3)
    sets = list(read_sets(folder / "b.csv", set="set", cluster="cluster", labels="ignored"))
    for one, other in zip(found.predict(sets), whole.predict(sets), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_fit_that_was_cut_short_goes_on(folder, sent, code, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    process = begin(folder, "m")
    wait_for(folder / "c", process, 12)
    os.kill(process.pid, sent)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert (folder / "c").exists()
    if sent == signal.SIGINT:
        assert err.endswith("the same command goes on from c\n")
    assert main([*WORDS, "--model", "m"]) == 0
    assert "clustruct: going on from c\n" in capsys.readouterr().err
    assert not (folder / "c").exists()
    assert_same_model(folder, "m")


def test_other_data_options_and_files_are_refused(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    process = begin(folder, "m2")
    wait_for(folder / "c", process, 5)
    process.kill()
    process.communicate()
    before = (folder / "c").read_bytes()
    for words, said in [
        (
            [*WORDS, "--where", "set=batch 0,batch 1,batch 2"],
            "c belongs to another run: not the same features",
        ),
        ([*WORDS, "--loss", "mitre"], "not the same loss"),
        ([*WORDS, "--scaling", "slack"], "its scaling is margin, here it is slack"),
        ([*WORDS, "--learner", "pairs"], "has no checkpoints"),
        (WORDS[:-1] + ["m2"], "--checkpoint and --model cannot be the same file"),
        (WORDS[:-1] + ["a.csv"], "it is a file to be read"),
        (WORDS[:-1] + ["whole"], "whole is not a readable checkpoint"),
        (WORDS[:-1] + ["no/where"], "there is no folder"),
    ]:
        assert main([*words, "--quiet", "--model", "m2"]) in (1, 2)
        assert said in capsys.readouterr().err
    assert (folder / "c").read_bytes() == before
    assert not (folder / "m2").exists()
    (folder / "c").unlink()
