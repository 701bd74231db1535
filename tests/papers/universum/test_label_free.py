"""Rules that choose parameters without labels."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clustruct.papers.universum import label_free as choice

GRID = [{"C": C, "C_universum": u} for C in (2.0, 16.0) for u in (0.0, 1.0)]


@pytest.fixture(scope="module")
def trials():
    X, _ = make_blobs(150, n_features=4, centers=3, random_state=0)
    U = np.random.default_rng(0).normal(size=(30, 4)) + X.mean(axis=0)
    return choice.try_grid(X, U, 3, GRID, starts=3)


def test_every_setting_is_tried_from_every_start(trials):
    assert [trial.parameters for trial in trials] == GRID
    for trial in trials:
        assert len(trial.labelings) == len(trial.objectives) == 3
        assert {*trial.scores, "stable_contrast"} == set(choice.RULES)
        lowest = trial.objectives.index(min(trial.objectives))
        assert trial.labels is trial.labelings[lowest]


@pytest.mark.parametrize("rule", ["stability", "silhouette", "contrast", "objective"])
def test_the_best_by_the_rule_is_chosen(trials, rule):
    assert choice.choose(trials, rule).scores[rule] == max(t.scores[rule] for t in trials)


def test_contrast_among_the_stable():
    scores = [
        {"stability": 0.90, "contrast": 1.0},
        {"stability": 0.89, "contrast": 1.5},
        {"stability": 0.50, "contrast": 9.0},
    ]
    assert choice.choose_by_scores(scores, "stable_contrast") == 1
    assert choice.choose_by_scores(scores, "contrast") == 2


def test_unknown_rule(trials):
    with pytest.raises(ValueError, match="rule must be one of stability"):
        choice.choose(trials, "accuracy")


def test_stability_of_equal_and_of_unlike_labelings():
    one = np.array([0, 0, 1, 1])
    assert choice.stability([one, 1 - one]) == 1.0
    assert choice.stability([one]) == 1.0
    assert choice.stability([one, np.array([0, 1, 0, 1])]) < 0.0


def test_universum_lowers_its_own_distance_from_the_borders(trials):
    by = {(t.parameters["C"], t.parameters["C_universum"]): t.scores["contrast"] for t in trials}
    assert by[2.0, 1.0] >= by[2.0, 0.0]


def test_silhouette_of_one_cluster_left():
    assert choice.silhouette(np.eye(4), np.zeros(4, dtype=int)) == -1.0
