"""The multi-label study on a tiny set: it runs, is taken up again, and renders."""

import pytest

from benchmarks import mrf_render, mrf_tables
from benchmarks.mrf_data import Split, load
from benchmarks.mrf_published import LOSSES, RHO_LOSSES, RHOS, UNDECIDED
from clustruct.datasets import make_multilabel_count


@pytest.fixture
def data():
    parts = (make_multilabel_count(60, n_labels=4, per_label=2, random_state=s) for s in (0, 1))
    return Split(*parts)


def test_study_is_resumable_and_renders(tmp_path, monkeypatch, data):
    monkeypatch.setattr(mrf_tables, "GRID", [1.0, 100.0])
    monkeypatch.setattr(mrf_tables, "RHOS", (1.0, 0.5))
    store = mrf_tables.Store(tmp_path)
    methods = (*mrf_tables.ORACLES, "baseline")
    rows = {m: mrf_tables.study(store, "synth2", data, m, 2) for m in methods}
    rho = {k: mrf_tables.rho_study(store, "synth2", data, k, 1.0, 0) for k in ("rho_below", "rho_above")}
    monkeypatch.setattr(mrf_tables, "grid_losses", None)
    monkeypatch.setattr(mrf_tables, "final_model", None)
    assert mrf_tables.study(store, "synth2", data, "exact", 2) == rows["exact"]
    text = mrf_render.tables({"synth2": {"default": 25.0, "rows": rows, "rho": rho}})
    for piece in (
        "Table 5.1",
        "Tables 5.2, 5.3: synth2",
        "Table 5.4",
        "Table 5.5",
        "graph_cut",
        "25.00 (10.00)",
    ):
        assert piece in text


def test_published_figures_are_complete():
    assert set(LOSSES) == set(RHO_LOSSES) == set(UNDECIDED["exact"])
    assert all(len(row) == 5 for table in LOSSES.values() for row in table.values())
    assert all(len(rows) == len(RHOS) for rows in RHO_LOSSES.values())


def test_sets_with_a_constant_feature():
    plain, more = load("synth2").train, load("synth2-constant").train
    assert more.X.shape == (1000, 41)
    assert (more.X[:, :40] == plain.X).all()
    assert (more.X[:, 40] == 1).all()
    assert load("synth1-constant").test.X.shape == (5045, 6001)
