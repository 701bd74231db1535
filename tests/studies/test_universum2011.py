"""The Universum study on a tiny corpus: it runs, is taken up again, and its summary says what it should."""

import os

import numpy as np
import pytest
from sklearn.cluster import KMeans

from studies.results import Results
from studies.universum2011 import corpora, defaults, methods, published, tables, where
from studies.universum2011.shown import render_tables
from studies.universum2011.uniform import METHODS as UNIFORM


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path / "table.json")


def test_grid_is_taken_up_again_and_summed_up(results, monkeypatch):
    monkeypatch.setattr(tables, "GRID_C", (2.0, 8.0))
    monkeypatch.setattr(tables, "GRID_U", (0.0, 0.1, 1.0))
    monkeypatch.setattr(tables, "GRID_BALANCE", (0.1, 1.0))
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


def test_every_kind_of_universum_has_a_place(results):
    assert [row["source"] for row in where.where(results, True, name="20news")][:2] == ["4", "all of U_rest"]


def test_tuned_cpm3c_has_a_row_for_each_C(results):
    assert [row["C"] for row in tables.tuned_cpm3c(results, True, name="webkb")] == ["2", "4"]


def test_published_tables_have_every_column():
    for table in (published.ACCURACY, published.NMI, published.RAND, published.SECONDS):
        assert set(table) == set(corpora.COLLECTIONS)
        assert all(set(row) == set(published.METHODS) for row in table.values())
    assert set(published.METHODS) <= set(methods.METHODS)


def test_the_published_figure_stands_beside_ours():
    row = {"collection": "webkb", "method": "M2DCU", "seeds": 3, "spread": 1.0}
    row |= {"accuracy": 62.0, "nmi": 0.4, "rand": 0.794, "seconds": 0.5}
    shown_row = render_tables([row, {**row, "method": "M2DCU, all of U_rest"}]).splitlines()
    assert "62.0 ± 1.0 (62.6) ↓ | 0.400 (0.372) | 0.794 (0.794) | 0.50 (232)" in shown_row[2]
    assert "62.0 ± 1.0 | 0.400 | 0.794 | 0.50 |" in shown_row[3]


def test_defaults_are_taken_up_again(results, monkeypatch):
    settings = {"collections": ("webkb",), "pipelines": ("stems",)}
    rows = defaults.defaults(results, True, **settings)
    monkeypatch.setattr(defaults, "load", None)
    assert defaults.defaults(results, True, **settings) == rows
    assert "| webkb | stems | 2 |" in defaults.render_defaults(rows)


@pytest.mark.parametrize("method", UNIFORM)
def test_universum_without_weight_is_none(method):
    corpus = corpora.small("20news")
    X, U = (corpus.words, corpus.rest_words) if method == "NMF" else (corpus.X, corpus.rest)
    first = np.arange(X.shape[0]) % corpus.k
    cluster = UNIFORM[method]
    plain = cluster(X, U, first, corpus.k, 0.0)
    np.testing.assert_array_equal(plain, cluster(X, U[:5], first, corpus.k, 0.0))
    assert (plain != cluster(X, U, first, corpus.k, 5.0)).any()


def test_kmeans_without_weight_is_that_of_scikit_learn():
    corpus = corpora.small("20news")
    peer = KMeans(corpus.k, n_init=1, random_state=0, tol=0.0).fit(corpus.X)
    np.testing.assert_array_equal(
        UNIFORM["k-means"](corpus.X, corpus.rest, peer.labels_, corpus.k, 0.0), peer.labels_
    )


@pytest.mark.data
@pytest.mark.skipif(
    not os.environ.get("CLUSTRUCT_DATA"), reason="CLUSTRUCT_DATA does not name the folder with 20 Newsgroups"
)
def test_a_sixth_of_20_newsgroups():
    """Default settings on real text, from words to clusters."""
    from clustruct.evaluate.metrics import matched_accuracy
    from clustruct.features.document_vectors import document_pipeline
    from clustruct.papers.universum import UniversumClustering

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
