"""Constraints of the multi-label problem, held as label and edge differences instead of psi vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Indices
from clustruct.ssvm import PieceRows

from ._rows import RowConstraints, SharedRows


class RowData(SharedRows):
    """The rows of X, then a single 1 of which the edge entries are made.

    Where ``constant``, X gets a column of ones at its end. ``X`` becomes a view of ``data``.
    """

    def __init__(self, X: Any, constant: bool = False) -> None:
        n, d = X.shape[0], X.shape[1] + constant
        if sparse.issparse(X):
            rows = sparse.csr_array(sparse.hstack([X, np.ones((n, 1))]) if constant else X)
            data, indices = np.append(rows.data, 1.0), np.append(rows.indices, 0).astype(np.int32)
            super().__init__(sparse.csr_array((data[:-1], indices[:-1], rows.indptr), shape=(n, d)))
            self.indices = indices
        else:
            data = np.ones(n * d + 1)
            view = data[:-1].reshape(n, d)
            view[:, : X.shape[1]] = X
            super().__init__(view)
        self.data = data


@dataclass(frozen=True)
class MultiLabelConstraints(RowConstraints):
    """One labeling per example: ``node_gaps`` is y_i - y, ``edge_gaps`` the same for edges.

    Psi(x_i, y_i) - Psi(x_i, y) has ``node_gaps[u] * x_i`` in block u and ``edge_gaps`` at the end.
    """

    source: RowData
    node_gaps: Floats
    edge_gaps: Floats

    def margins(self, w: Floats) -> Floats:
        if self.is_known(w):
            return self.known[1]
        split = self.node_gaps.shape[1] * self.source.X.shape[1]
        unary = np.asarray(self.source.X[self.indices] @ w[:split].reshape(self.node_gaps.shape[1], -1).T)
        return np.asarray(np.sum(self.node_gaps * unary, axis=1) + self.edge_gaps @ w[split:])

    def combine(self, coefficients: Floats) -> Floats:
        weights = sparse.csr_array(self.node_gaps * coefficients[:, None])
        total = weights.T @ self.source.X[self.indices]
        nodes = total.toarray() if sparse.issparse(total) else np.asarray(total)
        return np.concatenate([nodes.ravel(), coefficients @ self.edge_gaps])

    def rows(self, which: Indices) -> PieceRows:
        nodes, edges = self.node_gaps[which], self.edge_gaps[which]
        V, d = nodes.shape[1], self.source.X.shape[1]
        one = len(self.source.data) - 1
        gaps = np.hstack([nodes, edges])
        vector, column = np.nonzero(gaps)
        example = self.indices[which][vector]
        is_node = column < V
        return PieceRows(
            data=self.source.data,
            indices=self.source.indices,
            count=np.bincount(vector, minlength=len(which)),
            start=np.where(is_node, self.source.start[example], one),
            length=np.where(is_node, self.source.length[example], 1),
            offset=np.where(is_node, column * d, V * d + column - V),
            factor=gaps[vector, column],
            n_features=V * d + edges.shape[1],
        )
