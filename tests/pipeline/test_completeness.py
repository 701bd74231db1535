"""``unlabelled="auto"``: labelled clusters are complete where the data bear it out."""

from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.data.datasets import make_records
from clustruct.learning.model_selection.completeness import judge_completeness


def people(n_people=120):
    return make_records(n_sets=1, n_people=n_people, most=5, random_state=0)[0]


def whole_clusters(labels, n, rng):
    y = np.unique(labels, return_inverse=True)[1]
    rows = [r for c in rng.permutation(y.max() + 1) for r in np.flatnonzero(y == c).tolist()]
    return set(rows[:n])


def rows_as_they_come(labels, n, rng):
    return set(rng.permutation(len(labels))[:n].tolist())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("drawn", "found"), [(whole_clusters, "apart"), (rows_as_they_come, "unknown")])
def test_how_rows_were_labelled_is_seen(drawn, found, seed):
    table = people()
    rows = drawn(table.labels, 60, np.random.default_rng(seed))
    part = replace(table, labels=[y if a in rows else None for a, y in enumerate(table.labels)])
    recipe = Recipe(C=10.0).fit([part])
    assert recipe.pipeline_[-1].unlabelled == recipe.training_["unlabelled"] == found
    about = recipe.training_["completeness"]
    assert about["decided"]
    assert (about["labelled"], about["open"] > 7) == (60, found == "unknown")
    assert recipe.unlabelled == "auto"


@pytest.mark.filterwarnings("ignore:.* as similar to a labelled cluster as its own")
@pytest.mark.parametrize("word", ["apart", "unknown"])
def test_who_says_it_is_believed(word):
    table = people(40)
    part = replace(table, labels=[y if a % 2 else None for a, y in enumerate(table.labels)])
    recipe = Recipe(C=10.0, unlabelled=word).fit([part])
    assert recipe.pipeline_[-1].unlabelled == word
    assert "completeness" not in recipe.training_


def test_a_similarity_that_finds_no_mates_tells_nothing():
    pairs, labels = np.array([[0, 1], [0, 2], [1, 3]]), np.array([0, 0, -1, -1])
    found = judge_completeness(np.array([-1.0, 5.0, 5.0]), pairs, labels)
    assert (found.is_decided, found.is_borne_out) == (False, True)


@pytest.mark.parametrize("n_open", [0, 2, 3, 8])
def test_a_few_near_misses_do_not_count(n_open):
    """Twelve clusters of two; of so many items an unlabelled one is as near as mates are."""
    labels = np.concatenate([np.repeat(np.arange(12), 2), np.full(24, -1)])
    mates = np.column_stack([np.arange(0, 24, 2), np.arange(1, 24, 2)])
    others = np.column_stack([np.arange(24), np.arange(24, 48)])
    scores = np.concatenate([np.full(12, 3.0), np.where(np.arange(24) < n_open, 4.0, 2.0)])
    found = judge_completeness(scores, np.concatenate([mates, others]), labels)
    assert found.n_open == n_open
    assert found.is_borne_out == (n_open < 3)
