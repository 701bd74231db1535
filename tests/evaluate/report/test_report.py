"""The page: whole, self-contained, safe against any text, and honest about what is not known."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Recipe, SupervisedCorrelationClustering, SupervisedKMeans, Table
from clustruct.data.datasets import make_records
from clustruct.estimators.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.evaluate.explain.findings import Findings
from clustruct.evaluate.report import write_report
from clustruct.evaluate.report.contents import MEANS, scores, side_by_side, summary
from clustruct.features.base import Unlearned

EVIL = "<script>alert(1)</script>\"'&\x00\udcff $x$ \u65e5\u672c"


class Difference(Unlearned):
    """How far the numbers of two items lie apart; its name is hostile."""

    def get_feature_names_out(self):
        return [f"difference {EVIL}", "closeness"]

    def transform(self, table, pairs):
        n = np.array(table.column("n"), float)
        gap = np.abs(n[pairs[:, 0]] - n[pairs[:, 1]])
        return np.column_stack([gap, np.exp(-gap)])


def make_sets(count, m=14, labels=True, name=EVIL, seed=0):
    rng = np.random.default_rng(seed)
    sets = []
    for s in range(count):
        y = rng.integers(0, 3, m)
        items = [{"n": float(v), f"field {EVIL}": f"value {EVIL} {v}"} for v in 2 * y + rng.normal(size=m)]
        truth = [f"cluster {k} {EVIL}" for k in y] if labels else None
        sets.append(Table(items, labels=truth, name=f"{name}{s}", ids=[f"id {a} {EVIL}" for a in range(m)]))
    return sets


def pipeline_of(model, sets):
    return make_pipeline(PairFeatures([Difference()]), model).fit(sets, [s.labels for s in sets])


@pytest.fixture(scope="module")
def trained():
    sets = make_sets(4)
    return pipeline_of(SupervisedCorrelationClustering(C=1.0), sets), sets


@pytest.fixture(scope="module")
def hostile_page(trained, tmp_path_factory):
    return written(tmp_path_factory.mktemp("report"), *trained, title=EVIL)


class Tags(HTMLParser):
    """Every tag with its attributes; fails on tags closed in the wrong order."""

    VOID = ("meta", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.headings = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def written(tmp_path, pipeline, sets, **options):
    path = tmp_path / "report.html"
    write_report(path, pipeline, sets, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    return path.read_text(encoding="utf-8")


def test_whole_page_with_hostile_names(hostile_page):
    page = hostile_page
    tags = Tags(page)
    assert tags.headings == [
        "Scores",
        "What was learned",
        "Splits and merges",
        "Wrong pairs explained",
        "Least confident",
        "Sets",
        "Data and model",
    ]
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "iframe", "object", "embed", "link", "form", "svg"}
    assert "&lt;script&gt;alert(1)" in page
    for _, attributes in tags.seen:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/svg+xml;base64,"))
    assert re.search(r"https?://", re.sub(r'src="[^"]*"', "", page)) is None
    for picture in re.findall(r"base64,([^\"]*)", page):
        drawing = base64.b64decode(picture).decode("utf-8")
        assert "<script" not in drawing
        assert "</svg>" in drawing


def test_scores_are_those_of_the_metrics(hostile_page, trained):
    from clustruct.evaluate.metrics import evaluate

    (pipeline, sets), page = trained, hostile_page
    scores = evaluate([s.labels for s in sets], pipeline.predict(sets))
    row = re.search(r"B-cubed F</td><td class=\"number\">([0-9.]+)</td>", page)
    assert float(row.group(1)) == pytest.approx(scores.mean["b_cubed_f1"], abs=5e-4)
    losses = pipeline[-1].set_losses(pipeline[:-1].transform(sets), [s.labels for s in sets])
    assert f"Mean loss {losses.mean():.3g} " in page


def test_the_verdict_comes_first(hostile_page, trained):
    from clustruct.evaluate.metrics import evaluate

    pipeline, sets = trained
    told = evaluate([s.labels for s in sets], pipeline.predict(sets)).verdict()
    said = re.search(r'<p class="verdict">(.*?)</p>', hostile_page).group(1)
    assert said == told[0].upper() + told[1:] + "."
    assert hostile_page.index('class="verdict"') < hostile_page.index("<h2>")


def test_two_items_stand_side_by_side_with_what_differs_marked():
    table = Table([{"name": "Ann Lee", "born": 1970}, {"name": "Anne Lee", "city": "Ulm"}])
    found = side_by_side(table, 0, 1)
    assert found["names"] == ["item 0", "item 1"]
    rows = {field: sides for field, *sides in found["rows"]}
    assert [[p for p, strange in side if strange] for side in rows["name"]] == [["Ann"], ["Anne"]]
    assert (rows["born"][1], rows["city"][0]) == ([], [])


def test_pictures_are_light_on_dark_pages(hostile_page):
    drawings = [base64.b64decode(p).decode("utf-8") for p in re.findall(r"base64,([^\"]*)", hostile_page)]
    assert drawings
    for drawing in drawings:
        assert "prefers-color-scheme:dark" in drawing
        assert "var(--ink)" in drawing
        letters = re.findall(r'<text style="([^"]*)"', drawing)
        assert letters
        assert all("fill" in style for style in letters)  # none is black by default


def test_without_labels_nothing_is_said_about_right_and_wrong(tmp_path, trained):
    page = written(tmp_path, trained[0], make_sets(2, labels=False, seed=5))
    assert Tags(page).headings == ["What was learned", "Least confident", "Sets", "Data and model"]
    assert "wrong" not in re.sub(r"<style>.*?</style>|src=\"[^\"]*\"", "", page, flags=re.DOTALL)


def test_some_sets_with_labels(trained):
    sets = [*make_sets(2, seed=6), *make_sets(1, labels=False, seed=7)]
    missing = Table(sets[0].items, labels=[None, *sets[0].labels[1:]], name="one label missing")
    findings = Findings.of(trained[0], [*sets, missing])
    assert [s.number for s in findings.with_truth] == [0, 1]
    assert ["sets", "4, 2 of them with labels"] in summary(findings).rows
    found = scores(findings)
    assert (len(found["means"].rows), len(found["sets"].rows)) == (len(MEANS), 2)


@pytest.mark.parametrize("m", [1, 2])
def test_tiny_sets(tmp_path, trained, m):
    page = written(tmp_path, trained[0], make_sets(1, m=m, name=""))
    assert "no. 1" not in page or Tags(page)


@pytest.mark.parametrize(
    "model",
    [SupervisedKMeans(C=1.0), PairwiseClassifierClustering(), DefaultClustering("alone")],
    ids=lambda model: type(model).__name__,
)
def test_other_models(tmp_path, model):
    sets = make_sets(3, seed=8)
    headings = Tags(written(tmp_path, pipeline_of(model, sets), sets[:1])).headings
    assert (headings[0], headings[-1]) == ("Scores", "Data and model")
    assert ("Sets" in headings) == (not isinstance(model, DefaultClustering))


def test_same_input_same_page_and_no_figure_open(tmp_path, trained, hostile_page):
    from matplotlib import pyplot

    assert written(tmp_path, *trained, title=EVIL) == hostile_page
    assert pyplot.get_fignums() == []


def test_an_error_leaves_the_old_file(tmp_path, trained):
    path = tmp_path / "report.html"
    path.write_text("old")
    broken = Table([{"n": "not a number"}, {"n": 1.0}])
    with pytest.raises(ValueError, match="could not convert"):
        write_report(path, trained[0], [broken])
    with pytest.raises(ValueError, match="at least one set"):
        write_report(path, trained[0], [])
    with pytest.raises(ValueError, match="folder"):
        write_report(tmp_path / "none" / "report.html", trained[0], trained[1])
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_of_trees_shows_how_much_fields_count_in_the_place_of_weights(tmp_path):
    sets = make_records(n_sets=5, n_people=4)
    trees, linear = (Recipe(C=1.0, similarity=kind).fit(sets[:4]).pipeline_ for kind in ("trees", "linear"))
    page = written(tmp_path, trees, sets)
    assert 'alt="how much each field counts"' in page
    assert "Blue weights" not in page
    page = written(tmp_path, linear, sets)
    assert "Blue weights" in page
    assert "how much each field counts" not in page
