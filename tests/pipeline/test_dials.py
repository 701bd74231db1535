"""Wishes for a prediction of a recipe, and what is exported of it."""

import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from clustruct import Recipe
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.data import Evidence, Grouping, GroupingOptions
from clustruct.data.datasets import make_records
from clustruct.features import check_tables
from clustruct.learning.calibration import PrecisionCurve, less_rivals
from clustruct.pipeline import (
    group,
    group_sets,
    group_table,
    judge_pairs,
    pipeline_with_cut,
    precision_dial,
    score_set,
    scored_pairs,
    wide_table,
)


@pytest.fixture(scope="module")
def fitted():
    sets = make_records(n_sets=7, n_people=12, errors=0.8)
    return Recipe().fit(sets[:5]), sets[5:]


def numbers(labels):
    return [int(y.max()) + 1 for y in labels]


def test_a_threshold_and_a_precision_move_the_same_dial(fitted):
    recipe, sets = fitted
    plain, strict = recipe.predict(sets), recipe.predict(sets, threshold=0.99)
    assert numbers(strict) > numbers(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReliabilityWarning)
        precise = recipe.predict(sets, precision=0.9999)
    model, dial = recipe.pipeline_[-1], recipe.pipeline_[-1].dial(0.9999)
    assert not dial.reached  # so few clusters cannot show it
    assert dial.beats_rivals
    scores = score_set(check_tables(recipe.pipeline_), sets[0])
    above = less_rivals(scores, model.group_scores(scores).labels).above(dial.threshold)
    np.testing.assert_array_equal(precise[0], model.group_scores(above).labels)
    alone = model.dial(0.9999, rivals=False)
    with pytest.warns(ReliabilityWarning):
        cut = pipeline_with_cut(recipe.pipeline_, GroupingOptions(precision=0.9999), rivals=False)[-1]
    assert (cut.threshold_, cut.beats_rivals_) == (alone.threshold, False)
    with pytest.warns(ReliabilityWarning, match="is not promised: held-out clusters show only"):
        recipe.predict(sets, precision=0.9999)


def test_what_is_not_to_be_had_is_said_and_nothing_is_put_together(fitted):
    recipe, sets = fitted
    pipeline = check_tables(recipe.pipeline_)
    model = copy(pipeline[-1])
    wrong = PrecisionCurve(np.array([0.0, 5.0]), np.array([700.0, 80.0]), np.array([1000.0, 100.0]), 1000.0,
                           np.array([0.68, 0.72]), np.array([0.72, 0.86]))  # fmt: skip
    model.calibration_ = replace(model.calibration_, curve=wrong, contested=wrong)
    failing = Pipeline([pipeline.steps[0], ("model", model)])
    with pytest.warns(ReliabilityWarning, match="not to be had.*Nothing is put together"):
        found = group_sets(failing, sets, options=GroupingOptions(precision=0.99))
    assert [one.n_groups for one in found] == [len(table) for table in sets]
    with pytest.warns(ReliabilityWarning, match="only 0.720"):  # .85 may yet be
        assert precision_dial(model, GroupingOptions(precision=0.85)).threshold == 5.0


def test_bounds_hold(fitted):
    recipe, sets = fitted
    assert max(np.bincount(y).max() for y in recipe.predict(sets, max_size=2)) == 2
    assert numbers(recipe.predict(sets, max_groups=5)) == [5, 5]
    assert min(numbers(recipe.predict(sets, min_groups=25))) >= 25


def test_doubtful_items_stay_alone(fitted):
    recipe, sets = fitted
    model = recipe.pipeline_[-1]
    scores = score_set(check_tables(recipe.pipeline_), sets[0])
    y = recipe.predict(sets[:1])[0]
    sure = model.item_probability(scores, y)
    level = float(np.median(sure))
    mates = np.flatnonzero(y == y[0])[:2]  # known to be together, as they are
    known = Evidence.of_pairs(len(y), [mates])
    found = recipe.group(sets[0], known, reject_below=level)
    expected = (sure < level) & (np.bincount(y)[y] > 1)
    expected[mates] = False
    np.testing.assert_array_equal(found.rejected, expected)
    np.testing.assert_allclose(found.confidence, sure)
    assert all((found.labels == found.labels[a]).sum() == 1 for a in np.flatnonzero(expected))
    np.testing.assert_array_equal(found.labels, recipe_without(y, expected))


def recipe_without(y, out):
    from clustruct.core.partitions import canonical_labels

    return canonical_labels(np.where(out, len(y) + np.arange(len(y)), y))


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"threshold": 1.0}, "threshold must be between"),
        ({"max_size": 0}, "max_size must be at least 1"),
        ({"threshold": 0.5, "precision": 0.9}, "give one of them"),
        ({"reject_below": 0.5, "max_groups": 3}, "does not go with reject_below"),
    ],
)
def test_wishes_that_cannot_be(wish, words):
    with pytest.raises(ValueError, match=words):
        GroupingOptions(**wish)


def test_models_without_probabilities_say_so(fitted):
    _, sets = fitted
    plain = Recipe(C=1.0).fit(sets)
    with pytest.raises(ValueError, match="no probabilities"):
        plain.predict(sets, threshold=0.5)
    assert max(np.bincount(y).max() for y in plain.predict(sets, max_size=2)) == 2
    with pytest.raises(ValueError, match="takes no threshold"):
        Recipe(learner="kmeans", C=1.0).fit(sets).predict(sets, max_size=2)


@pytest.mark.parametrize("threshold", [None, 0.9])
def test_contributions_add_up_to_the_score(fitted, threshold):
    recipe, sets = fitted
    table = sets[0]
    pipeline = pipeline_with_cut(recipe.pipeline_, GroupingOptions(threshold=threshold))
    (chunk,) = scored_pairs(pipeline, table, group(pipeline, table, pairs=True))
    names = list(chunk)
    assert names[:6] == ["set", "id_1", "id_2", "together", "probability", "score"]
    np.testing.assert_allclose(sum(np.asarray(chunk[n]) for n in names[6:]), chunk["score"], atol=1e-9)
    plain = score_set(check_tables(recipe.pipeline_), table).list_pairs()
    np.testing.assert_allclose(chunk["score"], plain.values)
    np.testing.assert_allclose(chunk["probability"], recipe.pipeline_[-1].pair_probabilities(plain.values))


def test_groups_and_rows(fitted):
    table = replace(fitted[1][0], name="")
    y, sure = np.arange(len(table)) % 3, np.linspace(0.0, 1.0, len(table))
    found = Grouping(y, np.zeros(len(table), bool), sure, is_probability=True)
    groups = group_table(table, found)
    assert groups["items"].sum() == len(table)
    assert groups["confidence"] == pytest.approx([sure[y == c].mean() for c in range(3)])
    rows = wide_table(table, found)
    assert list(rows)[:3] == ["id", "cluster", "confidence"]
    assert rows["name"] == table.column("name")


def test_the_curve_here_is_that_of_predictions(fitted):
    recipe, sets = fitted
    pipeline = check_tables(recipe.pipeline_)
    curve, same, p = judge_pairs(pipeline, sets, np.array([0.0]))
    n = sum(len(table) * (len(table) - 1) // 2 for table in sets)
    assert len(same) == len(p) == n
    together = sum(int((s := np.bincount(y)) @ (s - 1)) // 2 for y in recipe.predict(sets))
    assert curve.found[0] == together
    assert curve.true == same.sum()
