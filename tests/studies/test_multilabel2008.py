"""The multi-label study: all of its tables on a tiny set, its published figures and its sets."""

import pytest

from studies.multilabel2008 import tables
from studies.multilabel2008.data import load
from studies.multilabel2008.published import LOSSES, RHO_LOSSES, RHOS, UNDECIDED
from studies.multilabel2008.render import one_set
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
