"""Scores of the pairs of one set, which of them are judged, and the coefficients that pairs get from a
clustering.

    K_ab = <w, psi_ab>,     Psi(x, y) = sum_ab B_ab(y) psi_ab,     <w, Psi> = sum_ab B_ab K_ab

A pair that is *scored* has a K_ab; where a set lists its pairs the others have none and are taken as apart. A
pair that is *judged* adds to the loss; a scored pair whose right answer is not known adds none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.distance import squareform

from clustruct._typing import Bools, Floats, Ints
from clustruct.itemsets import ItemSet

__all__ = ["PairCoefficients", "PairScores", "symmetric_matrix"]


@dataclass(frozen=True)
class PairScores:
    """Scores of the pairs of m items, in one of three forms.

    - ``matrix``: dense, symmetric, all pairs scored (the diagonal means something for k-means only);
    - ``index`` (p x 2, smaller item first) and ``values`` (p): listed pairs, the others not scored;
    - ``product``: V -> K V, for searches that only multiply.

    Nothing turns listed pairs into a matrix. ``judged`` says which scored pairs (in the order of ``index``,
    or of scipy's `pdist` for a matrix) count in the loss; None: all of them.

    >>> x = ItemSet(pairs=[[2.0], [-1.0]], pair_index=[[0, 2], [1, 2]], n_items=3)
    >>> PairScores.of(x, np.array([1.5])).graph().toarray()
    array([[ 0. ,  0. ,  3. ],
           [ 0. ,  0. , -1.5],
           [ 0. ,  0. ,  0. ]])
    """

    n_items: int
    matrix: Floats | None = None
    index: Ints | None = None
    values: Floats | None = None
    product: LinearOperator | None = None
    judged: Bools | None = None

    @classmethod
    def of(cls, x: ItemSet, w: Floats, factor: float = 1.0, judged: Bools | None = None) -> PairScores:
        """factor <w, psi_ab>: listed where the set lists its pairs and has no nodes, else a matrix."""
        if x.is_sparse and x.pairs is not None:
            values = np.asarray(x.pairs @ w, dtype=np.float64) * factor
            return cls(x.n_items, index=x.pair_index, values=values, judged=judged)
        K = x.similarity(w)
        return cls(x.n_items, matrix=K if factor == 1.0 else K * factor, judged=judged)

    @classmethod
    def from_matrix(cls, K: Any) -> PairScores:
        """Anyone's scores: a symmetric array, or a sparse graph (symmetric, or one triangle)."""
        if not sparse.issparse(K):
            matrix = symmetric_matrix(K)
            return cls(len(matrix), matrix=matrix)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {K.shape}")
        upper, lower = sparse.triu(K, 1).tocoo(), sparse.tril(K, -1).T.tocoo()
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

    def signed(self) -> Floats | sparse.csr_array:
        """What correlation clustering takes: the matrix, or the graph of the listed pairs."""
        return self.graph() if self.matrix is None else self.matrix

    def plus(self, coefficients: Floats) -> PairScores:
        """K_ab + c_ab, one coefficient for each scored pair."""
        if self.matrix is None:
            assert self.values is not None
            return replace(self, values=self.values + coefficients)
        if not len(coefficients):
            return self
        return replace(self, matrix=self.matrix + squareform(coefficients, checks=False))

    def listed(self) -> PairScores:
        """The same scores with every pair of a matrix listed."""
        if self.matrix is None:
            return self
        index = np.column_stack(np.triu_indices(self.n_items, 1)).astype(np.int64)
        values = self.matrix[index[:, 0], index[:, 1]]
        return PairScores(self.n_items, index=index, values=values, judged=self.judged)


@dataclass(frozen=True)
class PairCoefficients:
    """B of Psi = sum_ab B_ab psi_ab, in the form that a set's adjoint takes with least work.

    ``labels``: 1 for a < b together (correlation clustering); ``degrees``: e_ab for a < b (its relaxation);
    ``factor``: Y Y' over all ordered pairs, diagonal included (k-means and its relaxations).

    >>> x = ItemSet(nodes=[[1.0], [2.0], [4.0]])
    >>> PairCoefficients(labels=np.array([0, 1, 0])).joint_feature(x)
    array([4.])
    """

    labels: Ints | None = None
    degrees: Floats | None = None
    factor: Floats | sparse.csr_array | None = None

    def joint_feature(self, x: ItemSet) -> Floats:
        """Psi, in the units of the set."""
        if self.factor is not None:
            return x.joint_feature_factor(self.factor)
        if self.degrees is not None:
            return x.joint_feature_edges(self.degrees)
        assert self.labels is not None
        return x.joint_feature_pairs(self.labels)


def symmetric_matrix(K: Any) -> Floats:
    """K as a finite symmetric C-ordered array."""
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
