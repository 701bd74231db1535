"""What the files are asked, by commands and public names only: modules behind them may move."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import clustruct
from clustruct.cli import classify
from clustruct.cli import main as commands
from clustruct.groups import Store

FILES = Path(__file__).parent / "files"
CUT_SHORT = (
    *("fit", "sets.csv", "--set", "set", "--id", "id", "--cluster", "cluster", "--C", "100", "--quiet"),
    *("--checkpoint", "cut.checkpoint"),
)
# Times and versions say nothing of what is read; the order of learned clusters is left as it is.
LEFT_OUT = ("seconds", "versions", "model", "report", "time")


@contextlib.contextmanager
def copied() -> Iterator[None]:
    """A copy of all files as the working folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        shutil.copytree(FILES, folder)
        for path in folder.glob("*.xz"):
            path.with_suffix("").write_bytes(lzma.decompress(path.read_bytes()))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def answer(name: str) -> Any:
    """The answer to a question, of JSON values."""
    with copied():
        return json.loads(json.dumps(QUESTIONS[name]()))


def output_of(*words: str, run: Callable[[list[str]], Any] = commands.main) -> str:
    """What a command prints; it must end well."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run(list(words))
    assert not code, f"{' '.join(words)}: exit {code}"
    return out.getvalue()


def trimmed(value: Any) -> Any:
    """Without what changes from run to run."""
    if isinstance(value, dict):
        return {key: trimmed(held) for key, held in value.items() if key not in LEFT_OUT}
    return [trimmed(held) for held in value] if isinstance(value, list) else value


def rows_of(path: str) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def grouped(model: str, data: str, *more: str) -> Any:
    """Groups and confidence of new items."""
    words = ["predict", data, "--model", model, "--quiet", "--out", "out.csv", *more]
    output_of(*words)
    return rows_of("out.csv")


def explained(model: str, data: str, a: str, b: str, *more: str) -> Any:
    """Why two items are together or not, without names of features."""
    found = json.loads(
        output_of("explain", data, "--model", model, "--pair", a, b, "--json", "--quiet", *more)
    )
    return {key: found[key] for key in ("similarity", "together")}


def learned(name: str) -> Any:
    """What an estimator answers on data of this module."""
    model = clustruct.load(f"{name}.learned")
    if name == "result":
        return {"w": model.w.tolist(), "objective": model.objective, "rounds": len(model.history)}
    if name in ("cpm3c", "plsa", "clgr"):
        return {"labels": np.asarray(model.labels_).tolist()}
    sets, _ = pair_sets()
    if name == "kernel_model":
        return model.scores(np.array([[0.3, 0.4]]), 1).tolist()
    if name == "recipe":
        sets = list(clustruct.read_sets("new_sets.csv", set="set", id="id", cluster="cluster"))
    if name == "blocks":
        return sums(model.transform([items()]))
    if name.startswith("map_"):
        return sums(
            model.transform([clustruct.ItemSet(nodes=table()[0])] if "products" in name else sets[-1:])
        )
    return {"labels": [np.asarray(labels).tolist() for labels in model.predict(sets[-2:])]}


def sums(sets: Any) -> Any:
    """The columns of the pairs of a set, by their sums."""
    return [np.asarray(x.pairs.sum(axis=0)).ravel().tolist() for x in sets]


def went_on() -> Any:
    """The training that was cut short ends, and groups new sets."""
    output_of(*CUT_SHORT, "--model", "whole.model")
    assert not Path("cut.checkpoint").exists()
    return [row["cluster"] for row in grouped("whole.model", "new_sets.csv")]


def corrected() -> Any:
    """Training that goes on from an old model, with the decisions of an old file."""
    words = ("--id", "id", "--cluster", "cluster", "--corrections", "constraints.csv", "--quiet")
    output_of("fit", "people.csv", *words, "--start", "people.model", "--model", "next.model")
    return [row["cluster"] for row in grouped("next.model", "new_people.csv")]


def features_kept(*file: str) -> Any:
    """A file of kept features may be used; it is of no use to another version."""
    words = ("people.csv", "--id", "id", "--cluster", "cluster", "--C", "1", "--quiet")
    output_of("fit", *words, *file, "--model", "again.model")
    return [row["cluster"] for row in grouped("again.model", "new_people.csv")]


def stored(path: str) -> Any:
    """All that a store holds, after a look through the whole file."""
    words = ("--quiet", "--groups-out", "groups.csv", "--decisions-out", "decisions.jsonl")
    found = json.loads(output_of("store", path, "--verify", "--json", *words))
    lines = Path("decisions.jsonl").read_text(encoding="utf-8").splitlines()
    with Store(path) as store:
        ids = {entry.id: [entry.fate, list(store.resolve(entry.id))] for entry in store.ledger()}
    return {
        "holds": found,
        "groups": rows_of("groups.csv"),
        "decisions": [trimmed(json.loads(line)) for line in lines],
        "ids": ids,
    }


def joined() -> Any:
    """New items in the groups of an old store, with the decisions that it holds."""
    words = ("--existing", "groups.db", "--model", "people.model", "--quiet", "--out", "out.csv")
    output_of("predict", "new_people.csv", *words, "--revise")
    output_of("store", "groups.db", "--verify", "--quiet")
    return sorted([row["id"], row["cluster"]] for row in rows_of("out.csv"))


def decided(path: str) -> Any:
    """A new store of the items takes decisions in; what it holds then."""
    output_of("store", "new.db", "--create", "--items", "people.csv", "--id", "id", "--quiet")
    output_of("store", "new.db", "--decisions", path, "--quiet")
    return stored("new.db")


def models_of_project() -> Any:
    """What the models that a project keeps say of its items."""
    found = []
    with Store("studio.db") as store:
        for model in store.models():
            Path("kept.model").write_bytes(store.model(model.number))
            groups = grouped("kept.model", "new_people.csv", "--id", "id")
            found.append({"how": model.about["how"], "groups": [row["cluster"] for row in groups]})
    return found


def classified(model: str) -> Any:
    """What a hook model says of new rows."""
    output_of("--m", "hook_binary.py", "new_rows.hook", model, "out", run=classify.main)
    return [float(line) for line in Path("out").read_text().split()]


def of_rows(kind: str, data: str) -> Any:
    output_of(kind, "predict", data, "--model", f"{kind}.model", "--out", "out.csv", "--quiet")
    return rows_of("out.csv")


def posts() -> Any:
    output_of("multilabel", "predict", "posts.csv", "--model", "posts.model", "--out", "out.csv", "--quiet")
    return rows_of("out.csv")


def pair_sets(n_sets: int = 5, m: int = 9) -> tuple[list[clustruct.ItemSet], list[Any]]:
    """Sets with features of all pairs, by a rule that needs no random numbers."""
    sets, labels = [], []
    for n in range(n_sets):
        y = (np.arange(m) * (n + 2)) % 7 % 3
        a, b = np.triu_indices(m, 1)
        noise = np.sin(13.0 * a + 7.0 * b + n), np.cos(5.0 * a * b + n)
        rows = np.column_stack([(y[a] == y[b]) + 0.7 * noise[0], noise[1], np.ones(len(a))])
        sets.append(clustruct.ItemSet(pairs=rows, feature_names=["near", "noise", "constant"]))
        labels.append(y)
    return sets, labels


def items() -> clustruct.Table:
    """Items with lists, vectors, dates and links."""
    makers, words = ("Acme", "Bolt", "Core"), ("anvil", "rocket", "acme lamp", "bolt")
    rows = [
        {
            "by": [f"w{n % 3}", f"w{n % 5}"],
            "v": [float(n % 4), float(n % 3), 1.0],
            "maker": makers[n % 3],
            "title": f"{words[n % 4]} no {n % 6}",
            "day": f"2014-03-{10 + n % 7}",
            "price": 5 * (n % 8),
        }
        for n in range(16)
    ]
    return clustruct.Table(rows, context={"links": [[n, (3 * n) % 16] for n in range(16) if n % 8]})


def table() -> tuple[Any, Any]:
    """36 rows of counts in three groups."""
    y = np.repeat(np.arange(3), 12)
    ramp = np.arange(36)[:, None] * np.array([3, 5, 7])
    return 1.0 + 8.0 * np.eye(3)[y] + ramp % 4, y


QUESTIONS: dict[str, Callable[[], Any]] = {
    "people": partial(grouped, "people.model", "new_people.csv", "--confidence"),
    "people, constrained": partial(grouped, "people.model", "people.csv", "--constraints", "constraints.csv"),
    "people, pair": partial(explained, "people.model", "new_people.csv", "r1-0", "r1-1"),
    "trees": partial(grouped, "trees.model", "new_people.csv", "--confidence"),
    "kernel": partial(grouped, "kernel.model", "new_sets.csv"),
    "mapped": partial(grouped, "mapped.model", "new_sets.csv", "--confidence"),
    "unlabelled": partial(grouped, "unlabelled.model", "new_people.csv", "--confidence"),
    "blocked": partial(grouped, "blocked.model", "new_people.csv"),
    "linked": partial(grouped, "linked.model", "new_linked.csv"),
    "agglomerative": partial(grouped, "agglomerative.model", "new_sets.csv"),
    "left": partial(grouped, "left.model", "new_texts.jsonl"),
    "pairs": partial(grouped, "pairs.model", "new_sets.csv"),
    "kmeans": partial(grouped, "kmeans.model", "new_days.jsonl"),
    "mentions": partial(grouped, "mentions.model", "new_texts.jsonl"),
    "days": partial(grouped, "days.model", "new_days.jsonl", "--confidence"),
    "universum": partial(of_rows, "universum", "new_rows.svm"),
    "multilabel": partial(of_rows, "multilabel", "new_rows.labels"),
    "posts": posts,
    "hook": partial(classified, "hook.model"),
    "hook_kernel": partial(classified, "hook_kernel.model"),
    "checkpoint": went_on,
    "corrections": corrected,
    "kept features": partial(features_kept, "--keep-features", "kept.features"),
    "no kept features": features_kept,
    "store": partial(stored, "groups.db"),
    "store, new items": joined,
    "decisions.csv": partial(decided, "decisions.csv"),
    "decisions.jsonl": partial(decided, "decisions.jsonl"),
    "studio": partial(stored, "studio.db"),
    "studio, models": models_of_project,
}
QUESTIONS |= {
    name: partial(learned, name)
    for name in sorted(path.name.partition(".")[0] for path in FILES.glob("*.learned*"))
}
