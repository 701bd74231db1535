"""Nested leave-one-out."""

import numpy as np
import pytest

from clustruct.data.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.estimators.baselines import UntrainedKMeans
from studies.nested_cv import nested_leave_one_out


def test_the_protocol_never_looks_at_the_test_set():
    X, y = make_synth(n_sets=4, n_clusters=3, cluster_size=6, noise=0.4)
    rows = nested_leave_one_out(SupervisedKMeans(), X, y, C_grid=[0.01, 1.0])
    assert [row.test for row in rows] == [0, 1, 2, 3]
    for row in rows:
        assert (row.C, row.predictor) in row.inner
        assert row.inner[row.C, row.predictor] == pytest.approx(min(row.inner.values()))
        assert row.loss == row.outer[row.predictor]
    # Other labels for set 0 change nothing that was chosen for its own test.
    other = [np.roll(y[0], 3), *y[1:]]
    again = nested_leave_one_out(SupervisedKMeans(), X, other, C_grid=[0.01, 1.0])
    assert dict(again[0].inner) == dict(rows[0].inner)


def test_every_training_set_is_smaller_by_one():
    sizes = []

    class Counting(UntrainedKMeans):
        def fit(self, X, y=None, groups=None):
            sizes.append(len(X))
            return super().fit(X, y, groups)

    X, y = make_synth(n_sets=4, n_clusters=2, cluster_size=4)
    nested_leave_one_out(Counting(), X, y)
    assert sizes == [2] * 6 + [3] * 4
    with pytest.raises(ValueError, match="3 sets at least"):
        nested_leave_one_out(UntrainedKMeans(), X[:2], y[:2])


def test_trainings_that_are_kept_are_not_done_again():
    X, y = make_synth(n_sets=3, n_clusters=2, cluster_size=4)
    kept = {}

    def keep(key, make):
        if key not in kept:
            kept[key] = make()
        return kept[key]

    rows = nested_leave_one_out(SupervisedKMeans(), X, y, C_grid=[0.1, 1.0], keep=keep)
    assert len(kept) == 3 * 2 + 3
    again = nested_leave_one_out(None, X, y, C_grid=[0.1, 1.0], keep=keep)
    assert [row.loss for row in again] == [row.loss for row in rows]
