"""The choice of C keeps groups apart, tells its progress, and survives Ctrl-C."""

from dataclasses import replace

import numpy as np
import pytest

from clustruct import SupervisedCorrelationClustering, SupervisedKMeans, ssvm
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ChoiceWarning
from clustruct.data.datasets import make_synth
from clustruct.learning.model_selection.choose_c import choose_C, split_sets
from clustruct.learning.problems import FoldLoss, MulticlassProblem, Trained

GRID = (0.01, 0.1, 1.0, 10.0, 100.0)


@pytest.fixture(scope="module")
def data():
    return make_synth(n_sets=6, n_clusters=3, cluster_size=4)


def test_groups_are_never_on_both_sides():
    groups = [3, 1, 3, 2, 2, 1, None]
    folds = list(split_sets(7, 5, groups=groups))
    assert len(folds) == 4
    for train, test in folds:
        assert {str(groups[i]) for i in train}.isdisjoint({str(groups[i]) for i in test})
    assert sorted(i for _, test in folds for i in test) == list(range(7))


def test_without_groups_the_folds_are_those_of_before():
    from sklearn.model_selection import KFold

    expected = KFold(5, shuffle=True, random_state=3).split(np.zeros(9))
    for groups in (None, ["one"] * 9):
        for (a, b), (c, d) in zip(expected, split_sets(9, 5, 3, groups), strict=False):
            np.testing.assert_array_equal(a, c)
            np.testing.assert_array_equal(b, d)


def test_groups_of_sets_are_checked_and_used(data):
    X, y = data
    with pytest.raises(ValueError, match="groups has 2 entries for 6 sets"):
        SupervisedCorrelationClustering().fit(X, y, groups=[0, 1])
    model = SupervisedCorrelationClustering(C_grid=(0.1, 1.0)).fit(X, y, groups=[0, 0, 0, 1, 1, 1])
    assert model.cv_results_["losses"].shape == (2, 6)


def test_steps_are_told(data):
    X, y = data
    begun, rounds = [], []

    class Record(Callback):
        def on_begin(self, training):
            begun.append(training)

        def on_iteration(self, training, iteration):
            rounds.append((training, iteration))

    with training_callback(Record()):
        SupervisedCorrelationClustering(C_grid=(0.1, 1.0), cv=3).fit(X, y)
    choosing = [t for t in begun if t.stage == "choosing C"]
    assert [t.done for t in choosing] == [0, 1, 2, 3, 4, 5]
    assert {t.total for t in choosing} == {6}
    assert begun[-1].stage == rounds[-1][0].stage == "training"
    assert rounds[-1][1].dual > 0.0


@pytest.mark.parametrize(
    "model", [SupervisedCorrelationClustering(), SupervisedKMeans()], ids=["cc", "kmeans"]
)
@pytest.mark.parametrize("after", [1, 4])
@pytest.mark.parametrize("how", ["interrupted", "callback"])
def test_interrupting_the_choice_keeps_the_last_model(data, model, after, how):
    X, y = data
    trainings = []

    class Interrupt(Callback):
        def on_iteration(self, training, iteration):
            trainings.append(training)
            if training.done == after and how == "interrupted":
                raise KeyboardInterrupt
            return training.done == after

    with training_callback(Interrupt()), pytest.warns(ChoiceWarning, match="C was not chosen") as said:
        model.fit(X, y)
    unseen = model.cv_results_["left_out"]
    assert 0 < len(unseen) < len(X)
    assert f"{unseen[0] + 1}" in str(said[0].message)
    assert model.result_.stop_reason == how
    np.testing.assert_array_equal(model.result_.w, model.w_)
    assert model.w_.shape == (X[0].n_features,)
    assert model.C_ == trainings[-1].C
    assert len(model.predict(X)) == len(X)


def trained(C, chosen, start):
    """A training that costs nothing: its objective is C."""
    result = ssvm.fit(MulticlassProblem([[1.0, 0.0], [0.0, 1.0]], [0, 1]), 1.0)
    return Trained(replace(result, objective=C), result, np.ones(4), C)


def by_C(loss):
    """Every unit has the loss of its C."""
    return lambda t, numbers: [FoldLoss(loss(t.result.objective)) for _ in numbers]


def test_plain_functions_do_the_work():
    starts = []

    def train(C, chosen, start):
        starts.append((C, len(chosen), None if start is None else start.result.objective))
        return trained(C, chosen, start)

    judge = by_C(lambda C: abs(C - 3.0))
    choice = choose_C(train, judge, 6, grid=[10.0, 3.0, 1.0], folds=2)
    assert choice.C == 3.0
    assert choice.results["mean_loss"].tolist() == [2.0, 0.0, 7.0]
    assert starts[::2] == [(1.0, 3, None), (3.0, 3, 1.0), (10.0, 3, 3.0)]
    assert len(starts) == 6


@pytest.mark.parametrize(
    ("best", "words"),
    [(100.0, "C = 100 .* it is the largest: a larger one may be better .try --C 1000"), (0.01, "smallest")],
)
def test_the_edge_of_the_grid_is_mentioned(best, words):
    judge = by_C(lambda C: 1.0 + abs(np.log(C / best)))
    with pytest.warns(ChoiceWarning, match=words):
        assert best == choose_C(trained, judge, 6, grid=GRID, folds=2).C


def test_an_edge_that_is_no_better_is_not_mentioned():
    judge = by_C(lambda C: 1.0 if C < 100.0 else 0.999)
    assert choose_C(trained, judge, 6, grid=GRID, folds=2).C == 100.0


@pytest.mark.parametrize("best", [1e-3, 0.1, 1.0, 10.0, 1000.0])
def test_without_a_grid_the_best_power_of_ten_is_found(best):
    choice = choose_C(trained, by_C(lambda C: 1.0 + abs(np.log(C / best))), 6)
    assert best == choice.C


def test_a_choice_that_is_clear_at_once_takes_three_values():
    found = choose_C(trained, by_C(lambda C: 1.0 + abs(np.log(C))), 6)
    assert found.results["C"].tolist() == [0.1, 1.0, 10.0]


@pytest.mark.parametrize(("noise", "chosen"), [(0.01, 10.0), (1.0, 1.0)])
def test_a_difference_within_its_error_leaves_the_usual_C(noise, chosen):
    """10 is better than 1 by 0.1 on the mean, for all units alike or for some only."""
    swing = noise * np.tile([1.0, -1.0], 10)

    def judge(t, numbers):
        C = t.result.objective
        return [
            FoldLoss(2.0 if C not in (1.0, 10.0) else 1.0 + (C == 1.0) * (0.1 + swing[i])) for i in numbers
        ]

    assert chosen == choose_C(trained, judge, 20).C


def test_F_of_all_pairs_can_decide():
    def judge(t, numbers):
        found = 4.0 if t.result.objective == 10.0 else 6.0
        return [FoldLoss(0.0, (4.0, found, 4.0)) for _ in numbers]

    choice = choose_C(trained, judge, 6, by="pairwise_f")
    assert choice.C == 10.0
    assert choice.results["mean_loss"].min() == 0.0


def test_held_out_pairs_are_counted(data):
    X, y = data
    found = SupervisedCorrelationClustering(C_grid=(0.1, 1.0), cv=3).fit(X, y).cv_results_
    assert ((found["pairwise_f"] > 0.5) & (found["pairwise_f"] <= 1.0)).all()


def test_interrupting_a_held_out_prediction_keeps_the_last_model():
    with pytest.warns(ChoiceWarning, match="C = 1 is that of the last training"):
        choice = choose_C(trained, _interrupted, 6, grid=[1.0, 3.0])
    assert choice.C == 1.0
    assert choice.trained.result.stop_reason == "interrupted"


def test_an_interrupt_before_any_training_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        choose_C(_interrupted, by_C(lambda C: 0.0), 6)


def _interrupted(*args):
    raise KeyboardInterrupt


GROUPS = [g for g in "abcd" for _ in range(3)]


def test_few_groups_take_the_value_that_they_agree_on():
    """0.01 is a little better in three groups of four, 1 has the smaller mean by one group alone."""

    def judge(t, numbers):
        C = t.result.objective
        if C not in (0.01, 0.1, 1.0):
            return [FoldLoss(9.0) for _ in numbers]
        odd = {0.01: 3.0, 0.1: 2.5, 1.0: 1.0}[C]
        usual = {0.01: 1.0, 0.1: 1.2, 1.0: 1.4}[C]
        return [FoldLoss(odd if GROUPS[i] == "d" else usual) for i in numbers]

    many = choose_C(trained, judge, 12)
    assert many.C == 1.0
    few = choose_C(trained, judge, 12, groups=GROUPS)
    assert few.C == 0.01
    assert few.results["C"].tolist() == [0.01, 0.1, 1.0, 10.0]


def test_few_groups_that_disagree_leave_the_usual_C():
    """10 ranks best, but only by two groups of four."""

    def judge(t, numbers):
        C = t.result.objective
        if C not in (1.0, 10.0):
            return [FoldLoss(9.0) for _ in numbers]
        gain = {"a": 0.2, "b": 0.2, "c": 0.0, "d": -0.25}
        return [FoldLoss(1.2 - (C == 10.0) * gain[GROUPS[i]]) for i in numbers]

    assert choose_C(trained, judge, 12, groups=GROUPS).C == 1.0


def test_few_groups_that_agree_on_the_best_keep_it():
    for best in (0.1, 1.0, 10.0):
        judge = by_C(lambda C, best=best: 1.0 + abs(np.log(C / best)))
        assert best == choose_C(trained, judge, 12, groups=GROUPS).C


def test_many_groups_are_judged_as_before():
    judge = by_C(lambda C: 1.0 + abs(np.log(C)))
    found = choose_C(trained, judge, 12, groups=list(range(12)))
    assert found.results["C"].tolist() == [0.1, 1.0, 10.0]
