"""Constraints of the multi-label problem, held as label and edge differences instead of psi vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats
from clustruct.ssvm import PieceRows


@dataclass(frozen=True)
class PieceData:
    """The rows of X end to end, then a single 1 of which the edge entries are made."""

    data: Floats
    indices: NDArray[np.int32]
    start: NDArray[np.intp]
    length: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any) -> PieceData:
        n, d = X.shape
        if sparse.issparse(X):
            data, indices = np.append(X.data, 1.0), np.append(X.indices, 0).astype(np.int32)
            start, length = X.indptr[:-1].astype(np.intp), np.diff(X.indptr).astype(np.intp)
        else:
            data, indices = np.append(X.ravel(), 1.0), np.zeros(0, np.int32)
            start, length = np.arange(n) * d, np.full(n, d)
        return cls(data, indices, start, length)


@dataclass(frozen=True)
class MultiLabelConstraints:
    """One labeling per example: ``node_gaps`` is y_i - y, ``edge_gaps`` the same for edges.

    Psi(x_i, y_i) - Psi(x_i, y) has ``node_gaps[u] * x_i`` in block u and ``edge_gaps`` at the end.
    """

    X: Any
    indices: NDArray[np.intp]
    node_gaps: Floats
    edge_gaps: Floats
    losses: Floats
    pieces: PieceData
    known: tuple[Floats, Floats]

    def margins(self, w: Floats) -> Floats:
        if w is self.known[0]:
            return self.known[1]
        split = self.node_gaps.shape[1] * self.X.shape[1]
        unary = np.asarray(self.X[self.indices] @ w[:split].reshape(self.node_gaps.shape[1], -1).T)
        return np.asarray(np.sum(self.node_gaps * unary, axis=1) + self.edge_gaps @ w[split:])

    def combine(self, coefficients: Floats) -> Floats:
        weights = sparse.csr_array(self.node_gaps * coefficients[:, None])
        total = weights.T @ self.X[self.indices]
        nodes = total.toarray() if sparse.issparse(total) else np.asarray(total)
        return np.concatenate([nodes.ravel(), coefficients @ self.edge_gaps])

    def rows(self, which: NDArray[np.intp]) -> PieceRows:
        nodes, edges = self.node_gaps[which], self.edge_gaps[which]
        V, d = nodes.shape[1], self.X.shape[1]
        one = len(self.pieces.data) - 1
        gaps = np.hstack([nodes, edges])
        vector, column = np.nonzero(gaps)
        example = self.indices[which][vector]
        is_node = column < V
        return PieceRows(
            data=self.pieces.data,
            indices=self.pieces.indices,
            count=np.bincount(vector, minlength=len(which)),
            start=np.where(is_node, self.pieces.start[example], one),
            length=np.where(is_node, self.pieces.length[example], 1),
            offset=np.where(is_node, column * d, V * d + column - V),
            factor=gaps[vector, column],
            n_features=V * d + edges.shape[1],
        )
