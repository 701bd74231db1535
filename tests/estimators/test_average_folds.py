"""Weights that are the mean of the trainings on the folds and on all."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import clustruct
from clustruct.learning.model_selection import split_sets

from .test_checkpoints import make, toy

pytestmark = pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ChoiceWarning")


def test_the_mean_of_trainings_made_by_hand():
    sets, labels = toy()
    grid, tight = (1.0,), {"rtol": 1e-8}
    mean = make("correlation", C_grid=(*grid, 2.0), average_folds=True, **tight).fit(sets, labels)
    C = mean.C_
    by_hand = [
        make("correlation", C=C, **tight).fit([sets[i] for i in train], [labels[i] for i in train]).w_
        for train, _ in split_sets(len(sets), 3, 0)
    ]
    alone = make("correlation", C=C, **tight).fit(sets, labels)
    np.testing.assert_allclose(mean.result_.w, alone.w_, atol=1e-3 * np.abs(alone.w_).max())
    # The trainings of a choice end early: near, not the same.
    expected = np.mean([*by_hand, alone.w_], axis=0)
    np.testing.assert_allclose(mean.w_, expected, atol=0.2 * np.abs(expected).max())
    assert np.linalg.norm(mean.w_ - expected) < 0.5 * np.linalg.norm(alone.w_ - expected)


def test_each_training_counts_once(monkeypatch):
    model, chosen = make("correlation", average_folds=True), []
    choice = type(model)._choice

    def noted(self, *given):
        chosen.append(choice(self, *given))
        return chosen[-1]

    monkeypatch.setattr(type(model), "_choice", noted)
    model.fit(*toy())
    assert len(chosen[0].weights) == 3
    expected = (model.result_.w + sum(chosen[0].weights)) / 4
    np.testing.assert_allclose(model.w_, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["correlation", "kmeans"])
def test_nothing_to_average_without_a_choice(kind):
    sets, labels = toy()
    one, other = (make(kind, C=1.0, average_folds=on).fit(sets, labels) for on in (True, False))
    np.testing.assert_array_equal(one.w_, other.w_)


def test_a_file_keeps_both(tmp_path):
    sets, labels = toy()
    model = make("correlation", average_folds=True).fit(sets, labels)
    assert not np.allclose(model.w_, model.result_.w)
    clustruct.save(tmp_path / "m.model", model)
    read = clustruct.load(tmp_path / "m.model")
    np.testing.assert_array_equal(read.w_, model.w_)
    np.testing.assert_array_equal(read.result_.w, model.result_.w)


KILLED = """
import os, signal, sys
from clustruct.core.callbacks import training_callback
from clustruct.ssvm.checkpoint import Checkpoint
from tests.estimators.test_checkpoints import Begun, make, toy

Checkpoint.every = 0.0
with training_callback(Begun(10, lambda: os.kill(os.getpid(), signal.SIGKILL))):
    make("correlation", checkpoint=sys.argv[1], average_folds=True).fit(*toy())
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_choice_taken_up_again_has_the_same_mean(tmp_path):
    path = tmp_path / "fit.checkpoint"
    child = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert child.returncode == -signal.SIGKILL
    resumed = make("correlation", checkpoint=path, average_folds=True).fit(*toy())
    whole = make("correlation", average_folds=True).fit(*toy())
    assert resumed.C_ == whole.C_
    np.testing.assert_allclose(resumed.w_, whole.w_, atol=2e-2 * np.abs(whole.w_).max())
