"""What is added from outside, in one module each: loss, oracle, block, file format, page of Studio."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

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
