"""The Universum study on a tiny corpus: it runs, is taken up again, and its summary says what it should."""

import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from benchmarks import (
    universum_corpora,
    universum_methods,
    universum_sources,
    universum_starts,
    universum_tables,
    universum_where,
)
from benchmarks.universum_corpora import Corpus


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    X, y = make_blobs(160, n_features=6, centers=4, cluster_std=2.0, random_state=0)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    words = sparse.csr_matrix(np.abs(X))
    target = y < 3
    made = Corpus(
        "20news", X[target], y[target], X[~target], words[target], words[~target], y[~target].astype(str)
    )
    for module in (universum_tables, universum_starts, universum_sources, universum_where):
        monkeypatch.setattr(module, "load", lambda name: made)
        monkeypatch.setattr(module, "OUT", tmp_path, raising=False)
    monkeypatch.setitem(universum_corpora.TARGETS, "20news", ("0", "1", "2"))
    monkeypatch.setattr(universum_methods, "HELD", {})
    return made


def test_grid_is_taken_up_again_and_summed_up(corpus, monkeypatch):
    monkeypatch.setattr(universum_tables, "GRID_C", (2.0, 8.0))
    monkeypatch.setattr(universum_tables, "GRID_U", (0.0, 0.1, 1.0))
    rows = universum_tables.grid("20news", 2)
    monkeypatch.setattr(universum_tables, "trial_scores", None)
    assert universum_tables.grid("20news", 2) == rows
    found = universum_tables.summary(rows)
    best = {row["method"]: row["accuracy"] for row in found if row["chosen by"] == "best on the grid"}
    for row in found:
        assert row["accuracy"] <= best[row["method"]]
        assert (row["C_u"] == 0.0) == (row["method"] == "M2DCU-0")


def test_every_method_of_the_tables_runs(corpus):
    rows = universum_tables.tables(1, ("20news",))
    assert [row["method"] for row in rows] == list(universum_methods.METHODS)
    assert all(25.0 <= row["accuracy"] <= 100.0 and row["seconds"] >= 0.0 for row in rows)


def test_best_of_several_starts(corpus, monkeypatch):
    monkeypatch.setattr(universum_starts, "SETTINGS", (("none", 0.0), ("rest", 1.0)))
    monkeypatch.setattr(universum_starts, "DRAWS", 20)
    rows = universum_starts.starts("20news", 2)
    assert [row["Universum"] for row in rows] == ["none", "rest"]
    assert all({"one", "best of 5"} <= set(row) for row in rows)


def test_every_source_is_tried(corpus, monkeypatch):
    monkeypatch.setattr(universum_sources, "WEIGHTS", (1.0,))
    rows = universum_sources.by_source("20news", 1)
    listed = [row["source"] for row in rows]
    assert listed == ["none", "rest", "select", "rand", "mean", "between", "deep", "3"]
    assert [row["source"] for row in universum_where.where("20news")][:2] == ["3", "all of U_rest"]


def test_published_table_has_every_column():
    columns = {"M2DCU", "M2DCU-0", "k-means", "NMF", "Ncut", "GMM", "CPM3C", "CLGR", "PLSA"}
    for name in universum_corpora.CORPORA:
        assert set(universum_tables.PUBLISHED[name]) == columns
    assert columns <= set(universum_methods.METHODS)


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

    texts, categories = universum_corpora._texts("20news")
    texts, categories = texts[::6], np.array(categories[::6])
    target = np.isin(categories, universum_corpora.TARGETS["20news"])
    pipeline = document_pipeline(2000, 100)
    X = pipeline.fit_transform([t for t, mine in zip(texts, target, strict=True) if mine])
    U = pipeline.transform([t for t, mine in zip(texts, target, strict=True) if not mine])
    y = np.unique(categories[target], return_inverse=True)[1]
    model = UniversumClustering(4, random_state=0).fit(X, universum=U)
    assert matched_accuracy(y, model.labels_) > 0.55
    assert (np.diff(model.result_.objectives) <= 0).all()
