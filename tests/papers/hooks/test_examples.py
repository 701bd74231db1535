"""The example modules learn what their data holds, and stay short."""

import doctest
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from clustruct import load
from clustruct.cli import classify, learn

EXAMPLES = Path(__file__).parents[3] / "examples" / "hooks"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    subprocess.run([sys.executable, EXAMPLES / "make_data.py", folder], check=True)
    return folder


@pytest.mark.parametrize(
    ("name", "suffix", "options", "most"),
    [
        ("binary", "dat", "-c 100", 0.25),
        ("binary", "dat", "-c 10000 -e 0.01 -t 2 -g 0.02", 0.25),
        ("multiclass", "dat", "-c 100", 0.2),
        ("multiclass", "dat", "-c 100 -o 1 -w 0", 0.2),
        ("tagging", "txt", "-c 1000", 0.05),
        ("kmeans", "json", "-c 1000 -e 1", 5.0),
    ],
)
def test_example_modules(data, capsys, monkeypatch, name, suffix, options, most):
    monkeypatch.chdir(data)
    words = [*options.split(), "--m", str(EXAMPLES / f"{name}.py")]
    assert learn.main([*words, f"train-{name}.{suffix}", "model"]) == 0
    capsys.readouterr()
    assert classify.main([*words[-2:], f"test-{name}.{suffix}", "model", "predictions"]) == 0
    shown = capsys.readouterr().out
    loss = float(shown.split("Average loss on test set: ")[1].split()[0])
    assert loss <= most


def test_positive_weights(data, capsys, monkeypatch):
    monkeypatch.chdir(data)
    words = ["--m", str(EXAMPLES / "binary.py"), "-c", "100", "--positive", "1"]
    assert learn.main([*words, "train-binary.dat", "model"]) == 0
    w = load("model").w
    assert (w[1:] >= 0).all()
    assert w[0] < 0


@pytest.mark.parametrize("name", ["binary", "multiclass", "tagging", "kmeans"])
def test_modules_are_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 80


@pytest.mark.parametrize("name", ["linear_program", "satisfiability"])
def test_highspy_examples(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_the_first_module_of_the_page(data, capsys, monkeypatch, tmp_path):
    """docs/hooks.md shows a whole learner, and one that kernels need two functions of."""
    page = (EXAMPLES.parents[1] / "docs" / "hooks.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.py").write_text(blocks[0])
    assert learn.main(["--m", "first", "-c", "100", str(data / "train-binary.dat"), "model"]) == 0
    (tmp_path / "second.py").write_text(blocks[0] + blocks[1])
    assert learn.main(["--m", "second", "-c", "100", str(data / "train-binary.dat"), "model"]) == 0
