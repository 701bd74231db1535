"""The pages beside peers have the tables of the kept figures, and the scores are what they say."""

import numpy as np
import pytest

from benchmarks.compare.__main__ import ROOT, _alone, rendered
from benchmarks.compare.tasks import make
from benchmarks.evidence import papers, reliability
from studies.rendering import put

TABLES = rendered()


@pytest.mark.parametrize("where", TABLES, ids=" ".join)
def test_a_page_has_the_table_of_the_kept_figures(where):
    page, name = where
    text = (ROOT / "docs" / page).read_text()
    assert f"<!-- table {name} -->" in text
    assert put(text, name, TABLES[where]) == text


def test_the_right_answer_scores_most(tmp_path):
    from benchmarks.compare.__main__ import score_of
    from benchmarks.compare.files import read_rows, read_sets

    make(tmp_path)
    truth = [row["label"] for row in _truth(tmp_path)]
    known = [row["label"] for row in read_rows(tmp_path, 1)]
    assert 0 < sum(map(bool, known)) < len(known)
    assert all(shown in ("", label) for shown, label in zip(known, truth, strict=True))
    numbers = np.unique(truth, return_inverse=True)[1]
    assert score_of(tmp_path, "records", 1, [numbers.tolist()]) == 100.0
    assert score_of(tmp_path, "records", 1, [list(range(len(truth)))]) == 0.0
    _, new = read_sets(tmp_path, "moons", 1)
    assert score_of(tmp_path, "moons", 1, [y.tolist() for _, y in new]) == pytest.approx(1.0)


def _truth(folder):
    import csv

    with (folder / "truth-1.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_noise_is_no_group():
    assert _alone(np.array([0, -1, 0, -1])).tolist() == [0, 2, 0, 4]


def test_tables_of_the_evidence():
    assert "python -m studies.kmeans2008" in papers()
    held = {"parts": {"models": {"tried": 1200, "refused": 1000, "fine": 200, "faults": []}}}
    assert reliability(held).splitlines()[-1] == "| models | 1,200 | 1,000 | 200 | 0 | 0 | 0 |"
