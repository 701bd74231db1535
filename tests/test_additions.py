"""What is added from outside, each in one module and at most a line.

A loss, an oracle, a block, a file format; a solver, a map, a learner, a command, a page of Studio.
"""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import clustruct
from clustruct import Recipe, cli, ssvm
from clustruct.cli import main
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.features.similarity import SIMILARITIES
from clustruct.learning.problems import MulticlassProblem
from clustruct.pipeline import LEARNERS
from clustruct.ssvm.solvers import SOLVERS
from tests.studio.serving import Client

LOSS = '''
"""A loss that counts clusters."""
from clustruct.losses import FunctionLoss, register

@register("cluster count")
class CountClusters(FunctionLoss):
    def __init__(self):
        super().__init__(lambda y, ybar: 100.0 * abs(y.max() - ybar.max()) / y.size)

    def state(self):
        return {}

    @classmethod
    def from_state(cls, state):
        return cls()
'''
BLOCK = '''
"""Whether two strings begin alike."""
import numpy as np
from clustruct.features.base import Unlearned
from clustruct.core.storage import register

@register("Initials")
class Initials(Unlearned):
    suits = {"records": ("string",)}

    def __init__(self, field):
        self.field = field

    @classmethod
    def guess_field(cls, data, field):
        return [cls(field)]

    def get_feature_names_out(self):
        return [f"{self.field}: same initial"]

    def transform(self, raw, pairs):
        first = np.array([str(v or " ")[0] for v in raw.column(self.field)])
        return (first[pairs[:, :1]] == first[pairs[:, 1:]]).astype(float)
'''
FORMAT = '''
"""One set per file, one text per line."""
from clustruct.data.io import TextFormat, register
from clustruct.data.io.formats import text_lines
from clustruct.data import Table

@register
class Lines(TextFormat):
    suffixes = (".lines",)

    def read(self, path, reading):
        yield Table([{"text": text.rstrip()} for _, text in text_lines(path)], name=path.stem)

    def set_lines(self, sets, suffix):
        return (item["text"] + "\\n" for raw in sets for item in raw.items)

    def prediction_lines(self, prediction, suffix, first):
        return (f"{label}\\n" for label in prediction.labels)
'''
ORACLE = '''
"""Greedy merging, then moves of items."""
from clustruct.search import correlation
from clustruct.search.oracles import register
from clustruct.search.oracles.correlation_oracles import CorrelationOracle

@register
class GreedyThenMoves(CorrelationOracle):
    name = "greedy_then_moves"

    def maximise(self, scores):
        K = scores.matrix_or_graph()
        return correlation.local_search(K, correlation.greedy(K), sweeps=0)

    def search(self, problem):
        return problem.hill_climb(problem.greedy())
'''
PAGE = '''
"""How many items there are in the groups of each size."""
from collections import Counter

from clustruct.studio.app import Page

async def sizes(project, request):
    return dict(Counter(Counter(project.need().groups().values()).values()))

PAGE = Page(
    "sizes",
    "Sizes of groups",
    get={"/api/sizes": sizes},
    template="""{% extends "base.html" %}{% block content %}<h1>Sizes</h1><pre id="sizes">{% endblock %}""",
    script="""import { ask, byId } from "./common.js";
byId("sizes").textContent = JSON.stringify(await ask("/api/sizes"));""",
)
'''
SOLVER = '''
"""Steps against a subgradient; the planes on the way give the lower bound."""
import numpy as np
from clustruct.ssvm import Incumbent
from clustruct.ssvm.solvers import OneSlack, Solver

class Subgradient(Solver):
    name = "subgradient"

    def missing(self, task):
        return "it needs slack_norm=1" if task.rule.norm == 2 else None

    def planes(self, task):
        return OneSlack().planes(task)

    def solve(self, run, start):
        task, planes, progress = run.task, run.planes, run.progress
        best, w = Incumbent(start), start
        while not progress.stop_reason:
            (found,) = run.separate(task.examples, w)
            share = task.weights[found.indices]
            gradient, risk = found.batch.combine(share), float(share @ found.violation)
            best = best.better_of(Incumbent(w, planes.half_norm(w) + task.C * risk, risk), planes.dual)
            planes.add(gradient[None], np.array([share @ found.batch.losses]), np.zeros(1, np.intp))
            planes.solve()
            progress.judge(best.primal, planes.dual)
            progress.record(best, planes)
            w = w - (w - task.C * gradient) / (len(progress.history) + 1)
        return best
'''
MAP = '''
"""The squares of all features."""
from typing import ClassVar
from clustruct.core.storage import register
from clustruct.features.similarity import PairMap

@register("Squares")
class Squares(PairMap):
    title = "squares of the features"
    fitted: ClassVar = {"n_features_in_": int}

    def learn(self, parts, groups):
        return [self.columns(part.rows) for part in parts]

    def columns(self, rows):
        return rows**2

    def names(self):
        return [f"square {k}" for k in range(self.n_features_in_)]
'''
COMMAND = '''
"""How many rows a file has."""
import clustruct

SUMMARY = DESCRIPTION = "count the rows of a file"
EXAMPLES = "clustruct rowcount a.csv"

def add_arguments(parser):
    parser.add_argument("file")

def run(args):
    print(sum(len(table) for table in clustruct.data.io.read_sets(args.file, labels="ignored")))
'''
LEARNER = '''
"""Pairs whose features sum to more than a bound between the means of right and wrong pairs are together."""
from typing import ClassVar
import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from clustruct.core.storage import EstimatorState, register
from clustruct.features.similarity import labelled_pairs

@register("MeanBound")
class MeanBound(EstimatorState, BaseEstimator):
    fitted: ClassVar = {"bound_": float, "n_features_in_": int}

    def fit(self, X, y, groups=None):
        parts = [labelled_pairs(x, labels) for x, labels in zip(X, y)]
        sums, same = (np.concatenate(part) for part in zip(*((p.rows.sum(axis=1), p.same) for p in parts)))
        self.n_features_in_ = parts[0].rows.shape[1]
        self.bound_ = float(sums[same].mean() + sums[~same].mean()) / 2
        return self

    def predict(self, X):
        return [self._group(x) for x in X]

    def _group(self, x):
        pairs = x.pair_list[labelled_pairs(x, [None] * x.n_items).rows.sum(axis=1) > self.bound_]
        graph = np.zeros((x.n_items, x.n_items))
        graph[tuple(pairs.T)] = 1.0
        return connected_components(graph, directed=False)[1]
'''
USE = """
import os, tempfile
import added.loss, added.oracle, added.block, added.files
from clustruct import PairFeatures, Table, SupervisedCorrelationClustering, losses
from clustruct.features import guess_blocks
from clustruct.data.io import prediction_file, read_sets, suffixes, write_sets
from clustruct.core.storage.encoding import decode, encode

assert "cluster count" in losses.names()
raw = Table([{"text": "ann"}, {"text": "anna"}, {"text": "bob"}], labels=[0, 0, 1])
blocks = guess_blocks([raw], "records")
assert "Initials" in [type(block).__name__ for block in blocks]
features = PairFeatures(blocks)
model = SupervisedCorrelationClustering(C=1.0, loss="cluster count", rescale=False)
model.fit(features.fit_transform([raw, raw]), [raw.labels, raw.labels])
assert model.result_.certificate.oracle_kind == "undergenerating"
name = "greedy_then_moves"
model = SupervisedCorrelationClustering(C=1.0, oracle=name, predictor=name, scaling="slack")
model.fit(features.transform([raw, raw]), [raw.labels, raw.labels])
arrays = []
again = decode(encode(features, arrays), arrays)
assert list(again.get_feature_names_out()) == list(features.get_feature_names_out())
assert type(decode(encode(losses.as_loss("cluster count"), arrays), arrays)).__name__ == "CountClusters"
assert ".lines" in suffixes()
with tempfile.TemporaryDirectory() as folder:
    where = os.path.join(folder, "a.lines.gz")
    write_sets(where, [raw])
    (found,) = read_sets(where, labels="ignored")
    assert found.items == raw.items
    with prediction_file(where) as write:
        write((raw, model.predict(features.transform([raw]))[0], {}))
print("used")
"""


def test_each_is_one_module(tmp_path):
    package = tmp_path / "added"
    package.mkdir()
    for name, text in (
        ("__init__", ""),
        ("loss", LOSS),
        ("oracle", ORACLE),
        ("block", BLOCK),
        ("files", FORMAT),
    ):
        (package / f"{name}.py").write_text(text)
    source = str(Path(__file__).parents[1] / "src")
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), source])}
    done = subprocess.run([sys.executable, "-c", USE], env=where, capture_output=True, text=True)
    assert done.stdout.split() == ["used"], done.stderr


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Writes a module outside of the package, and gives it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return import_module(name)

    yield write
    for path in tmp_path.glob("added_*.py"):
        sys.modules.pop(path.stem, None)


def test_a_solver_is_one_module_and_a_line(add, monkeypatch):
    monkeypatch.setitem(SOLVERS, "subgradient", add("added_solver", SOLVER).Subgradient)  # the line
    y = np.arange(60) % 3
    problem = MulticlassProblem(np.eye(3)[y] + 0.4 * np.random.default_rng(0).normal(size=(60, 3)), y)
    best = ssvm.fit(problem, C=1.0, rtol=1e-4)
    own = ssvm.fit(problem, C=1.0, formulation="subgradient", rtol=0.02, max_iter=2000)
    assert own.stop_reason == "converged"
    assert best.dual <= own.objective <= 1.03 * best.objective
    assert own.dual <= best.objective
    with pytest.raises(ValueError, match="is not possible here: it needs slack_norm=1"):
        ssvm.fit(problem, C=1.0, formulation="subgradient", slack_norm=2)


def test_a_map_is_one_module_and_a_line(add, monkeypatch, tmp_path):
    add("added_map", MAP)
    monkeypatch.setitem(SIMILARITIES, "squares", "Squares")  # the line
    sets = make_records(n_sets=4, n_people=5)
    model = Recipe(C=1.0, similarity="squares").fit(sets).pipeline_
    assert [name for name in model[-1].feature_names_in_ if name.startswith("square")]
    clustruct.save(tmp_path / "a.model", model)
    again = clustruct.load(tmp_path / "a.model").predict(sets)
    np.testing.assert_array_equal(np.concatenate(again), np.concatenate(model.predict(sets)))


def test_a_learner_is_one_module_and_a_line(add, monkeypatch, tmp_path):
    monkeypatch.setitem(LEARNERS, "mean", add("added_learner", LEARNER).MeanBound)  # the line
    sets = make_records(n_sets=4, n_people=6)
    model = Recipe(learner="mean").fit(sets[:3]).pipeline_
    clustruct.save(tmp_path / "a.model", model)
    (labels,) = clustruct.load(tmp_path / "a.model").predict(sets[3:])
    np.testing.assert_array_equal(labels, model.predict(sets[3:])[0])
    assert pairwise_scores(sets[3].labels, labels).f1 > 0.5


def test_a_command_is_one_module_and_a_line(monkeypatch, tmp_path, capsys):
    (tmp_path / "rowcount.py").write_text(COMMAND)
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    monkeypatch.setattr(main, "COMMANDS", (*main.COMMANDS, "rowcount"))  # the line
    (tmp_path / "a.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    assert main.main(["rowcount", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().out == "2\n"
    with pytest.raises(SystemExit):
        main.build_parser().parse_args(["--help"])
    assert "count the rows of a file" in capsys.readouterr().out
    sys.modules.pop("clustruct.cli.rowcount")


def test_a_page_of_studio_is_one_module_and_a_line(tmp_path, monkeypatch):
    from clustruct.studio import pages, serve
    from clustruct.studio.folder import Folder, begin

    (tmp_path / "added_page.py").write_text(PAGE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pages, "PAGES", [*pages.PAGES, import_module("added_page").PAGE])  # the line
    (tmp_path / "few.csv").write_text("nr,name\n1,Ann\n2,Bob\n")
    path = begin(Folder(tmp_path), "few.csv", id="nr", fields=["name"], kind="auto")
    with serve(path, open_browser=False) as studio:
        client = Client(studio.url)
        body = client.request("GET", "/sizes")[2].decode()
        assert '<a href="/sizes" aria-current="page">Sizes of groups</a>' in body
        assert "<h1>Sizes</h1>" in body
        assert b'<a href="/sizes">' in client.request("GET", "/group")[2]
        assert b"/api/sizes" in client.request("GET", "/static/sizes.js")[2]
        assert client.get("/api/sizes") == {"1": 2}
