"""The gallery's scripts run, and show what their first lines say."""

import numpy as np
import pytest

from examples.plots import (
    convergence,
    pair_contributions,
    report,
    similarity_matrix,
    split_merge,
    weights,
)
from examples.plots.sample import trained


@pytest.mark.parametrize(
    "example",
    [convergence, pair_contributions, similarity_matrix, split_merge, weights],
    ids=lambda example: example.__name__.split(".")[-1],
)
def test_pictures(example, tmp_path, capsys):
    display = example.main(tmp_path / "new" / "picture.svg")
    assert "</svg>" in (tmp_path / "new" / "picture.svg").read_text()
    assert capsys.readouterr().out.startswith("Picture: ")
    assert display.figure_ is not None


def test_hue_is_what_counts_and_some_errors_are_left():
    model, x, truth = trained()
    assert np.argmax(np.abs(model.w_ * model.feature_scale_)) == 0
    assert 0.0 < model.set_losses([x], [truth])[0] < 10.0


def test_report(tmp_path, capsys):
    page = report.main(tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert "Offers of three shops" in page
    assert "Splits and merges" in page
    assert capsys.readouterr().out.startswith("Report: ")
