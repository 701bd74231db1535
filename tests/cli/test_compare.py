"""``clustruct cv --compare``: one table, a paired test by group, and words that say what could be chance."""

import json

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.data.datasets import make_records
from clustruct.evaluate.comparing import Compared, SettingResult, compare, holm, settings
from clustruct.pipeline import LEARNERS


def test_the_command_prints_one_table_and_says_what_could_be_chance(folder, command):
    words = ("--set", "set", "--cluster", "cluster", "--C", "1", "--folds", "2", "--quiet")
    code, said, _ = command("cv", folder / "train.csv", *words, "--compare", "similarity", "--json")
    assert code == 0
    found = json.loads(said)
    first, *rest = [row["name"] for row in found["tried"]]
    assert first == "the recipe as it is"
    assert sorted(rest) == ["mapped", "trees"]
    assert found["groups"] == 4
    assert not found["sure"]
    assert found["recommendation"].startswith("keep")
    code, said, _ = command(
        "cv", folder / "train.csv", *words, "--compare", "learner", "--score", "b_cubed_f1"
    )
    assert code == 0
    assert "won/tied/lost" in said
    assert "keep the recipe as it is" in said
    code, _, said = command("cv", folder / "train.csv", *words, "--compare", "loss", "--score", "beauty")
    assert code != 0
    assert "--score must be one of" in said


def test_one_thing_is_changed_at_a_time():
    found = list(settings(Recipe(), ["learner", "loss", "linkage", "similarity"]))
    alone = {change["learner"] for change in found if [*change] == ["learner"]}
    assert alone == {*LEARNERS} - {"correlation", "agglomerative"}  # it is single link
    assert {"loss": "pairwise"} not in found  # the usual one
    assert {"learner": "agglomerative"} in settings(Recipe(), ["learner"])
    assert {"loss": "b_cubed", "scaling": "slack"} in found
    assert {"learner": "agglomerative", "linkage": "left"} in found
    assert {"similarity": "trees"} in found
    with pytest.raises(ValueError, match="some of learner"):
        list(settings(Recipe(), ["colour"]))


def test_only_the_best_at_the_first_look_are_cross_validated():
    sets = make_records(n_sets=6, n_people=4)
    found = compare(Recipe(C=1.0), sets, ["loss"], folds=3)
    n = len([*settings(Recipe(), ["loss"])])
    full = [t for t in found.tried if len(t.values)]
    rest = [t for t in found.tried if t.is_only_looked_at]
    assert (len(full), len(rest)) == (4, n - 3)
    assert min(t.look for t in full[1:]) >= max(t.look for t in rest)
    assert all(len(t.values) == len(sets) for t in full)
    table = [t.beside.p_two_tailed for t in full[1:]]
    assert min(t.level for t in full[1:]) == pytest.approx(min(1.0, n * min(table)))
    all_of_them = compare(Recipe(C=1.0), sets, ["similarity"], folds=3, thorough=True)
    assert not any(t.is_only_looked_at for t in all_of_them.tried)
    assert all(t.look is None for t in all_of_them.tried)


def test_thorough_goes_with_compare(folder, command):
    code, _, said = command("cv", folder / "train.csv", "--cluster", "cluster", "--thorough")
    assert code != 0
    assert "--thorough goes with --compare" in said


def test_settings_that_cannot_be_are_named():
    found = compare(Recipe(C=1.0, nonnegative=True), make_records(n_sets=4, n_people=4), ["learner"], folds=2)
    refused = {t.name: t.refused for t in found.tried if t.refused}
    assert "nonnegative goes with learner='correlation'" in refused["pairs"]
    assert found.best.refused is None


def test_a_clear_difference_is_recommended_and_chance_is_not():
    rng = np.random.default_rng(0)
    usual = SettingResult("usual", {}, rng.random(20) / 2)
    better = SettingResult("better", {}, usual.values + 0.3, level=0.001)
    luck = SettingResult("luck", {}, usual.values + 0.31 * (np.arange(20) < 2), level=0.4)
    assert Compared([usual, better, luck], "pairwise_f1", 20).recommendation().startswith("take better")
    said = Compared([usual, luck], "pairwise_f1", 4).recommendation()
    assert said.startswith("keep usual")
    assert "could be chance" in said
    assert "4 independent groups" in said


def test_levels_for_all_together():
    made = [SettingResult(str(p), {}, np.zeros(1), level=p) for p in (0.04, 0.01, 0.03)]
    assert [t.level for t in holm(made)] == pytest.approx([0.06, 0.03, 0.06])
