"""The Universum study on a tiny corpus: it runs, is taken up again, and its summary says what it should."""

import os

import numpy as np
import pytest

from studies.results import Results
from studies.universum2011 import corpora, methods, sources, starts, tables, where
from studies.universum2011.published import ACCURACY


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "table.json")


def test_grid_is_taken_up_again_and_summed_up(results, monkeypatch):
    monkeypatch.setattr(tables, "GRID_C", (2.0, 8.0))
    monkeypatch.setattr(tables, "GRID_U", (0.0, 0.1, 1.0))
    found = tables.grid(results, True, name="20news")
    monkeypatch.setattr(tables, "trial_scores", None)
    assert tables.grid(results, True, name="20news") == found
    best = {row["method"]: row["accuracy"] for row in found if row["chosen by"] == "best on the grid"}
    for row in found:
        assert row["accuracy"] <= best[row["method"]]
        assert (row["C_u"] == 0.0) == (row["method"] == "M2DCU-0")


def test_every_method_of_the_tables_runs(results):
    rows = tables.tables(results, True, name="webkb")
    assert [row["method"] for row in rows] == list(methods.METHODS)
    assert all(25.0 <= row["accuracy"] <= 100.0 and row["seconds"] >= 0.0 for row in rows)


def test_best_of_several_starts(results, monkeypatch):
    monkeypatch.setattr(starts, "SETTINGS", (("none", 0.0), ("rest", 1.0)))
    monkeypatch.setattr(starts, "DRAWS", 20)
    rows = starts.starts(results, True, name="20news")
    assert [row["Universum"] for row in rows] == ["none", "rest"]
    assert all({"one", "best of 5"} <= set(row) for row in rows)


def test_every_source_is_tried(results, monkeypatch):
    monkeypatch.setattr(sources, "WEIGHTS", (1.0,))
    rows = sources.by_source(results, True, name="20news", seeds=1)
    listed = [row["source"] for row in rows]
    assert listed == ["none", "rest", "select", "rand", "mean", "between", "deep", "4"]
    assert [row["source"] for row in where.where(results, True, name="20news")][:2] == ["4", "all of U_rest"]


def test_published_table_has_every_column():
    columns = {"M2DCU", "M2DCU-0", "k-means", "NMF", "Ncut", "GMM", "CPM3C", "CLGR", "PLSA"}
    for name in corpora.CORPORA:
        assert set(ACCURACY[name]) == columns
    assert columns <= set(methods.METHODS)


@pytest.mark.data
@pytest.mark.skipif(
    not os.environ.get("CLUSTRUCT_DATA"),
    reason="CLUSTRUCT_DATA does not name the folder with 20 Newsgroups",
)
def test_a_sixth_of_20_newsgroups():
    """Default settings on real text, from words to clusters."""
    from clustruct.estimators import UniversumClustering
    from clustruct.features.documents import document_pipeline
    from clustruct.metrics import matched_accuracy

    texts, categories = corpora._texts("20news")
    texts, categories = texts[::6], np.array(categories[::6])
    target = np.isin(categories, corpora.TARGETS["20news"])
    pipeline = document_pipeline(2000, 100)
    X = pipeline.fit_transform([t for t, mine in zip(texts, target, strict=True) if mine])
    U = pipeline.transform([t for t, mine in zip(texts, target, strict=True) if not mine])
    y = np.unique(categories[target], return_inverse=True)[1]
    model = UniversumClustering(4, random_state=0).fit(X, universum=U)
    assert matched_accuracy(y, model.labels_) > 0.55
    assert (np.diff(model.result_.objectives) <= 0).all()
