"""Which pairs of the items of a set are compared, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import squareform

from clustruct.core.typing import Bools, Floats, Ints

from .matrices import Matrix, dense


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


def condensed_index(m: int, a: Ints, b: Ints) -> Ints:
    """Position of the pair (a, b), a < b, in the order of scipy's `pdist`: m a - a(a+1)/2 + b - a - 1.

    >>> condensed_index(4, np.array([0, 1]), np.array([3, 2])).tolist()
    [2, 3]
    """
    return m * a - a * (a + 1) // 2 + b - a - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which pairs of m items are compared: those listed, or all of them.

    Parameters
    ----------
    n_items : int
        The number of items m.
    index : array of int, optional
        The compared pairs, one row each, the smaller item first, each pair once. None: all pairs, in the
        order of scipy's `pdist`.
    sources : array of int, optional
        The number of each item's source; items of one source never share a cluster.

    Examples
    --------
    >>> some = Pairs(4, np.array([[1, 2], [0, 3]]))
    >>> some.n_pairs, some.rows_of(np.array([[0, 3], [0, 1]])).tolist(), Pairs(4).n_pairs
    (2, [1, -1], 6)
    """

    n_items: int
    index: Ints | None = None
    sources: Ints | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the compared pairs are listed, the others being taken as apart."""
        return self.index is not None

    @property
    def n_pairs(self) -> int:
        """The number of compared pairs."""
        return self.n_items * (self.n_items - 1) // 2 if self.index is None else len(self.index)

    @property
    def pair_list(self) -> Ints:
        """The compared pairs, one row each; those of a set that compares all are made by each call."""
        return all_pairs(self.n_items) if self.index is None else self.index

    def rows_of(self, pairs: Ints) -> Ints:
        """The place of some pairs (smaller item first) among the compared ones, -1 where not compared."""
        a, b = pairs[:, 0], pairs[:, 1]
        if self.index is None:
            return condensed_index(self.n_items, a, b)
        if not len(self.index):
            return np.full(len(pairs), -1, dtype=np.int64)
        keys, (known, order) = a * self.n_items + b, self._row_order
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[place] == keys, order[place], -1)

    def compares(self, a: int, b: int) -> bool:
        """Whether two items, in either order, are a compared pair."""
        return bool(self.rows_of(np.array([[min(a, b), max(a, b)]]))[0] >= 0)

    @cached_property
    def _row_order(self) -> tuple[Ints, Ints]:
        """One number for each listed pair, sorted, and the rows in that order."""
        keys = self.pair_list[:, 0] * self.n_items + self.pair_list[:, 1]
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def pairs_within(self, items: Ints) -> tuple[Ints | None, Ints]:
        """The compared pairs of some items, numbered by these (None: all), and their rows in the list."""
        if self.index is None:
            pairs = np.sort(items[all_pairs(len(items))], axis=1)
            return None, self.rows_of(pairs)
        place = np.full(self.n_items, -1, dtype=np.int64)
        place[items] = np.arange(len(items))
        index = place[self.index]
        inside = (index >= 0).all(axis=1)
        return index[inside], np.flatnonzero(inside)


def sum_ordered(pairs: Pairs, B: Matrix) -> Floats:
    """B_ij + B_ji of each compared pair. All pairs are as many as the triangle has entries."""
    if pairs.index is None:
        return np.asarray(squareform(dense(B + B.T), checks=False), dtype=np.float64)
    i, j = pairs.index.T
    return np.asarray(dense(B[i, j] + B[j, i]), dtype=np.float64)


def sum_ordered_factor(pairs: Pairs, Y: Matrix) -> Floats:
    """2 (Y Y')_ij of each compared pair; of listed ones from the two rows of Y alone."""
    if pairs.index is None:
        return sum_ordered(pairs, Y @ Y.T)
    i, j = pairs.index.T
    return 2.0 * np.asarray((Y[i] * Y[j]).sum(axis=1), dtype=np.float64).ravel()


def are_together(pairs: Pairs, labels: Ints) -> Floats:
    """1[y_i = y_j] of each compared pair; of all pairs item by item, so that none are listed."""
    if pairs.index is None:
        parts = [labels[a + 1 :] == labels[a] for a in range(pairs.n_items - 1)]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)
    i, j = pairs.index.T
    return np.asarray(labels[i] == labels[j], dtype=np.float64)


def full_matrix(pairs: Pairs, values: Floats) -> Floats:
    """The symmetric matrix with one value for each compared pair, zero elsewhere."""
    if pairs.index is None:
        return np.asarray(squareform(values), dtype=np.float64) if pairs.n_items > 1 else np.zeros((1, 1))
    K = np.zeros((pairs.n_items, pairs.n_items))
    i, j = pairs.index.T
    K[i, j] = values
    K[j, i] = values
    return K


def fastest_matrix(pairs: Pairs, values: Floats, diagonal: Floats | None) -> Matrix:
    """The same with a diagonal, in the form that multiplies vectors fastest: CSR where pairs are listed."""
    if pairs.index is None:
        K = full_matrix(pairs, values)
        if diagonal is not None:
            K[np.diag_indices(pairs.n_items)] = diagonal
        return K
    i, j = pairs.index.T
    upper = sparse.csr_array((values, (i, j)), shape=(pairs.n_items, pairs.n_items))
    whole = upper + upper.T
    return sparse.csr_array(whole if diagonal is None else whole + sparse.diags_array(diagonal))


def check_sources(sources: ArrayLike, m: int) -> Ints:
    """One whole number for each item, read-only."""
    given: NDArray[Any] = np.asarray(sources)
    if given.shape != (m,) or given.dtype.kind not in "iu":
        raise ValueError(f"sources must be {m} integers, got {given.dtype} {given.shape}")
    held = given.astype(np.int64)
    held.flags.writeable = False
    return held


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
