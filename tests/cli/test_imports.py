"""``--import MODULE``: losses of one's own for the command; what fails in it is one line."""

import os
import subprocess
import sys
from unittest.mock import patch

import pytest

import clustruct
from clustruct.cli.imports import LOSSES, import_one
from clustruct.core.storage import encoding
from clustruct.losses import base

MODULE = """\
from clustruct import losses

def more_groups(y, ybar):
    return 100.0 * abs(int(y.max()) - int(ybar.max())) / y.size

@losses.register("{name}")
class GroupCount(losses.FunctionLoss):
    def __init__(self):
        super().__init__(more_groups)

    def state(self):
        return {{}}

    @classmethod
    def from_state(cls, state):
        return cls()
"""
TABLE = ["--set", "set", "--cluster", "cluster", "--C", "1"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder that is the current one; what its modules register is forgotten at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with patch.dict(base.LOSSES), patch.dict(encoding._BY_NAME):
        yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_a_loss_of_ones_own_is_learned_for(own, folder, command):
    (own / "own_losses.py").write_text(MODULE.format(name="group count"))
    fit = ["fit", folder / "train.csv", *TABLE, "--loss", "group count", "--model", own / "m.model"]
    code, out, err = command("--import", "own_losses", *fit)
    assert (code, err) == (0, "")
    assert clustruct.load(own / "m.model")[-1].loss == "group count"
    # A path, and behind the command, is as good; and again is not again.
    assert command(*fit, "--quiet", "--import", own / "own_losses.py")[0] == 0
    code, out, _ = command("--import=own_losses", "fit", "--help")
    assert code == 0
    assert "group count" in " ".join(out.split())


@pytest.mark.parametrize("words", [("own_shell",), ("./own_shell.py",)])
def test_in_a_shell(words, own):
    """The installed command does not have the current folder among those of modules."""
    (own / "own_shell.py").write_text("print('imported')\n")
    start = [
        sys.executable,
        "-c",
        "import sys; sys.path.remove(''); from clustruct.cli.main import main; main()",
    ]
    for begin in (start, [sys.executable, "-m", "clustruct"]):
        done = subprocess.run(
            [*begin, "--import", *words, "--version"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        assert done.stdout.startswith("imported\nclustruct ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "there is no module 'own_bad', neither in this folder nor where Python looks"),
        ("import own_missing\n", "own_bad.py, line 1: ModuleNotFoundError: No module named 'own_missing'"),
        ("x = 1\ny = x +\n", "own_bad.py, line 2: SyntaxError: invalid syntax"),
        ("\n\nboom\n", "own_bad.py, line 3: NameError: name 'boom' is not defined"),
        ("def f():\n    raise KeyError\n\nf()\n", "own_bad.py, line 4: KeyError"),
        ("raise SystemExit(0)\n", "own_bad.py, line 1: SystemExit: 0"),
        (MODULE.format(name="mitre"), "own_bad.py, line 6: ValueError: the name 'mitre' is taken"),
    ],
)
def test_what_fails_is_one_line(text, told, own, command):
    if text is not None:
        (own / "own_bad.py").write_text(text)
    code, out, err = command("--import", "own_bad", "fit", "x.csv", "--model", "m")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"clustruct: --import own_bad: {told}")
    assert type(clustruct.losses.as_loss("mitre")).__name__ == "MitreLoss"


def test_files_that_are_no_modules(own, command):
    (own / "json.py").write_text("")
    for name, told in (
        ("none.py", "there is no such file"),
        ("json.py", "there is a module 'json' already; rename the file"),
    ):
        code, _, err = command("--import", name, "fit")
        assert (code, err) == (2, f"clustruct: --import {name}: {told}\n")
    code, _, err = command("--import")
    assert code == 2
    assert "expected one argument" in err


def test_a_file_that_failed_can_be_mended(own):
    path = own / "own_mended.py"
    path.write_text("boom\n")
    with pytest.raises(Exception, match="boom"):
        import_one(str(path))
    path.write_text("answer = 42 \n")
    assert import_one("./own_mended.py").answer == 42


def test_an_unknown_loss_is_one_line(own, command):
    code, out, err = command("fit", "x.csv", "--loss", "majority", "--model", "m")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("clustruct: unknown loss 'majority'; known are b_cubed, ")
    assert "--import MODULE" in err


def test_help_and_errors_list_the_same_losses(command):
    _, out, _ = command("fit", "--help")
    _, _, err = command("fit", "x.csv", "--loss", "majority")
    listed = ", ".join(clustruct.losses.names())
    assert clustruct.losses.names() == LOSSES
    assert listed in " ".join(out.split())
    assert f"known are {listed} (" in err


def test_a_model_whose_loss_is_not_registered_is_not_damaged(own, folder, command):
    (own / "own_loss.py").write_text(MODULE.format(name="my count"))
    model = own / "m.model"
    fit = ["fit", folder / "train.csv", *TABLE, "--loss", "my count", "--model", model, "--quiet"]
    with patch.dict(base.LOSSES), patch.dict(encoding._BY_NAME):
        assert command("--import", "own_loss", *fit)[0] == 0
    code, out, err = command("predict", folder / "test.csv", "--model", model)
    told = f"{model}: the model was trained for the loss 'my count', which no imported module registers: "
    told += "import the module that does first (for the command: --import MODULE)"
    assert (code, out, err) == (1, "", f"clustruct: {told}\n")
    with pytest.raises(clustruct.core.exceptions.ModelFileError, match="trained for the loss 'my count'"):
        clustruct.load(model)
    del sys.modules["own_loss"]
    assert command("--import", "own_loss.py", "predict", folder / "test.csv", "--model", model)[0] == 0
    # The loss itself, not its name: the file names its class.
    found = clustruct.load(model)
    found[-1].loss = base.LOSSES["my count"]()
    with patch.dict(encoding._BY_NAME):
        clustruct.save(model, found)
        del encoding._BY_NAME["my count"]
        with pytest.raises(
            clustruct.core.exceptions.ModelFileError, match="'my count', which no imported module"
        ):
            clustruct.load(model)


def test_a_function_that_cannot_be_stored_is_told_how_it_could_be(own):
    X, y = [clustruct.ItemSet(pairs=[[1.0], [-1.0], [-1.0]])] * 2, [[0, 0, 1]] * 2

    def wrong(y, ybar):
        return 100.0 * (y != ybar).mean()

    for loss in (wrong, clustruct.losses.FunctionLoss(wrong)):
        model = clustruct.SupervisedCorrelationClustering(C=1.0, loss=loss).fit(X, y)
        with pytest.raises(
            clustruct.core.exceptions.ModelFileError, match=r"clustruct\.losses\.register$"
        ) as caught:
            clustruct.save(own / "m.model", model)
        assert "builtins" not in str(caught.value)
