"""``clustruct-learn`` and ``clustruct-classify`` with the example modules."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from . import data, names
from .record import case

SUFFIX = {"binary": "dat", "multiclass": "dat", "tagging": "txt", "kmeans": "json"}


@contextmanager
def examples(lines=40):
    """The files of the examples, the first lines of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names.make_hook_data(folder)
        for path in folder.iterdir():
            path.write_text("\n".join(path.read_text().splitlines()[:lines]) + "\n")
        yield folder


def learn(folder, module, *options):
    """Exit codes, what the model holds, and the predictions for the test file."""
    given = ("--m", names.hook_module(module))
    train, test = (folder / f"{part}-{module}.{SUFFIX[module]}" for part in ("train", "test"))
    model, out = folder / "model", folder / "predictions"
    code, _ = names.run("clustruct-learn", *options, *given, "-v", 0, train, model)
    if code:
        return {"codes": [code]}
    other, _ = names.run("clustruct-classify", *given, "-v", 0, test, model, out)
    held = {
        name: values if values.size <= 60 else data.summary(np.atleast_2d(values))["sum"]
        for name, values in names.hook_weights(model).items()
    }
    found = out.read_text().split("\n")[:-1]
    model.unlink()
    return {"codes": [code, other], "predictions": " ".join(found), **held}


@case
def hooks_binary_options():
    """Every algorithm, scaling and slack norm that go together, and those that do not."""
    with examples() as folder:
        return {
            f"-w {w} -o {o} -p {p}": learn(folder, "binary", "-c", 20, "-w", w, "-o", o, "-p", p)
            for w in range(5)
            for o in (1, 2)
            for p in (1, 2)
        }


@case
def hooks_binary_kernels():
    kernels = {
        "linear": ("-t", 0),
        "polynomial": ("-t", 1, "-d", 2, "-s", 0.5, "-r", 1),
        "rbf": ("-t", 2, "-g", 0.1),
        "sigmoid": ("-t", 3, "-s", 0.1, "-r", 0.1),
        "rbf n-slack": ("-t", 2, "-g", 0.1, "-w", 0, "-p", 2, "-o", 1),
    }
    with examples() as folder:
        return {
            name: learn(folder, "binary", "-c", 100, "-e", 0.01, *words) for name, words in kernels.items()
        }


@case
def hooks_binary_positive():
    """An option of the module's own: all weights but the bias at zero or above."""
    with examples() as folder:
        return {f"-w {w}": learn(folder, "binary", "-c", 100, "-w", w, "--positive", 1) for w in (0, 3, 4)}


@case
def hooks_multiclass():
    with examples() as folder:
        lines = {
            "plain": (),
            "slack": ("-o", 1, "-w", 0),
            "squares": ("-p", 2, "-w", 1),
            "tight": ("-e", 0.001, "-w", 3),
        }
        return {name: learn(folder, "multiclass", "-c", 30, *words) for name, words in lines.items()}


@case
def hooks_tagging():
    with examples(25) as folder:
        lines = {"plain": (), "n-slack": ("-w", 0), "slack by the margin's search": ("-o", 1)}
        return {name: learn(folder, "tagging", "-c", 100, *words) for name, words in lines.items()}


@case
def hooks_kmeans():
    with examples(6) as folder:
        return {f"-w {w}": learn(folder, "kmeans", "-c", 1000, "-e", 1, "-w", w) for w in (0, 3)}


@case
def hooks_exit_codes():
    with examples() as folder:
        module, train, model = names.hook_module("binary"), folder / "train-binary.dat", folder / "model"
        (folder / "empty.dat").write_text("")
        (folder / "bad.dat").write_text("yes 1:2\n")
        given = ("--m", module, "-v", 0)
        learning = {
            "nothing": (),
            "help": ("--help",),
            "fair": (*given, "-c", 10, train, model),
            "no module": ("--m", "nowhere", train, model),
            "one file": (*given, train),
            "unknown option": (*given, "-q", 3, train, model),
            "no number": (*given, "-c", "ten", train, model),
            "bad C": (*given, "-c", 0, train, model),
            "bad algorithm": (*given, "-w", 7, train, model),
            "bad kernel": (*given, "-t", 4, train, model),
            "squares with one slack": (*given, "-p", 2, "-w", 4, train, model),
            "missing file": (*given, folder / "none.dat", model),
            "empty file": (*given, folder / "empty.dat", model),
            "bad file": (*given, folder / "bad.dat", model),
            "no folder": (*given, train, folder / "no" / "model"),
            "conditions with a kernel": (*given, "-t", 2, "--positive", 1, train, folder / "other"),
        }
        found = {name: names.run("clustruct-learn", *words)[0] for name, words in learning.items()}
        test, out = folder / "test-binary.dat", folder / "out"
        predicting = {
            "fair": (*given, test, model, out),
            "missing model": (*given, test, folder / "none", out),
            "no model": (*given, test, train, out),
            "no folder": (*given, test, model, folder / "no" / "out"),
            "unknown option": (*given, "-c", 3, test, model, out),
        }
        return {
            "learn": found,
            "classify": {
                name: names.run("clustruct-classify", *words)[0] for name, words in predicting.items()
            },
        }
