"""A fit that was cut short, in the choice of C or after it, goes on where it was."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from clustruct import ItemSet, MultiLabelMRF, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ModelFileError
from clustruct.ssvm.checkpoint import Checkpoint

# Random data: any C may be the best, and choices are cut short on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ChoiceWarning")

KINDS = {
    "correlation": (SupervisedCorrelationClustering, {"cv": 3, "C_grid": (0.1, 1.0, 10.0), "rtol": 1e-6}),
    "kmeans": (SupervisedKMeans, {"cv": 3, "C_grid": (0.1, 1.0, 10.0), "rtol": 1e-4}),
}


def toy(seed=0, n=6, m=7):
    rng = np.random.default_rng(seed)
    labels = [rng.integers(0, 3, m) for _ in range(n)]
    sets = []
    for y in labels:
        a, b = np.triu_indices(m, 1)
        same = (y[a] == y[b])[:, None] + rng.normal(size=(len(a), 4))
        sets.append(ItemSet(pairs=np.column_stack([same, np.ones(len(a))]), pair_diagonal=np.ones((m, 5))))
    return sets, labels


def make(kind, **options):
    cls, usual = KINDS[kind]
    return cls(**(usual | options))


class Begun(Callback):
    """Which trainings begin; one of them is cut short by what ``end`` does, after its first round."""

    def __init__(self, at=None, end=None):
        self.at, self.end, self.trainings = at, end, []

    def on_begin(self, training):
        self.trainings.append((training.stage, training.done, training.C))

    def on_iteration(self, training, iteration):
        if self.at is not None and len(self.trainings) == self.at:
            self.end()


@pytest.fixture
def every_round(monkeypatch):
    monkeypatch.setattr(Checkpoint, "every", 0.0)


KILLED = """
import os, signal, sys
from clustruct.core.callbacks import training_callback
from clustruct.ssvm.checkpoint import Checkpoint
from tests.estimators.test_checkpoints import Begun, make, toy

Checkpoint.every = 0.0
kind, path, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
with training_callback(Begun(at, lambda: os.kill(os.getpid(), signal.SIGKILL))):
    make(kind, checkpoint=path).fit(*toy())
"""


def assert_same_model(one, other):
    assert one.C_ == other.C_
    assert np.allclose(one.cv_results_["losses"], other.cv_results_["losses"])
    assert np.allclose(one.w_, other.w_, atol=2e-2 * np.abs(other.w_).max())
    assert one.result_.objective == pytest.approx(other.result_.objective, rel=1e-3)
    sets, labels = toy(1)
    assert np.array_equal(one.set_losses(sets, labels), other.set_losses(sets, labels))


# Three folds of three trainings, for correlation clustering three more that probabilities are learned by, and
# the last on all sets.
TRAININGS = {"correlation": 13, "kmeans": 10}


# Killed in the first, between, after the choice, and in the last.
@pytest.mark.parametrize("at", [1, 5, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_fit_resumes(tmp_path, kind, at):
    path = tmp_path / "fit.checkpoint"
    child = subprocess.run([sys.executable, "-c", KILLED, kind, str(path), str(at)], check=False)
    assert child.returncode == -signal.SIGKILL
    assert path.exists()
    seen = Begun()
    with training_callback(seen):
        resumed = make(kind, checkpoint=path).fit(*toy())
    assert_same_model(resumed, make(kind).fit(*toy()))
    assert len(seen.trainings) == 1 + TRAININGS[kind] - at
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", [5, 10])
@pytest.mark.usefixtures("every_round")
def test_a_fit_stopped_by_ctrl_c_resumes(tmp_path, at):
    path, sets = tmp_path / "fit.checkpoint", toy()

    def interrupt():
        raise KeyboardInterrupt

    with training_callback(Begun(at, interrupt)):
        model = make("correlation", checkpoint=path).fit(*sets)
    assert model.result_.stop_reason == "interrupted"
    seen = Begun()
    with training_callback(seen):
        resumed = make("correlation", checkpoint=path).fit(*sets)
    assert_same_model(resumed, make("correlation").fit(*sets))
    assert len(seen.trainings) == 1 + TRAININGS["correlation"] - at
    assert not path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_finished_fit_leaves_no_file(tmp_path, kind):
    plain, kept = make(kind).fit(*toy()), make(kind, checkpoint=tmp_path / "c").fit(*toy())
    assert np.array_equal(plain.w_, kept.w_)
    assert list(tmp_path.iterdir()) == []


def cut(path, **options):
    """A fit that leaves its checkpoint after the first trainings."""

    def interrupt():
        raise KeyboardInterrupt

    with training_callback(Begun(5, interrupt)):
        make("correlation", checkpoint=path, **options).fit(*toy())
    assert path.exists()


@pytest.mark.usefixtures("every_round")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "purity"}, "not the same loss"),
        ({"oracle": "local_search"}, "not the same oracle"),
        ({"scaling": "slack"}, "its scaling is margin, here it is slack"),
        ({"rescale": False}, "its rescale is True, here it is False"),
        ({"predictor": "greedy"}, "not the same predictor"),
        ({"random_state": 1}, "its random_state is 0, here it is 1"),
        ({"nonnegative": True}, "its constraints is None, here it is nonnegative"),
        ({"rtol": 1e-3}, "its rtol is 1e-06, here it is 0.001"),
    ],
)
def test_another_fit_is_refused(tmp_path, options, message):
    cut(tmp_path / "c")
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(ValueError, match=f"c belongs to another run: {message}"):
        make("correlation", checkpoint=tmp_path / "c", **options).fit(*toy())
    assert (tmp_path / "c").read_bytes() == before


@pytest.mark.usefixtures("every_round")
def test_other_data_is_refused_by_name(tmp_path):
    cut(tmp_path / "c")
    sets, labels = toy()
    model = make("correlation", checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="not the same features, labels"):
        model.fit(*toy(1))
    with pytest.raises(ValueError, match="not the same labels"):
        model.fit(sets, labels[::-1])
    with pytest.raises(ValueError, match="not the same features"):
        model.fit([ItemSet(pairs=x.pairs * 2, pair_diagonal=x.pair_diagonal) for x in sets], labels)
    with pytest.raises(ValueError, match="not the same sample_weight"):
        model.fit(sets, labels, sample_weight=[1, 1, 1, 1, 1, 2])


def test_a_file_that_is_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes").write_text("not a checkpoint")
    with pytest.raises(ModelFileError, match="notes is not a readable checkpoint"):
        make("correlation", checkpoint=tmp_path / "notes").fit(*toy())
    assert (tmp_path / "notes").read_text() == "not a checkpoint"
    with pytest.raises(ValueError, match="there is no folder"):
        make("correlation", checkpoint=tmp_path / "no" / "c").fit(*toy())


def test_multilabel_takes_one_too(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), (rng.normal(size=(60, 3)) > 0).astype(int)
    whole = MultiLabelMRF(C=100.0, rtol=1e-6, max_iter=1000).fit(X, Y)
    with pytest.warns(UserWarning, match="max_iter"):
        MultiLabelMRF(C=100.0, rtol=1e-6, max_iter=2, checkpoint=tmp_path / "c").fit(X, Y)
    resumed = MultiLabelMRF(C=100.0, rtol=1e-6, checkpoint=tmp_path / "c").fit(X, Y)
    assert resumed.result_.objective == pytest.approx(whole.result_.objective, rel=1e-5)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("at", [2, 6, 7])  # the fifth ends where it begins
def test_a_choice_inside_a_table_goes_on(tmp_path, every_round, at):
    from tests.estimators.test_partial_labels import hide, table

    x, y = table(m=120, k=40)
    path = tmp_path / "fit"
    model = SupervisedCorrelationClustering(C_grid=(1.0, 10.0), checkpoint=path)
    wanted = SupervisedCorrelationClustering(C_grid=(1.0, 10.0)).fit(x, hide(y, 0.8))

    def interrupt():
        raise KeyboardInterrupt

    with training_callback(Begun(at, interrupt)):
        model.fit(x, hide(y, 0.8))
    assert path.exists()
    seen = Begun()
    with training_callback(seen):
        model.fit(x, hide(y, 0.8))
    assert len(seen.trainings) == 7 - (at - 1)  # what was finished is not done again
    assert model.C_ == wanted.C_
    found, losses = model.cv_results_["losses"], wanted.cv_results_["losses"]
    assert found.shape == losses.shape
    # The training that was cut short goes on from its planes, and ends elsewhere within the same gap.
    assert at < 7 or np.allclose(found, losses)
    assert not path.exists()
    with training_callback(Begun(at, interrupt)):
        model.fit(x, hide(y, 0.8))
    with pytest.raises(ValueError, match="belongs to another run"):
        model.fit(x, hide(y, 0.7))
