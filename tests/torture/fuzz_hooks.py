"""Model files of hook modules, damaged, given to ``clustruct-classify``."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

from tests.papers.hooks import sources

from . import commands
from .mutations import Held, damaged, held
from .tally import Outcome, Part

EXTRA = """
_init_plain = init_model

def init_model(sample, sm, sparm):
    _init_plain(sample, sm, sparm)
    sm.names = ('a', 'b')
    sm.table = {1: [2.5, None], 'x': {3, 4}}
    sm.first = svmapi.Sparse([(1, 2.0)])
    sm.whole = svmapi.Document([svmapi.Sparse([1.0])], slackid=3)
"""
MODULES = {
    "linear": (sources.BARE, ""),
    "attributes": (sources.BARE + EXTRA, ""),
    "rbf": (sources.BARE + sources.KERNEL, "-t 2 -g 0.5"),
    "poly": (sources.BARE + sources.KERNEL, "-t 1 -d 2"),
}


def write_examples(path: Path, n: int = 40) -> None:
    """A binary task in the format of SVM^light."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 4))
    lines = [f"{1 if r[0] > 0 else -1} " + " ".join(f"{k}:{v:.3f}" for k, v in enumerate(r, 1)) for r in rows]
    path.write_text("\n".join(lines) + "\n")


@cache
def _model(folder: Path, name: str) -> Held:
    return held(folder / f"{name}.model")


class HookModels(Part):
    name = "hooks"
    about = "model files of hook modules, damaged, given to clustruct-classify (1,000)"

    def cases(self, scale: float, seed: int) -> list[str]:
        names = list(MODULES)
        return [f"{names[n % len(names)]}:{n}" for n in range(max(1, round(1_000 * scale)))]

    def prepare(self, folder: Path, seed: int) -> None:
        write_examples(folder / "train.dat")
        for name, (text, options) in MODULES.items():
            (folder / f"{name}.py").write_text(text)
            words = [
                "-v",
                "0",
                "--m",
                f"{name}.py",
                *options.split(),
                "-c",
                "10",
                "train.dat",
                f"{name}.model",
            ]
            ran = commands.run("clustruct-learn", words, folder)
            if ran.code != 0:
                raise RuntimeError(f"{name}: {ran}")

    def start(self, folder: Path, seed: int) -> None:
        for name in MODULES:
            found = _classified(folder, name, f"{name}.model", f"out-{name}-{os.getpid()}")
            if found.status != "fine":
                raise RuntimeError(f"{name}: {found}")

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        name, number = case.split(":")
        rng = np.random.default_rng([seed, int(number)])
        data, _ = damaged(_model(folder, name), [_model(folder, other) for other in MODULES], rng)
        path = folder / f"damaged-{number}"
        path.write_bytes(data)
        try:
            return _classified(folder, name, path.name, f"out-{number}")
        finally:
            path.unlink()


def _classified(folder: Path, name: str, model: str, out: str) -> Outcome:
    words = ["-v", "0", "--m", f"{name}.py", "train.dat", model, out]
    ran = commands.run("clustruct-classify", words, folder)
    # What goes wrong in the module itself is told with the line of the module.
    found = commands.judged(ran, [model, f"{name}.py"], lines=20)
    written = folder / out
    if found.status == "fine" and len(written.read_text().split()) != 40:
        found = Outcome("fault", "silent", "not one prediction per example")
    written.unlink(missing_ok=True)
    return found
