"""Multi-label classification with a pairwise Markov random field as a structured problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from clustruct.core.storage import digest
from clustruct.core.typing import Floats, Indices
from clustruct.learning.problems.classification import RowConstraints, SharedRows, check_rows
from clustruct.ssvm import BatchProblem, OracleKind, PieceRows, SlackRule
from clustruct.ssvm.problem import Backend

from . import mrf
from .slack import search_most_slack

# The searches of `clustruct.papers.multilabel.mrf` by name, as oracles and predictors.
SEARCHES: dict[str, Callable[[Floats, Floats], Any]] = {
    "greedy": mrf.greedy,
    "loopy_bp": mrf.loopy_bp,
    "combine": mrf.combine,
    "exact": mrf.exact,
    "linear_program": mrf.linear_program,
    "graph_cut": mrf.graph_cut,
}
RELAXED = ("linear_program", "graph_cut")
RHO_ORACLES = ("rho_below", "rho_above")
ORACLES = (*SEARCHES, *RHO_ORACLES)


class MultiLabelProblem(BatchProblem):
    """Choose a subset of V labels, with a weight for every pair of labels (dissertation, section 5.5).

    ``score(x, y) = sum_u y_u <w_u, x> + sum over edges uv of y_u y_v w_uv``, loss 100 * (wrong labels) / V.
    w holds w_1, ..., w_V one after the other, then the edge weights: V * d + E entries.

    Parameters
    ----------
    X : array or CSR of shape (n
        d).
    Y : array-like
        0/1 array of shape (n, V).
    oracle : str
        The search for the most violated labeling, on potentials with 100/V added to every wrong value:
        "greedy", "loopy_bp", "combine" (undergenerating), "exact", "linear_program", "graph_cut"
        (overgenerating: undecided labels enter loss and joint features as 1/2); for studies "rho_below"
        (section 5.5.2) and "rho_above" (certified, Theorem 9), which need ``rho``.
    edges : "full", "none", "tree" or a list of pairs
        "tree" is the Chow-Liu tree of Y. Exact search on a forest is by max-product, for any V.
    rho : float, optional
        The quality of the artificial oracles "rho_below" and "rho_above".
    constant : bool
        Add a feature that is 1 everywhere, as the last.
    check_input : bool
        False where X is known to be a finite float64 array or CSR.

    Notes
    -----
    Margin scaling with linear slacks is linear in the labels, and every oracle does it; slack scaling, too,
    by some such searches (`multilabel_slack`; not the rho oracles). Quadratic slacks are searched by
    enumeration: by "exact" only, V up to 20.

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

    parallel_backend: Backend = "threads"

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
        self.Y, self.constant = check_labels(Y), constant
        # Held once: the planes of a training are stretches of the same array.
        self.source = RowData(check_rows(X) if check_input else X, constant)
        self.X = self.source.X
        n, self.n_labels = self.Y.shape
        if self.X.shape[0] != n:
            raise ValueError(f"X has {self.X.shape[0]} rows, Y has {n}")
        self.edges = check_edges(edges, self.Y)
        self.oracle = check_oracle(oracle, self.n_labels, self.edges)
        self.oracle_kind = kind_of(oracle)
        self.rho = check_rho(oracle, rho)
        if oracle == "rho_above" and rho:
            self.oracle_rho = rho
        d = self.X.shape[1]
        self.n_examples, self.n_features = n, self.n_labels * d + len(self.edges)
        self._truth_edges = self._edge_values(self.Y)

    def identity(self) -> dict[str, str]:
        """Which problem this is."""
        search = digest(self.oracle, self.rho, self.edges)
        return {"features": digest(self.X), "labels": digest(self.Y), "oracle": search}

    def supports(self, rule: SlackRule) -> bool:
        """Linear slacks, and everything where all labelings are looked at."""
        if rule == SlackRule("margin", 1) or self._enumerates:
            return True
        return rule.norm == 1 and self.oracle not in RHO_ORACLES

    @property
    def _enumerates(self) -> bool:
        return self.oracle == "exact" and self.n_labels <= mrf.MOST_LABELS

    def kind_for(self, rule: SlackRule) -> OracleKind:
        """With slack scaling an exact search may miss labelings, but for enumeration."""
        scaled = rule.scaling == "slack" and not self._enumerates
        return "undergenerating" if scaled and self.oracle_kind == "exact" else self.oracle_kind

    def violation_bound(self, i: int, w: Floats, rule: SlackRule) -> float | None:
        """What no labeling of example i needs more slack than, where exact searches for margins say so."""
        if self.oracle != "exact" or rule.scaling != "slack":
            return None
        unary = self.unary(self.X[[i]], w)
        _, bounds = self._search_most_slack(unary, self.pairwise(w), self.Y[[i]], 100.0 / self.n_labels)
        return float(bounds[0])

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

    def truth_scores(self, indices: Indices, w: Floats) -> Floats:
        """<w, Psi(x_i, y_i)> of some examples."""
        nodes = np.sum(self.Y[indices] * self.unary(self.X[indices], w), axis=1)
        return np.asarray(nodes + self._truth_edges[indices] @ w[self.n_features - len(self.edges) :])

    def predict(self, X: ArrayLike, w: Floats, predictor: str | None = None) -> NDArray[np.int8]:
        """Labels by the search named (the oracle's own if None); undecided ones are completed greedily."""
        name = check_predictor(predictor, self.oracle, self.n_labels, self.edges)
        unary, phi = self.unary(check_rows(X), w), self.pairwise(w)
        found = search(name, unary, phi)
        return found.complete_greedily(unary, phi) if isinstance(found, mrf.RelaxedLabeling) else found

    def predict_relaxed(self, X: ArrayLike, w: Floats, predictor: str = "graph_cut") -> mrf.RelaxedLabeling:
        """The optimum of the relaxation, undecided labels as 1/2."""
        if predictor not in RELAXED:
            raise ValueError(f"a relaxed predictor is one of {RELAXED}, not {predictor!r}")
        found = search(predictor, self.unary(check_rows(X), w), self.pairwise(w))
        assert isinstance(found, mrf.RelaxedLabeling)
        return found

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> MultiLabelConstraints:
        """The most violated outputs of these examples."""
        truth, unary = self.Y[indices], self.unary(self.X[indices], w)
        step = 100.0 / self.n_labels
        found = self._max_violation(unary, self.pairwise(w), truth, step, rule)
        if isinstance(found, mrf.RelaxedLabeling):
            nodes, edges = found.nodes, found.edges[:, self._edge_columns()]
        else:
            nodes, edges = found.astype(float), self._edge_values(found)
        node_gaps = truth - nodes
        losses = step * np.abs(node_gaps).sum(axis=1)
        edge_gaps = self._truth_edges[indices] - edges
        known = np.sum(node_gaps * unary, axis=1) + edge_gaps @ w[self.n_features - len(self.edges) :]
        return MultiLabelConstraints(self.source, indices, losses, (w, known), node_gaps, edge_gaps)

    def _max_violation(
        self, unary: Floats, phi: Floats, truth: NDArray[np.int8], step: float, rule: SlackRule
    ) -> Any:
        if rule == SlackRule("slack", 1) and not self._enumerates:
            return self._search_most_slack(unary, phi, truth, step)[0]
        if rule != SlackRule("margin", 1):
            sizes = rule.size(step * np.arange(self.n_labels + 1))
            return mrf.max_violation(unary, phi, truth, sizes, rule.scaling == "slack")
        augmented = unary + step * (1.0 - 2.0 * truth)
        if self.oracle in RHO_ORACLES:
            near = mrf.closest_above if self.oracle == "rho_above" else mrf.closest_below
            return near(augmented, phi, self.rho, step * truth.sum(axis=1))
        return search(self.oracle, augmented, phi)

    def _search_most_slack(
        self, unary: Floats, phi: Floats, truth: NDArray[np.int8], step: float
    ) -> tuple[mrf.RelaxedLabeling, Floats]:
        find = partial(search, self.oracle, pairwise=phi)
        return search_most_slack(find, unary, phi, truth, step, self.oracle in RELAXED)

    def _edge_values(self, labels: NDArray[Any]) -> Floats:
        u, v = self.edges.T
        return (labels[:, u] * labels[:, v]).astype(float)

    def _edge_columns(self) -> Indices:
        """Where our edges stand among all pairs u < v in the order of `pdist`."""
        u, v = self.edges.T
        return np.asarray(u * (2 * self.n_labels - u - 1) // 2 + v - u - 1, np.intp)


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


def kind_of(oracle: str) -> OracleKind:
    """What the oracle searches, which decides what a fit can certify."""
    if oracle == "exact":
        return "exact"
    return "overgenerating" if oracle in RELAXED else "undergenerating"


def check_oracle(oracle: str, n_labels: int, edges: Any) -> str:
    """Refuse unknown names, and enumeration of too many labels."""
    if oracle not in ORACLES:
        raise ValueError(f"oracle must be one of {ORACLES}, not {oracle!r}")
    if n_labels > mrf.MOST_LABELS and (
        oracle in RHO_ORACLES or (oracle == "exact" and mrf.forest(n_labels, edges) is None)
    ):
        raise ValueError(
            f"{oracle!r} enumerates 2^{n_labels} labelings, at most 2^{mrf.MOST_LABELS} are allowed: "
            "use oracle='graph_cut', or edges='tree'"
        )
    return oracle


def check_predictor(predictor: str | None, oracle: str, n_labels: int, edges: Any) -> str:
    """The predictor named, or the oracle's own search (exact for the rho oracles)."""
    name = predictor or ("exact" if oracle in RHO_ORACLES else oracle)
    if name not in SEARCHES:
        raise ValueError(f"predictor must be one of {tuple(SEARCHES)}, not {name!r}")
    return check_oracle(name, n_labels, edges)


def check_rho(oracle: str, rho: float | None) -> float:
    """rho, which the rho oracles need and the others refuse."""
    if oracle not in RHO_ORACLES:
        if rho is not None:
            raise ValueError(f"rho goes with the oracles {RHO_ORACLES}, not with {oracle!r}")
        return 1.0
    if rho is None or not 0.0 <= rho <= 1.0:
        raise ValueError(f"the oracle {oracle!r} needs rho between 0 and 1, not {rho!r}")
    return float(rho)


def check_labels(Y: Any) -> NDArray[np.int8]:
    """Y as a 0/1 array of rows and columns."""
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] < 1:
        raise ValueError(f"Y must have one column per label, its shape is {Y.shape}")
    if not np.isin(Y, (0, 1)).all():
        raise ValueError("Y must hold 0 and 1 only: one column per label")
    return np.ascontiguousarray(Y, np.int8)


def check_edges(edges: Any, Y: NDArray[np.int8]) -> NDArray[np.intp]:
    """Pairs u < v, each once, from a name or a list."""
    V = Y.shape[1]
    if isinstance(edges, str):
        if edges not in ("full", "none", "tree"):
            raise ValueError(f"edges must be 'full', 'none', 'tree' or a list of pairs, not {edges!r}")
        if edges == "tree":
            return mrf.chow_liu_edges(Y)
        return np.argwhere(np.triu(np.full((V, V), edges == "full"), 1))
    pairs = np.sort(np.asarray(edges, np.intp).reshape(-1, 2), axis=1)
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < V and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ValueError(f"edges must be pairs of two labels, numbered from 0 to {V - 1}")
    return np.unique(pairs, axis=0)


def search(name: str, unary: Floats, pairwise: Floats) -> Any:
    """0/1 labels or a `RelaxedLabeling`, by name. Exact search on a forest is by max-product."""
    if name == "exact" and mrf.forest(unary.shape[1], np.argwhere(np.triu(pairwise, 1))) is not None:
        return mrf.max_product(unary, pairwise)
    return SEARCHES[name](unary, pairwise)
