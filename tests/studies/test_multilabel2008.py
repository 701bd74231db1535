"""The multi-label study: all of its tables on a tiny set, its published figures and its sets."""

import numpy as np
import pytest

from clustruct.papers.multilabel import read_multilabel
from studies.data import NoData, data_file
from studies.multilabel2008 import tables
from studies.multilabel2008.data import FREQUENT, load
from studies.multilabel2008.published import LOSSES, RHO_LOSSES, RHOS, UNDECIDED
from studies.multilabel2008.render import one_set, rho_tables
from studies.results import Results


def test_study_is_resumable_and_renders(tmp_path, monkeypatch):
    options = {"name": "synth2", "rho_kinds": ("rho_below", "rho_above")}
    rows = tables.by_set(Results(tmp_path / "set.json"), True, **options)
    monkeypatch.setattr(tables, "grid_losses", None)
    monkeypatch.setattr(tables, "final_model", None)
    assert tables.by_set(Results(tmp_path / "set.json"), True, **options) == rows
    text = one_set(rows)
    for piece in (
        "Table 5.1",
        "Tables 5.2, 5.3: synth2",
        "Table 5.4",
        "Table 5.5: not above",
        "Table 5.5: at least",
        "graph_cut",
        "25.00 (10.00)",
    ):
        assert piece in text


def test_rho_table_stands_beside_the_right_rho(tmp_path):
    """A quick run has two of the eleven rho: each beside its own published figures."""
    rows = tables.by_set(Results(tmp_path / "set.json"), True, name="synth2", rho_kinds=("rho_below",))
    assert [row["rho"] for row in rows["rho"]["rho_below"]] == [1.0, 0.5]
    assert "(11.85 / 13.68)" in one_set(rows)


def test_a_set_with_a_constant_has_a_row_without_it(tmp_path):
    """And a set that was not published has no published figures."""
    results = Results(tmp_path / "set.json")
    rows = tables.by_set(results, True, name="emotions-constant")
    assert list(rows["rows"])[-1] == tables.PLAIN
    assert "exact, no constant-fold0of2" in results.cells
    text = one_set(rows)
    assert "| exact, no constant |" in text
    assert "Not among the published sets" in text
    assert "(" not in text.split("Tables 5.2")[1].split("\n", 1)[1].split("**Table 5.4")[0]


def test_C_is_chosen_for_each_rho(tmp_path):
    options = {"name": "reuters-constant", "grid": (1.0,), "folds": 3, "kinds": ("rho_below", "rho_above")}
    results = Results(tmp_path / "rho.json")
    rows = tables.rho_by_set(results, True, **options)
    assert {key.split("-")[0] for key in results.cells} == {
        f"{kind}:{rho}" for kind in options["kinds"] for rho in (1.0, 0.5)
    }
    text = rho_tables(rows)
    assert text.count("| rho | reuters-constant | C |") == 2
    assert "(4.30 / 5.59)" in text


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape"), [("emotions", (391, 73)), ("enron", (1110, 1002))])
def test_sets_in_place_of_mediamill(name, shape):
    """The labels of Enron are the ten that most training rows have."""
    try:
        data = load(f"{name}-constant")
    except NoData as error:
        pytest.skip(str(error))
    assert data.train.X.shape == shape
    if name == "enron":
        _, Y = read_multilabel(data_file("multilabel/enron-train.svm.gz"), 1001, 53)
        assert (
            sorted(FREQUENT["enron"], key=lambda v: -Y[:, v].sum())
            == np.argsort(-Y.sum(axis=0))[:10].tolist()
        )
    else:
        np.testing.assert_allclose(data.train.X[:, :-1].std(axis=0), 1.0)


def test_published_figures_are_complete():
    assert set(LOSSES) == set(RHO_LOSSES) == set(UNDECIDED["exact"])
    assert all(len(row) == 5 for table in LOSSES.values() for row in table.values())
    assert all(len(rows) == len(RHOS) for rows in RHO_LOSSES.values())


@pytest.mark.parametrize(("name", "width"), [("synth2", 41), ("synth1", 6001)])
def test_sets_with_a_constant_feature(name, width):
    plain, more = load(name).train.X, load(f"{name}-constant").train.X
    assert more.shape[1] == width
    assert abs(more[:, : width - 1] - plain).max() == 0
    assert more[:, [width - 1]].min() == more[:, [width - 1]].max() == 1
