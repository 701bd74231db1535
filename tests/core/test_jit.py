"""Kernels run where compiled code cannot be kept; where it can, it is."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clustruct

WORK = """
from clustruct.losses._kernels import violation
print(violation(1.0, 2.0, True, False))
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in which nothing compiled can be kept, for root neither."""
    where = tmp_path / "lib" / "clustruct"
    shutil.copytree(Path(clustruct.__file__).parent, where, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, _ in os.walk(where):
        (Path(folder) / "__pycache__").touch()  # a file: no folder of this name can be made
    return where


def run(installed, home, code=WORK, **more):
    """What a start says, from a folder that is not the installation's."""
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    settings = {**kept, "PYTHONPATH": str(installed.parent), "HOME": str(home), **more}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=installed.parent, env=settings, capture_output=True, text=True)


@pytest.mark.parametrize("home", ["/dev/null/none", "~"])
def test_a_read_only_installation_without_a_home(installed, home):
    """Of a user whom the system does not know, Python says that the home is ~."""
    done = run(installed, home)
    assert os.listdir(installed.parent) == ["clustruct"]
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr
    assert done.stderr.count("compiled code cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_code_is_kept_where_it_can_be(installed, tmp_path):
    home = tmp_path / "kept"
    done = run(installed, "/dev/null/none", NUMBA_CACHE_DIR=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n", "")
    assert list(home.rglob("*.nbi"))
    assert list(home.rglob("*.nbc"))


def test_damaged_code_is_compiled_again(installed, tmp_path):
    home = tmp_path / "kept"
    run(installed, "/dev/null/none", NUMBA_CACHE_DIR=str(home))
    for damage in (b"", pickle.dumps("no index")):
        for path in home.rglob("*.nb[ic]"):
            path.write_bytes(damage)
        done = run(installed, "/dev/null/none", NUMBA_CACHE_DIR=str(home))
        assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n", "")


def test_a_folder_that_takes_nothing_more(installed, tmp_path):
    """Numba looks at the folder when a kernel is defined, and writes when it is called."""
    home = tmp_path / "kept"
    lost = f"import shutil, clustruct.losses._kernels; shutil.rmtree({str(home)!r})\n"
    done = run(installed, "/dev/null/none", lost + WORK, NUMBA_CACHE_DIR=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "3.0\n", "")


@pytest.mark.parametrize(
    "change", [("x + 1.0", "x + 2.0"), ("STEP = 10.0", "STEP = 20.0")], ids=["kernel", "constant"]
)
def test_a_change_in_another_file_is_compiled_in(installed, tmp_path, change):
    """Code that calls a kernel of another file, or has its constant, is compiled anew when that changes."""
    head = "from clustruct.core.jit import kernel\n"
    inner = head + "STEP = 10.0\n\n@kernel()\ndef inner(x):\n    return x + 1.0\n"
    middle = head + "from clustruct.inner import inner\n\n@kernel()\ndef middle(x):\n    return inner(x)\n"
    outer = "from clustruct.inner import STEP\nfrom clustruct.middle import middle\n"
    outer = head + outer + "\n@kernel()\ndef outer(x):\n    return STEP * middle(x)\n"
    for name, code in (("inner", inner), ("middle", middle), ("outer", outer)):
        (installed / f"{name}.py").write_text(code)
    call = "from clustruct.outer import outer; print(outer(0.0))"
    assert run(installed, "/dev/null/none", call, NUMBA_CACHE_DIR=str(tmp_path / "kept")).stdout == "10.0\n"
    (installed / "inner.py").write_text(inner.replace(*change))
    assert run(installed, "/dev/null/none", call, NUMBA_CACHE_DIR=str(tmp_path / "kept")).stdout == "20.0\n"
