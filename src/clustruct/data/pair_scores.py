"""Scores of pairs, in the form that a search takes with least work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.distance import squareform

from clustruct.core.typing import Floats, Ints

from .matrices import check_real, symmetric_matrix
from .pairs import Pairs


@dataclass(frozen=True, eq=False)
class PairScores(Pairs):
    """Scores of the pairs of m items, in one of three forms.

    - ``matrix``: dense, symmetric, all pairs scored (the diagonal means something for k-means only);
    - ``index`` (p x 2, smaller item first, each pair once) and ``values`` (p): listed pairs, the others not
      scored;
    - ``product``: V -> K V, for searches that only multiply.

    Items of one of the ``sources``, where they are given, never share a cluster.
    Nothing turns listed pairs into a matrix.

    Parameters
    ----------
    n_items : int
        The number of items m.
    matrix : array of float, optional
        All scores, m x m and symmetric.
    index : array of int, optional
        The listed pairs, one row each, the smaller item first.
    values : array of float, optional
        The score of each listed pair.
    product : LinearOperator, optional
        What multiplies with the matrix of scores.
    sources : array of int, optional
        The number of each item's source.

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
        """The scores of some pairs (q x 2, smaller item first); nan where they are not listed.

        >>> listed = PairScores(3, index=np.array([[0, 2], [0, 1]]), values=np.array([3.0, -1.5]))
        >>> listed.at(np.array([[0, 1], [1, 2]]))
        array([-1.5,  nan])
        """
        if self.matrix is not None:
            return np.asarray(self.matrix[pairs[:, 0], pairs[:, 1]])
        assert self.values is not None
        return np.asarray(np.append(self.values, np.nan)[self.rows_of(pairs)])

    def take(self, items: Ints) -> PairScores:
        """The scores of the pairs of some items, which are numbered anew."""
        sources = None if self.sources is None else self.sources[items]
        if self.matrix is not None:
            return PairScores(len(items), sources=sources, matrix=self.matrix[np.ix_(items, items)])
        assert self.values is not None
        index, rows = self.pairs_within(items)
        return PairScores(len(items), index, sources, values=self.values[rows])

    def above(self, threshold: float) -> PairScores:
        """K_ab less a threshold; the diagonal and pairs that are not scored stay as they are.

        >>> PairScores(2, matrix=np.array([[0.0, 3.0], [3.0, 0.0]])).above(1.0).matrix
        array([[0., 2.],
               [2., 0.]])
        """
        if threshold == 0.0:
            return self
        if self.matrix is None:
            assert self.values is not None
            return replace(self, values=self.values - threshold)
        lowered = self.matrix - threshold
        np.fill_diagonal(lowered, np.diag(self.matrix))
        return replace(self, matrix=lowered)

    def list_pairs(self) -> PairScores:
        """The same scores with every pair of a matrix listed."""
        if self.matrix is None:
            return self
        index = self.pair_list
        return PairScores(self.n_items, index, self.sources, values=self.matrix[index[:, 0], index[:, 1]])
