"""Which pairs of the items of a set are compared, sums over them, and their scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.distance import squareform

from clustruct.core.typing import Bools, Floats, Ints

from .equal_rows import EqualRows
from .matrices import Matrix, check_real, dense, symmetric_matrix


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
    """Position of the pair (a, b), a < b, in the order of scipy's `pdist`: m a - a(a+1)/2 + b - a - 1."""
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


def add_both_orders(pairs: Pairs, B: Matrix) -> Floats:
    """B_ij + B_ji of each compared pair. All pairs are as many as the triangle has entries."""
    if pairs.index is None:
        return np.asarray(squareform(dense(B + B.T), checks=False), dtype=np.float64)
    i, j = pairs.index.T
    return np.asarray(dense(B[i, j] + B[j, i]), dtype=np.float64)


def add_both_orders_of_factor(pairs: Pairs, Y: Matrix) -> Floats:
    """2 (Y Y')_ij of each compared pair; of listed ones from the two rows of Y alone."""
    if pairs.index is None:
        return add_both_orders(pairs, Y @ Y.T)
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


@dataclass(frozen=True, eq=False)
class PairScores(Pairs):
    """Scores of the pairs of m items: a matrix, values of listed pairs, or an operator.

    Parameters
    ----------
    n_items : int
        The number of items m.
    index : array of int, optional
        The listed pairs, one row each, the smaller item first; the others are not scored.
    sources : array of int, optional
        The number of each item's source; items of one source never share a cluster.
    matrix : array of float, optional
        All scores, m x m and symmetric; the diagonal counts for k-means only.
    values : array of float, optional
        The score of each listed pair.
    product : LinearOperator, optional
        V -> K V, for searches that only multiply.
    equal : EqualRows, optional
        Which items are equal: pairs are then listed of the first item of each row, and of that one with each
        equal one (not where these are of one source). They stand for all pairs of equal items.

    Examples
    --------
    >>> PairScores(3, index=np.array([[0, 2], [1, 2]]), values=np.array([3.0, -1.5])).graph().toarray()
    array([[ 0. ,  0. ,  3. ],
           [ 0. ,  0. , -1.5],
           [ 0. ,  0. ,  0. ]])
    """

    matrix: Floats | None = None
    values: Floats | None = None
    product: LinearOperator | None = None
    equal: EqualRows | None = None

    @classmethod
    def from_matrix(cls, K: Any) -> PairScores:
        """Anyone's scores: a symmetric array, or a sparse graph (symmetric, or one triangle)."""
        if not sparse.issparse(K):
            matrix = symmetric_matrix(K)
            return cls(len(matrix), matrix=matrix)
        check_real(K, "K")
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {K.shape}")
        upper, lower = sparse.triu(K, 1).tocoo(), sparse.tril(K, -1).T.tocoo()
        upper.sum_duplicates()
        lower.sum_duplicates()
        if upper.nnz and lower.nnz and abs(K - K.T).max() > 1e-8 * abs(K).max():
            raise ValueError("K is not symmetric (a sparse K is, or has entries in one triangle only)")
        edges = upper if upper.nnz else lower
        index = np.column_stack([edges.coords[0], edges.coords[1]]).astype(np.int64)
        return cls(K.shape[0], index=index, values=np.asarray(edges.data, dtype=np.float64))

    def graph(self) -> sparse.csr_array:
        """The listed scores as one triangle of a sparse signed graph."""
        assert self.index is not None
        i, j = self.index.T
        graph = sparse.csr_array((self.values, (i, j)), shape=(self.n_items, self.n_items))
        graph.eliminate_zeros()
        return graph

    def matrix_or_graph(self) -> Floats | sparse.csr_array:
        """The matrix, or the graph of the listed pairs."""
        return self.graph() if self.matrix is None else self.matrix

    def plus(self, coefficients: Floats) -> PairScores:
        """K_ab + c_ab, one coefficient for each scored pair."""
        if self.matrix is None:
            assert self.values is not None
            return replace(self, values=self.values + coefficients)
        if not len(coefficients):
            return self
        return replace(self, matrix=self.matrix + squareform(coefficients, checks=False))

    def times(self, factor: float) -> PairScores:
        """factor K_ab."""
        if self.product is not None:
            return replace(self, product=self.product * factor)
        if self.matrix is not None:
            return replace(self, matrix=self.matrix * factor)
        assert self.values is not None
        return replace(self, values=self.values * factor)

    def like(self, numbers: Floats) -> PairScores:
        """Other numbers for the same pairs, one for each (of a matrix: in the order of `pdist`)."""
        if self.matrix is not None:
            full = squareform(numbers, checks=False) if len(numbers) else np.zeros_like(self.matrix)
            return replace(self, matrix=full)
        return replace(self, values=numbers)

    def at(self, pairs: Ints) -> Floats:
        """The scores of some pairs (q x 2, smaller item first); nan where they are not listed."""
        if self.matrix is not None:
            return np.asarray(self.matrix[pairs[:, 0], pairs[:, 1]])
        assert self.values is not None
        listed = pairs if self.equal is None else self.equal.stand_ins(pairs)
        return np.asarray(np.append(self.values, np.nan)[self.rows_of(listed)])

    def take(self, items: Ints) -> PairScores:
        """The scores of the pairs of some items, which are numbered anew."""
        sources = None if self.sources is None else self.sources[items]
        if self.matrix is not None:
            return PairScores(len(items), sources=sources, matrix=self.matrix[np.ix_(items, items)])
        assert self.values is not None
        index, rows = self.pairs_within(items)
        return PairScores(len(items), index, sources, values=self.values[rows])

    def above(self, threshold: float) -> PairScores:
        """K_ab less a threshold; the diagonal and pairs that are not scored stay as they are."""
        if threshold == 0.0:
            return self
        if self.matrix is None:
            assert self.values is not None
            return replace(self, values=self.values - threshold)
        lowered = self.matrix - threshold
        np.fill_diagonal(lowered, np.diag(self.matrix))
        return replace(self, matrix=lowered)

    def with_equal_rows(self, equal: EqualRows) -> PairScores:
        """The same where some items are equal: what the first two of a row score, all of them do."""
        assert self.index is not None
        assert self.values is not None
        rows = equal.row[self.index]
        between = rows[:, 0] != rows[:, 1]
        inside, second = equal.pairs(), equal.place == 1
        known = self.rows_of(np.column_stack([equal.first[equal.row[second]], np.flatnonzero(second)]))
        identical = np.full(len(equal.counts), np.nan)
        identical[equal.row[second]] = np.append(self.values, np.nan)[known]
        of_pair = identical[equal.row[inside[:, 1]]]
        there = ~np.isnan(of_pair)
        index = np.concatenate([self.index[between], inside[there]])
        values = np.concatenate([self.values[between], of_pair[there]])
        order = np.argsort(index @ [self.n_items, 1], kind="stable")
        return replace(self, index=index[order], values=values[order], equal=equal)

    @property
    def between_rows(self) -> PairScores:
        """The scores of pairs of different rows, as those of rows."""
        if self.equal is None:
            return self
        assert self.index is not None
        assert self.values is not None
        rows = self.equal.row[self.index]
        between = rows[:, 0] != rows[:, 1]
        return PairScores(len(self.equal.counts), rows[between], values=self.values[between])

    @property
    def n_without_pairs(self) -> int:
        """How many items are in no compared pair, of a set of two items and more."""
        if self.index is None or self.n_items < 2:
            return 0
        there = np.zeros(self.n_items, np.bool_)
        there[self.index] = True
        if self.equal is not None:
            there = (
                np.bincount(self.equal.row, weights=there)[self.equal.row] + self.equal.counts[self.equal.row]
                > 1
            )
        return int(np.count_nonzero(~there))

    def list_pairs(self) -> PairScores:
        """The same scores with every pair of a matrix listed."""
        if self.matrix is None:
            return self
        index = self.pair_list
        return PairScores(self.n_items, index, self.sources, values=self.matrix[index[:, 0], index[:, 1]])

    def pairs_and_scores(self) -> tuple[Ints, Floats]:
        """The pairs of `list_pairs`, and the score of each."""
        listed = self.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        return listed.index, listed.values
