"""Pairs of items: features psi_ab block by block, and scores K_ab = <w, psi_ab>, over plain arrays.

Node products:  K = X diag(w) X',            adjoint  Psi_f = (X' B X)_ff = sum_ab B_ab X_af X_bf.
Pair features:  K_ij = K_ji = (P w)_r,       adjoint  Psi = P' e,  e_r = B_ij + B_ji  for pair row r = (i, j).

X and P are float64 arrays or CSR; the functions below are the only place that tells the two apart. A pair
that is *scored* has a K_ab; where a set lists its pairs the others have none and are taken as apart. A pair
that is *judged* adds to the loss; a scored pair whose right answer is not known adds none. Last come the
checks of what a user passes to an ItemSet: each error names the row, column or item at fault.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import squareform

from clustruct.core.typing import Bools, Floats, Ints

Matrix: TypeAlias = Floats | sparse.csr_array
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix

# A dense product with wide sparse X is made in column blocks of about this many numbers (16 MB).
BLOCK_NUMBERS = 2_000_000


def condensed_index(m: int, a: Ints, b: Ints) -> Ints:
    """Position of the pair (a, b), a < b, in the order of scipy's `pdist`: m a - a(a+1)/2 + b - a - 1.

    >>> condensed_index(4, np.array([0, 1]), np.array([3, 2])).tolist()
    [2, 3]
    """
    return m * a - a * (a + 1) // 2 + b - a - 1


def all_pairs(m: int) -> Ints:
    """Every pair a < b of m items, in the order of scipy's `pdist`.

    Parameters
    ----------
    m : int
        The number of items.

    Returns
    -------
    array of int
        The pairs, one row each.

    Examples
    --------
    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.column_stack(np.triu_indices(m, 1)).astype(np.int64)


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


class AllPairs:
    """Every unordered pair of m items, in the order of scipy's `pdist`."""

    def __init__(self, m: int) -> None:
        self.m = m
        self.n_rows = m * (m - 1) // 2

    def rows(self, a: Ints, b: Ints) -> Ints:
        """Row number of each pair (a < b)."""
        return condensed_index(self.m, a, b)

    def gather(self, B: Matrix) -> Floats:
        """e_r = B_ij + B_ji. The pair features are as long as the triangle, so forming it adds little."""
        return np.asarray(squareform(dense(B + B.T), checks=False), dtype=np.float64)

    def gather_labels(self, labels: Ints) -> Floats:
        """e_r = 1[y_i = y_j], row by row so that no index array of all pairs is needed."""
        parts = [labels[a + 1 :] == labels[a] for a in range(self.m - 1)]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)

    def gather_factor(self, Y: Matrix) -> Floats:
        """e_r = 2 (Y Y')_ij."""
        return self.gather(Y @ Y.T)

    def spread(self, values: Floats) -> Floats:
        """K_ij = K_ji = values_r, zero diagonal."""
        return np.asarray(squareform(values), dtype=np.float64) if self.m > 1 else np.zeros((1, 1))

    def graph(self, values: Floats, diagonal: Floats | None) -> Floats:
        """`spread` with a diagonal: what multiplies vectors fastest."""
        K = self.spread(values)
        if diagonal is not None:
            K[np.diag_indices(self.m)] = diagonal
        return K


class SomePairs:
    """A list of unordered pairs of m items, each at most once, i < j in each row."""

    def __init__(self, m: int, index: Ints) -> None:
        self.m = m
        self.n_rows = index.shape[0]
        self.i, self.j = index[:, 0], index[:, 1]

    @cached_property
    def _row_order(self) -> tuple[Ints, Ints]:
        """One number for each pair, in order, and the rows in that order; made where pairs are looked up."""
        keys = self.i * self.m + self.j
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def rows(self, a: Ints, b: Ints) -> Ints:
        """Row number of each pair (a < b), or -1 where the pair is not listed."""
        if self.n_rows == 0:
            return np.full(np.shape(a), -1, dtype=np.int64)
        keys = a * self.m + b
        known, order = self._row_order
        place = np.minimum(np.searchsorted(known, keys), self.n_rows - 1)
        return np.where(known[place] == keys, order[place], -1)

    def gather(self, B: Matrix) -> Floats:
        """e_r = B_ij + B_ji."""
        return np.asarray(dense(B[self.i, self.j] + B[self.j, self.i]), dtype=np.float64)

    def gather_labels(self, labels: Ints) -> Floats:
        """e_r = 1[y_i = y_j]."""
        return np.asarray(labels[self.i] == labels[self.j], dtype=np.float64)

    def gather_factor(self, Y: Matrix) -> Floats:
        """e_r = 2 (Y Y')_ij, from the two rows of Y alone."""
        return 2.0 * np.asarray((Y[self.i] * Y[self.j]).sum(axis=1), dtype=np.float64).ravel()

    def spread(self, values: Floats) -> Floats:
        """K_ij = K_ji = values_r, zero elsewhere."""
        K = np.zeros((self.m, self.m))
        K[self.i, self.j] = values
        K[self.j, self.i] = values
        return K

    def graph(self, values: Floats, diagonal: Floats | None) -> sparse.csr_array:
        """`spread` with a diagonal, as a CSR matrix of the listed pairs."""
        upper = sparse.csr_array((values, (self.i, self.j)), shape=(self.m, self.m))
        whole = upper + upper.T
        if diagonal is not None:
            whole = whole + sparse.diags_array(diagonal)
        return sparse.csr_array(whole)


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


def count_items(
    nodes: Matrix | None,
    pairs: Matrix | None,
    diagonal: Matrix | None,
    ids: Sequence[Hashable] | None,
    n_items: int | None,
    *,
    listed: bool,
) -> int:
    """m, from whatever tells it; two sources that differ are an error."""
    tables = {"nodes": nodes, "pair_diagonal": diagonal}
    counts = {name: int(A.shape[0]) for name, A in tables.items() if A is not None}
    if ids is not None:
        counts["ids"] = len(ids)
    if n_items is not None:
        counts["n_items"] = int(n_items)
    if not counts and pairs is not None:
        counts["pairs"] = _count_from_pairs(pairs.shape[0], listed)
    source, m = next(iter(counts.items()))
    for other, value in counts.items():
        if value != m:
            raise ValueError(f"{source} gives {m} items, {other} gives {value}")
    if m < 1:
        raise ValueError(f"an item set needs at least one item ({source} gives {m})")
    return m


def _count_from_pairs(n_rows: int, listed: bool) -> int:
    """The m with m(m-1)/2 rows (1 for none)."""
    if listed:
        raise ValueError("pair_index without nodes, ids or pair_diagonal needs n_items")
    m = (1 + math.isqrt(1 + 8 * n_rows)) // 2
    if m * (m - 1) // 2 != n_rows:
        raise ValueError(f"pairs has {n_rows} rows, which is not m(m-1)/2 for any m")
    return m


def check_pair_index(pair_index: ArrayLike, m: int, pairs: Matrix | None) -> Ints:
    """The listed pairs as a (p, 2) array with the smaller item first, read-only."""
    given: NDArray[Any] = np.asarray(pair_index)
    if given.size == 0:
        given = np.zeros((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"pair_index must be a (p, 2) integer array, got {given.dtype} {given.shape}")
    if pairs is not None and pairs.shape[0] != given.shape[0]:
        raise ValueError(f"pair_index has {given.shape[0]} rows, pairs has {pairs.shape[0]}")
    index = given.astype(np.int64)
    if (index[:, 0] > index[:, 1]).any():
        index.sort(axis=1)
    _refuse_row((index < 0) | (index >= m), given, f"names an item outside 0..{m - 1}")
    _refuse_row(index[:, :1] == index[:, 1:], given, "pairs an item with itself (use pair_diagonal)")
    keys = index[:, 0] * m + index[:, 1]
    if not (keys[1:] > keys[:-1]).all():  # lists in order, as blocking makes them, repeat nothing
        _, first = np.unique(keys, return_index=True)
        repeated = np.ones((keys.size, 1), dtype=np.bool_)
        repeated[first] = False
        _refuse_row(repeated, given, "repeats an earlier pair")
    index.flags.writeable = False
    return index


def _refuse_row(wrong: Bools, given: NDArray[Any], reason: str) -> None:
    rows = np.flatnonzero(wrong.any(axis=1))
    if rows.size:
        raise ValueError(f"pair_index: row {rows[0]} {given[rows[0]].tolist()} {reason}")


def check_ids(ids: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Distinct item names."""
    if ids is None:
        return None
    names = tuple(ids)
    seen: dict[Hashable, int] = {}
    for a, name in enumerate(names):
        if seen.setdefault(name, a) != a:
            raise ValueError(f"ids: items {seen[name]} and {a} are both named {name!r}")
    return names


def check_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """One string for each entry of psi."""
    if names is None:
        return None
    given = tuple(names)
    if len(given) != n_features:
        raise ValueError(f"feature_names has {len(given)} entries for {n_features} features")
    for f, name in enumerate(given):
        if not isinstance(name, str):
            raise ValueError(f"feature_names: entry {f} is not a string ({name!r})")
    return given


def check_sources(sources: ArrayLike, m: int) -> Ints:
    """One whole number for each item, read-only."""
    given: NDArray[Any] = np.asarray(sources)
    if given.shape != (m,) or given.dtype.kind not in "iu":
        raise ValueError(f"sources must be {m} integers, got {given.dtype} {given.shape}")
    held = given.astype(np.int64)
    held.flags.writeable = False
    return held
