"""Arrays and CSR matrices of item and pair features: the only place that distinguishes the two.

Node products:  K = X diag(w) X',            adjoint  Psi_f = (X' B X)_ff = sum_ab B_ab X_af X_bf.
Pair features:  K_ij = K_ji = (P w)_r,       adjoint  Psi = P' e,  e_r = B_ij + B_ji  for pair row r = (i, j).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct.core.typing import Floats, Ints

Matrix: TypeAlias = Floats | sparse.csr_array
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

# A dense product with wide sparse X is made in column blocks of about this many numbers (16 MB).
BLOCK_NUMBERS = 2_000_000


def node_similarity(X: Matrix, w: Floats) -> Floats:
    """K = X diag(w) X' (m x m, exactly symmetric). O(m^2 N) dense; sparse X costs its products only."""
    K = dense((X * w) @ X.T)
    return (K + K.T) / 2  # BLAS rounds the two halves differently


def node_adjoint(X: Matrix, B: Floats | sparse.csr_array) -> Floats:
    """diag(X' B X) for any square B. No array larger than m x m or m x N_n (dense X) is formed."""
    if isinstance(B, sparse.csr_array) or not isinstance(X, sparse.csr_array):
        return column_sums(X * (B @ X))
    m, n = X.shape
    width = max(1, BLOCK_NUMBERS // m)
    by_column = X.tocsc()
    blocks = [by_column[:, f : f + width] for f in range(0, n, width)]
    return np.concatenate([column_sums(block * (B @ block)) for block in blocks] or [np.zeros(0)])


def dense(A: Matrix) -> Floats:
    """A as an array."""
    return A if isinstance(A, np.ndarray) else A.toarray()


def row_squares(A: Matrix) -> Floats:
    """sum_c A_fc^2 for each row f."""
    squares = A * A  # elementwise for arrays and for sparse arrays
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def column_sums(A: Matrix) -> Floats:
    """sum_a A_af for each column f, dense or sparse."""
    return np.asarray(A.sum(axis=0), dtype=np.float64).ravel()


def pick_rows(A: Matrix, rows: Ints) -> Matrix:
    """The rows named, zero rows for -1."""
    found = np.flatnonzero(rows >= 0)
    if isinstance(A, sparse.csr_array):
        pick = sparse.csr_array((np.ones(found.size), (found, rows[found])), shape=(rows.size, A.shape[0]))
        return sparse.csr_array(pick @ A)
    out = np.zeros((rows.size, A.shape[1]))
    out[found] = A[rows[found]]
    return out


def symmetric_matrix(K: Any) -> Floats:
    """K as a finite symmetric C-ordered array."""
    check_real(K, "K")
    dense = np.ascontiguousarray(K, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1] or len(dense) == 0:
        raise ValueError(f"K must be a square matrix, got shape {dense.shape}")
    if not np.isfinite(dense).all():
        a, b = np.argwhere(~np.isfinite(dense))[0]
        raise ValueError(f"K: row {a}, column {b} is {dense[a, b]}")
    uneven = np.abs(dense - dense.T)
    if uneven.max() > 1e-9 * np.abs(dense).max():
        a, b = np.unravel_index(int(uneven.argmax()), uneven.shape)
        raise ValueError(f"K is not symmetric: K[{a}, {b}] = {dense[a, b]}, K[{b}, {a}] = {dense[b, a]}")
    return dense


def check_real(values: Any, name: str) -> None:
    """Refuse what would lose something on its way to plain numbers: imaginary parts, a mask, times."""
    check_plain(values, name)
    if np.iscomplexobj(values):
        raise ValueError(f"{name} must be real numbers, not complex ones")


def check_plain(values: Any, name: str) -> None:
    """Refuse a mask, and times."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array: fill in or leave out what is masked")
    if getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M"):
        raise ValueError(f"{name} must be numbers, not dates or times")


def check_matrix(values: MatrixLike, name: str) -> Matrix:
    """A finite two-dimensional float64 array (read-only view) or CSR in canonical form."""
    check_real(values, name)
    if sparse.issparse(values):
        return _check_sparse(values, name)
    try:
        dense = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a two-dimensional array of numbers: {error}") from None
    if dense.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {dense.shape}")
    if not np.isfinite(dense).all():
        row, column = np.argwhere(~np.isfinite(dense))[0]
        raise ValueError(f"{name}: row {row}, column {column} is {dense[row, column]}")
    view = dense.view()
    view.flags.writeable = False
    return view


def _check_sparse(values: sparse.sparray, name: str) -> sparse.csr_array:
    if values.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {values.shape}")
    csr = sparse.csr_array(values, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # sum_duplicates works in place; the caller's matrix must not change
        csr.sum_duplicates()
    bad = ~np.isfinite(csr.data)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(csr.indptr, place, side="right")) - 1
        raise ValueError(f"{name}: row {row}, column {csr.indices[place]} is {csr.data[place]}")
    csr.data = csr.data.view()  # the caller's own array stays writeable
    csr.data.flags.writeable = False
    return csr
