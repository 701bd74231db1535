"""What may be asked of a model that was made without labels, in Python and on the command line."""

import csv
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe, load
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.data import GroupingOptions, Table
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets
from clustruct.pipeline import fit_without_labels, group

OWN = "made without labels: its probabilities are its own guess"


@pytest.fixture(scope="module")
def table():
    return replace(make_records(n_sets=1, n_people=80, errors=0.6)[0], labels=None)


@pytest.fixture(scope="module")
def recipe(table):
    return fit_without_labels(Recipe(), [table])


def together(labels):
    return np.asarray(labels)[:, None] == np.asarray(labels)


def test_a_threshold_is_one_of_its_own_probabilities(recipe, table):
    plain = group(recipe.pipeline_, table, pairs=True)
    strict = group(recipe.pipeline_, table, options=GroupingOptions(threshold=0.999), pairs=True)
    assert strict.n_groups > plain.n_groups
    model = recipe.pipeline_[-1]
    moved = model.at_threshold(threshold=0.999)
    np.testing.assert_allclose(model.at_threshold(threshold=0.5).threshold_, 0.0, atol=1e-12)
    before, after = plain.scores.list_pairs().values, strict.scores.list_pairs().values
    np.testing.assert_allclose(moved.pair_probabilities(after), model.pair_probabilities(before))
    np.testing.assert_array_equal(after > 0.0, model.pair_probabilities(before) > 0.999)


def test_bounds_hold(recipe, table):
    plain = recipe.predict([table])[0]
    assert np.bincount(plain).max() > 2
    assert np.bincount(recipe.predict([table], max_size=2)[0]).max() == 2
    for asked in (len(set(plain)) - 5, len(set(plain)) + 5):
        found = recipe.predict([table], min_groups=asked, max_groups=asked)[0]
        assert len(set(found)) == asked


def test_a_precision_is_a_guess_and_says_so(recipe, table):
    with pytest.warns(ReliabilityWarning, match=OWN) as seen:
        found = recipe.predict([table], precision=0.999)[0]
    assert len(seen) == 1
    np.testing.assert_array_equal(found, recipe.predict([table], threshold=0.999)[0])


def test_doubtful_items_stay_alone(recipe, table):
    with pytest.warns(ReliabilityWarning, match=OWN):
        found = group(recipe.pipeline_, table, options=GroupingOptions(reject_below=0.99), confidence=True)
    assert found.is_probability
    assert 0 < found.rejected.sum() < len(table)
    assert (found.confidence[found.rejected] < 0.99).all()
    assert (together(found.labels)[found.rejected].sum(axis=1) == 1).all()


@pytest.mark.parametrize("wrong", [{}, {"threshold": 0.5, "precision": 0.5}, {"threshold": 1.0}])
def test_one_place_is_wanted(recipe, wrong):
    with pytest.raises(ValueError, match=r"one of threshold|between 0 and 1"):
        recipe.pipeline_[-1].at_threshold(**wrong)


def test_the_command_takes_the_same(table, tmp_path):
    from clustruct.cli.main import main

    write_sets(tmp_path / "people.csv", [table])
    model, out = tmp_path / "people.model", tmp_path / "groups.csv"
    data = [str(tmp_path / "people.csv"), "--model", str(model), "--id", "id", "--quiet"]
    assert main(["fit", *data, "--labels", "none", "--fields", ",".join(table.fields())]) == 0
    for words, asked in {
        ("--threshold", "0.999"): {"threshold": 0.999},
        ("--max-size", "2"): {"max_size": 2},
    }.items():
        assert main(["predict", *data, "--out", str(out), *words]) == 0
        with out.open(newline="") as file:
            found = [row["cluster"] for row in csv.DictReader(file)]
        np.testing.assert_array_equal(
            together(found), together(group(load(model), table, options=GroupingOptions(**asked)).labels)
        )


@pytest.mark.parametrize("words", [["--precision", "0.99"], ["--reject-below", "0.9"]])
def test_the_command_says_once_that_nothing_is_promised(table, tmp_path, capsys, words):
    from clustruct.cli.main import main

    write_sets(tmp_path / "people.csv", [table])
    data = [str(tmp_path / "people.csv"), "--model", str(tmp_path / "people.model"), "--id", "id"]
    assert main(["fit", *data, "--labels", "none", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", *data, "--json", *words]) == 0
    printed = capsys.readouterr()
    assert printed.err.count(OWN) == 1
    assert "held_out" not in json.loads(printed.out)
    assert main(["predict", *data, "--json", "--strict", *words]) == 3


def test_a_model_of_little_use_says_so():
    """Rows of which no two are alike, and rows that are alike in chains."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    rows = [{"code": "".join(rng.choice(letters, 12)), "size": str(rng.normal())} for _ in range(120)]
    with pytest.warns(ReliabilityWarning, match="without labels is of little use"):
        fit_without_labels(Recipe(), [Table(rows)])


def test_a_good_one_does_not(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_without_labels(Recipe(), [table])
