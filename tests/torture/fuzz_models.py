"""Model files of every kind, damaged: each is refused by name, or gives a model that predicts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from clustruct import Recipe, load, save
from clustruct.core.exceptions import ModelFileError
from clustruct.data.datasets import make_mentions, make_news, make_records
from clustruct.data.io import write_sets
from tests.core.storage.test_estimators import CASES

from . import commands
from .commands import NO_MEMORY
from .mutations import Held, damaged, held
from .tally import FINE, Outcome, Part, fault, refused

ESTIMATORS = {f"{type(e).__name__}-{i}": (e, data) for i, (e, data) in enumerate(CASES)}
TABLE = ("--set", "set", "--cluster", "cluster", "--id", "id")
# What `clustruct fit` is given, by the name of the model: data, options.
FITTED = {
    "records": ("records.csv", (*TABLE, "--C", "1")),
    "kmeans": ("records.csv", (*TABLE, "--learner", "kmeans", "--C", "1")),
    "pairs": ("records.csv", (*TABLE, "--learner", "pairs")),
    "blocked": ("records.csv", (*TABLE, "--C", "1", "--block", "10", "--neighbours", "3")),
    "news": ("news.jsonl", ("--C", "1")),
    "mentions": ("mentions.jsonl", ("--kind", "mentions", "--C", "1")),
    "vectors": ("vectors.jsonl", ("--C", "1")),
}
DATA_OF = {name: data for name, (data, _) in FITTED.items()} | {"recipe": "records.csv"}
KINDS = [*FITTED, "recipe", *ESTIMATORS]


def write_data(folder: Path) -> None:
    """Small files of every kind of data, with labels."""
    write_sets(folder / "records.csv", make_records(n_sets=4, n_people=5))
    write_sets(folder / "news.jsonl", make_news(n_sets=4, n_stories=3, most=4))
    write_sets(folder / "mentions.jsonl", make_mentions(n_sets=4))
    rng = np.random.default_rng(0)
    labels = [0, 0, 1, 1, 2, 2]
    rows = [
        {"id": n, "items": (np.eye(3)[labels] + 0.1 * rng.normal(size=(6, 3))).tolist()} for n in range(4)
    ]
    (folder / "vectors.jsonl").write_text("\n".join(json.dumps({**row, "labels": labels}) for row in rows))


def fit_by_command(folder: Path, name: str, *more: str) -> None:
    """The model of this name, learned by the command; with further options, one of records."""
    data, options = FITTED[name if not more else "records"]
    options = (*options, *more)
    ran = commands.run("clustruct", ["fit", folder / data, *options, "--quiet", "--model", folder / name])
    if ran.code != 0:
        raise RuntimeError(f"{name} cannot be learned: {ran.err}{ran.error!r}")


def write_models(folder: Path) -> None:
    """A model file of every kind."""
    write_data(folder)
    for name in FITTED:
        fit_by_command(folder, name)
    save(folder / "recipe", Recipe(C=1.0).fit(make_records(n_sets=3, n_people=5)))
    for name, (estimator, data) in ESTIMATORS.items():
        save(folder / name, clone(estimator).fit(*data()))


@cache
def _model(folder: Path, name: str) -> Held:
    return held(folder / name)


@cache
def _inputs(name: str) -> Any:
    return ESTIMATORS[name][1]()[0]


class ModelFiles(Part):
    name = "models"
    about = "model files of every kind, damaged, loaded and used (10,000)"

    def cases(self, scale: float, seed: int) -> list[str]:
        return [f"{KINDS[n % len(KINDS)]}:{n}" for n in range(max(1, round(10_000 * scale)))]

    def prepare(self, folder: Path, seed: int) -> None:
        write_models(folder)

    def start(self, folder: Path, seed: int) -> None:
        """Every model is used once, so that all code is in memory."""
        for name in KINDS:
            found = use(folder / name, name, folder)
            if found.status != "fine":
                raise RuntimeError(f"the whole model {name}: {found}")

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        name, number = case.split(":")
        rng = np.random.default_rng([seed, int(number)])
        others = [_model(folder, other) for other in rng.choice(KINDS, 2)]
        data, _ = damaged(_model(folder, name), others, rng)
        path = folder / f"damaged-{case.replace(':', '-')}"
        path.write_bytes(data)
        try:
            return use(path, name, folder)
        finally:
            path.unlink()


def use(path: Path, name: str, folder: Path) -> Outcome:
    """Load a model of the kind and predict, as its users do."""
    if name in DATA_OF:
        return _by_command(path, folder / DATA_OF[name])
    try:
        model = load(path)
    except ModelFileError as error:
        return _refusal(error, path)
    if type(model) is not type(ESTIMATORS[name][0]):
        return FINE
    return _in_python(model, _inputs(name))


def _refusal(error: ModelFileError, path: Path) -> Outcome:
    if any(mark in str(error) for mark in NO_MEMORY):
        return fault("memory", error)
    return refused(error) if path.name in str(error) else fault("unnamed", error)


def _in_python(model: Any, X: Any) -> Outcome:
    try:
        # Some cluster one table and know its labels alone.
        found = model.predict(X) if hasattr(model, "predict") else model.labels_
    except ValueError as error:
        # Data that does not go with the parameters is told as any other such data is.
        return refused(error)
    wanted = [x.n_items for x in X] if isinstance(X, list) else [X.shape[0]]
    answers = found if isinstance(X, list) else [found]
    if [len(a) for a in answers] != wanted:
        return fault("silent", f"{[len(a) for a in answers]} answers for {wanted} items")
    return FINE


def _by_command(path: Path, data: Path) -> Outcome:
    shown = commands.judged(commands.run("clustruct", ["show", "--model", path]), [path.name])
    if shown.status == "fault":
        return shown
    ran = commands.run("clustruct", ["predict", data, "--model", path, "--quiet"])
    # A rewritten model may want fields that the data does not have: this is said of the data.
    found = commands.judged(ran, [path.name, f"{data.name}: no "])
    if shown.status == "refused" and found.status == "fine":
        return fault("message", f"show refuses what predict uses: {shown.detail}")
    if found.status == "fine" and len(ran.out.splitlines()) < 2:
        return fault("silent", f"no predictions: {ran.out!r}")
    return found
