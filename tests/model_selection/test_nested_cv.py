"""Nested leave-one-out and the comparisons of Table 4.5."""

import numpy as np
import pytest

from clustruct.baselines import UntrainedKMeans
from clustruct.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.model_selection.nested_cv import compare, nested_leave_one_out

# Tables 4.3 and 4.4: Iterative and Spectral trained.
WEBKB_L = ([45.3, 59.8, 53.1, 47.3], [53.3, 56.7, 46.6, 60.2])
WEBKB_N = ([63.0, 69.9, 68.8, 72.6], [61.4, 56.8, 58.2, 66.2])
NEWS = (
    [23.7, 12.7, 28.1, 3.8, 15.2, 35.9, 3.7, 3.6, 22.7, 20.4, 24.6, 20.2, 16.1, 12.2]
    + [19.7, 4.6, 15.0, 19.4, 19.0, 5.8, 4.8],
    [20.6, 22.2, 28.7, 3.8, 14.3, 30.4, 2.4, 4.6, 9.5, 20.4, 23.7, 15.8, 13.8, 11.9]
    + [14.9, 6.3, 16.2, 20.3, 19.0, 11.6, 5.8],
)


@pytest.mark.parametrize(
    ("losses", "counts", "W"), [(WEBKB_L, (2, 0, 2), 4), (WEBKB_N, (0, 0, 4), 10), (NEWS, (8, 3, 10), 31)]
)
def test_table_4_5_from_its_own_tables(losses, counts, W):
    found = compare(*losses)
    assert (found.wins, found.ties, found.losses) == counts
    assert found.W == W
    assert found.n == counts[0] + counts[2]
    assert found.p_wilcoxon > 0.05


def test_compare_ties_and_bad_input():
    assert compare([1.0, 2.0], [1.0, 2.0]).p_sign == 1.0
    with pytest.raises(ValueError, match="equal length"):
        compare([1.0], [1.0, 2.0])


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
