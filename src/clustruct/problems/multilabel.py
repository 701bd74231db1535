"""Multi-label classification with a pairwise Markov random field as a structured problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct._typing import Floats, Indices
from clustruct.inference import mrf
from clustruct.ssvm import OracleKind, SlackRule

from ._rows import checked_rows
from .multilabel_constraints import MultiLabelConstraints, RowData
from .multilabel_oracles import (
    RELAXED,
    RHO_ORACLES,
    checked_edges,
    checked_labels,
    checked_oracle,
    checked_predictor,
    checked_rho,
    kind_of,
    search,
    zero_one,
)


class MultiLabelProblem:
    """Choose a subset of V labels, with a weight for every pair of labels (dissertation, section 5.5).

    ``score(x, y) = sum_u y_u <w_u, x> + sum over edges uv of y_u y_v w_uv``, loss 100 * (wrong labels) / V.
    w holds w_1, ..., w_V one after the other, then the edge weights: V * d + E entries.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
    Y : 0/1 array of shape (n, V)
    oracle : str
        The search for the most violated labeling, on potentials with 100/V added to every wrong value:
        "greedy", "loopy_bp", "combine" (undergenerating), "exact", "linear_program", "graph_cut"
        (overgenerating: undecided labels enter loss and joint features as 1/2); for studies
        "rho_below" (section 5.5.2) and "rho_above" (certified, Theorem 9), which need ``rho``.
    edges : "full", "none", "tree" or a list of pairs
        "tree" is the Chow-Liu tree of Y. Exact search on a forest is by max-product, for any V.
    rho : float, optional
    constant : bool
        Add a feature that is 1 everywhere, as the last.
    check_input : bool
        False where X is known to be a finite float64 array or CSR.

    Margin scaling with linear slacks is linear in the labels, and every oracle does it. The other rules
    are searched by enumeration: by "exact" only, V up to 20.

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct import ssvm
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> problem = MultiLabelProblem(X, Y)
    >>> result = ssvm.fit(problem, C=100.0)
    >>> problem.predict(X, result.w).tolist()
    [[1, 0], [0, 1], [1, 1], [0, 0]]
    """

    oracle_kind: OracleKind
    parallel_backend = "threads"

    def __init__(
        self,
        X: ArrayLike,
        Y: ArrayLike,
        oracle: str = "exact",
        edges: str | ArrayLike = "full",
        rho: float | None = None,
        *,
        constant: bool = False,
        check_input: bool = True,
    ) -> None:
        self.Y, self.constant = checked_labels(Y), constant
        # Held once: the planes of a training are stretches of the same array.
        self.source = RowData(checked_rows(X) if check_input else X, constant)
        self.X = self.source.X
        n, self.n_labels = self.Y.shape
        if self.X.shape[0] != n:
            raise ValueError(f"X has {self.X.shape[0]} rows, Y has {n}")
        self.edges = checked_edges(edges, self.Y)
        self.oracle = checked_oracle(oracle, self.n_labels, self.edges)
        self.oracle_kind = kind_of(oracle)
        self.rho = checked_rho(oracle, rho)
        if oracle == "rho_above" and rho:
            self.oracle_rho = rho
        d = self.X.shape[1]
        self.n_examples, self.n_features = n, self.n_labels * d + len(self.edges)
        self._truth_edges = self._edge_values(self.Y)

    def supports(self, rule: SlackRule) -> bool:
        """Linear slacks with margin scaling, and everything where all labelings are looked at."""
        linear = rule == SlackRule("margin", 1)
        return linear or (self.oracle == "exact" and self.n_labels <= mrf.MOST_LABELS)

    def unary(self, X: Any, w: Floats) -> Floats:
        """The node potentials <w_u, x>, one row per row of X, with or without its constant feature."""
        W = w[: self.n_labels * self.X.shape[1]].reshape(self.n_labels, -1)
        if X.shape[1] < W.shape[1]:
            return np.asarray(X @ W[:, :-1].T) + W[:, -1]
        return np.asarray(X @ W.T)

    def pairwise(self, w: Floats) -> Floats:
        """The pair potentials, symmetric V x V."""
        phi = np.zeros((self.n_labels, self.n_labels))
        u, v = self.edges.T
        phi[u, v] = phi[v, u] = w[self.n_labels * self.X.shape[1] :]
        return phi

    def truth_score(self, i: int, w: Floats) -> float:
        """<w, Psi(x_i, y_i)>."""
        return float(mrf.score(self.unary(self.X[[i]], w)[0], self.pairwise(w), self.Y[i]))

    def predict(self, X: ArrayLike, w: Floats, predictor: str | None = None) -> NDArray[np.int8]:
        """Labels by the search named (the oracle's own if None); undecided ones are completed greedily."""
        name = checked_predictor(predictor, self.oracle, self.n_labels, self.edges)
        return zero_one(name, self.unary(checked_rows(X), w), self.pairwise(w))

    def predict_relaxed(self, X: ArrayLike, w: Floats, predictor: str = "graph_cut") -> mrf.RelaxedLabeling:
        """The optimum of the relaxation, undecided labels as 1/2."""
        if predictor not in RELAXED:
            raise ValueError(f"a relaxed predictor is one of {RELAXED}, not {predictor!r}")
        found = search(predictor, self.unary(checked_rows(X), w), self.pairwise(w))
        assert isinstance(found, mrf.RelaxedLabeling)
        return found

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> MultiLabelConstraints:
        truth, unary = self.Y[indices], self.unary(self.X[indices], w)
        step = 100.0 / self.n_labels
        found = self._most_violated(unary, self.pairwise(w), truth, step, rule)
        if isinstance(found, mrf.RelaxedLabeling):
            nodes, edges = found.nodes, found.edges[:, self._edge_columns()]
        else:
            nodes, edges = found.astype(float), self._edge_values(found)
        node_gaps = truth - nodes
        losses = step * np.abs(node_gaps).sum(axis=1)
        edge_gaps = self._truth_edges[indices] - edges
        known = np.sum(node_gaps * unary, axis=1) + edge_gaps @ w[self.n_features - len(self.edges) :]
        return MultiLabelConstraints(self.source, indices, losses, (w, known), node_gaps, edge_gaps)

    def _most_violated(
        self, unary: Floats, phi: Floats, truth: NDArray[np.int8], step: float, rule: SlackRule
    ) -> Any:
        if rule != SlackRule("margin", 1):
            sizes = rule.sized(step * np.arange(self.n_labels + 1))
            return mrf.most_violated(unary, phi, truth, sizes, rule.scaling == "slack")
        augmented = unary + step * (1.0 - 2.0 * truth)
        if self.oracle in RHO_ORACLES:
            near = mrf.closest_above if self.oracle == "rho_above" else mrf.closest_below
            return near(augmented, phi, self.rho, step * truth.sum(axis=1))
        return search(self.oracle, augmented, phi)

    def _edge_values(self, labels: NDArray[Any]) -> Floats:
        u, v = self.edges.T
        return (labels[:, u] * labels[:, v]).astype(float)

    def _edge_columns(self) -> Indices:
        """Where our edges stand among all pairs u < v in the order of `pdist`."""
        u, v = self.edges.T
        return np.asarray(u * (2 * self.n_labels - u - 1) // 2 + v - u - 1, np.intp)
