"""What probabilities are learned from: sets as a training scores them that has not seen them."""

import numpy as np
import pytest

from clustruct import SupervisedCorrelationClustering
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ChoiceWarning
from clustruct.learning.calibration import held_out_parts
from clustruct.learning.model_selection.task_choice import choose_C_for
from clustruct.learning.problems.fold_losses import LOOSE

from .test_calibration import toy


def test_held_out_sets_are_scored_by_trainings_as_long_as_the_last_one():
    """The choice of C ends its trainings early: their scores are of another size for the same doubt."""
    sets, labels = toy(3, n_sets=6)
    task = SupervisedCorrelationClustering()._task(sets, labels, None)
    choice = choose_C_for(task)
    parts = held_out_parts(task, choice.folds, "set", choice.weights[0], choice.C, LOOSE)
    assert sorted(part.set_number for part in parts) == list(range(6))
    for part in parts:
        fold = next(f for f in choice.folds if part.set_number in f.held_out)
        seen = fold.chosen.tolist()
        model = SupervisedCorrelationClustering(C=choice.C)
        model.fit([sets[i] for i in seen], [labels[i] for i in seen])
        np.testing.assert_allclose(part.w, model.w_, rtol=1e-9)
        np.testing.assert_allclose(part.scores.matrix, model.decision_function(sets[part.set_number]))


class Stopper(Callback):
    """Asks for a stop in the training of a number, counted from 1."""

    def __init__(self, number):
        self.number, self.begun = number, 0

    def on_begin(self, training):
        self.begun += 1

    def on_iteration(self, training, iteration):
        return "interrupted" if self.begun >= self.number else None


def test_a_stop_while_probabilities_are_learned_leaves_none():
    """One training, then three for the probabilities: what a training cut short says is not believed."""
    stopper = Stopper(3)
    model = SupervisedCorrelationClustering(C=1.0, calibrate=True)
    with training_callback(stopper), pytest.warns(ChoiceWarning, match="interrupted: the model has no prob"):
        model.fit(*toy(0))
    assert stopper.begun == 3
    assert model.calibration_ is None
    assert model.result_.converged
