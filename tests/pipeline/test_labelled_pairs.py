"""Labelled pairs alone: never worse than no labels, and what they taught is told."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import ChoiceWarning, DataError, NoLabels
from clustruct.data import Evidence
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.pipeline import fit_without_labels


@pytest.fixture(scope="module")
def people():
    """A thousand rows about 250 people, and the F of a model without labels."""
    table = make_records(n_sets=1, n_people=250, most=7, random_state=0)[0]
    bare = replace(table, labels=None)
    return bare, list(table.labels), f_of(fit_without_labels(Recipe(), [bare]), bare, table.labels)


def f_of(recipe, table, labels):
    return 100.0 * pairwise_scores(labels, recipe.predict([table])[0]).f1


def rows_of_whole_people(labels, n, seed):
    """So many rows: all those of people drawn at random."""
    y = np.unique(labels, return_inverse=True)[1]
    rows = [r for c in np.random.default_rng(seed).permutation(y.max() + 1) for r in np.flatnonzero(y == c)]
    return rows[:n]


def judge(labels, pairs):
    same = [(a, b) for a, b in pairs if labels[a] == labels[b]]
    return Evidence.of_pairs(len(labels), same, [(a, b) for a, b in pairs if labels[a] != labels[b]])


@pytest.mark.parametrize("seed", range(2))
def test_all_pairs_of_fifty_rows_teach_more_than_no_labels(people, seed):
    table, labels, without = people
    pairs = list(combinations(rows_of_whole_people(labels, 50, seed), 2))
    assert len(pairs) == 1225
    recipe = Recipe().fit([table], corrections=[judge(labels, pairs)])
    assert f_of(recipe, table, labels) >= max(without - 1.0, 95.0)  # labels may cost a point
    about = recipe.training_
    assert about["held_out"] == "pairs"
    assert about["held_out_pairwise_f"] > 0.95
    assert 0 < about["judged_pairs"]["compared"] < 1225
    held = about["judged_pairs"]["held_out"]
    assert held["same"] + held["different"] == 1225


@pytest.mark.parametrize(("same", "different"), [(100, 0), (0, 100), (10, 10)])
def test_nor_do_pairs_of_one_kind_hurt(people, same, different):
    table, labels, without = people
    rng = np.random.default_rng(1)
    every = list(combinations(range(len(labels)), 2))
    mates = [(a, b) for a, b in every if labels[a] == labels[b]]
    others = [every[i] for i in rng.integers(0, len(every), 2 * different).tolist()]
    pairs = [mates[i] for i in rng.permutation(len(mates))[:same].tolist()]
    pairs += [(a, b) for a, b in others if labels[a] != labels[b]][:different]
    recipe = Recipe().fit([table], corrections=[judge(labels, pairs)])
    assert f_of(recipe, table, labels) >= without - 0.1


def test_a_model_without_labels_goes_on_from_pairs(people):
    table, labels, _ = people
    first = fit_without_labels(Recipe(fields=["name", "phone"]), [table])
    known = judge(labels, list(combinations(rows_of_whole_people(labels, 30, 0), 2)))
    later = Recipe().fit([table], corrections=[known], start=first.pipeline_)
    names = [list(one.pipeline_[0].get_feature_names_out()) for one in (first, later)]
    assert names[0] == names[1]
    assert f_of(later, table, labels) >= f_of(first, table, labels)
    with pytest.raises(DataError, match="goes on from corrections, not from labels"):
        Recipe().fit([replace(table, labels=labels)], corrections=[known], start=first.pipeline_)


def test_what_pairs_alone_cannot_teach_is_refused_or_told(people):
    table = people[0].take(range(60))
    known = judge(people[1][:60], list(combinations(range(20), 2)))
    with pytest.raises(ValueError, match="does not learn from corrections"):
        Recipe(learner="pairs").fit([table], corrections=[known])
    with pytest.raises(ValueError, match="similarity goes with labels"):
        Recipe(similarity="trees").fit([table], corrections=[known])
    with pytest.raises(NoLabels, match="no pair was judged"):
        Recipe().fit([table], corrections=[None])
    with pytest.warns(ChoiceWarning, match="loss, nonnegative not used"):
        Recipe(loss="mitre", nonnegative=True).fit([table], corrections=[known])
