"""Plane vectors as stretches of shared data, and pools that hand their planes on."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm import PieceRows
from clustruct.ssvm.pool import Segments


def pieces(data, indices):
    """Three vectors of length 8 over five numbers: two stretches, one, none."""
    return PieceRows(
        data=data,
        indices=indices,
        count=np.array([2, 1, 0]),
        start=np.array([0, 4, 2]),
        length=np.array([2, 1, 2]),
        offset=np.array([0, 7, 3]),
        factor=np.array([1.0, -2.0, 0.5]),
        n_features=8,
    )


DENSE = np.array([[1.0, 2, 0, 0, 0, 0, 0, -10], [0, 0, 0, 1.5, 2, 0, 0, 0], [0] * 8])
SPARSE = np.array([[1.0, 0, 2, 0, 0, 0, 0, -10], [0, 0, 0, 1.5, 0, 2, 0, 0], [0] * 8])


@pytest.mark.parametrize(("indices", "expected"), [([], DENSE), ([0, 2, 0, 2, 0], SPARSE)])
def test_pieces_are_their_vectors(indices, expected):
    rows = pieces(np.arange(1.0, 6.0), np.array(indices, np.int32))
    assert len(rows) == 3
    np.testing.assert_array_equal(rows.tocsr().toarray(), expected)
    factors = np.array([2.0, -1.0, 7.0])
    np.testing.assert_array_equal(rows.scale(factors).tocsr().toarray(), factors[:, None] * expected)


def test_segments_keep_copy_and_mix():
    rows = pieces(np.arange(1.0, 6.0), np.zeros(0, np.int32))
    held = Segments(8)
    held.add(rows)
    other = held.copy()
    other.add(sparse.csr_array(np.eye(8)[:2]))
    other.add(pieces(np.arange(1.0, 6.0), np.zeros(0, np.int32)))
    np.testing.assert_array_equal(held.tocsr().toarray(), DENSE)
    np.testing.assert_array_equal(other.tocsr().toarray(), np.vstack([DENSE, np.eye(8)[:2], DENSE]))
    held.keep(np.array([1, 2]))
    np.testing.assert_array_equal(held.tocsr().toarray(), DENSE[1:])
    assert other.count == 8


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("first", "second"), [(1.0, 30.0), (30.0, 1.0)])
def test_planes_of_an_earlier_fit_lead_to_the_same_optimum(norm, first, second):
    X, y = load_digits(return_X_y=True)
    problem = MulticlassProblem(X[::9] / 16.0, y[::9])
    settings = {"slack_norm": norm, "rtol": 1e-5}
    earlier = ssvm.fit(problem, first, **settings)
    cold = ssvm.fit(problem, second, **settings)
    warm = ssvm.fit(problem, second, w0=earlier, **settings)
    assert warm.objective == pytest.approx(cold.objective, rel=3e-5)
    assert warm.oracle_calls <= cold.oracle_calls
    again = ssvm.fit(problem, first, w0=earlier, **settings)
    assert again.objective == pytest.approx(earlier.objective, rel=3e-5)
