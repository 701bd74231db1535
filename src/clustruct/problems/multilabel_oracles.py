"""The searches of `clustruct.inference.mrf` by name, as oracles and predictors of the multi-label problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats
from clustruct.inference import mrf
from clustruct.ssvm import OracleKind

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


def kind_of(oracle: str) -> OracleKind:
    """What the oracle searches, which decides what a fit can certify."""
    if oracle == "exact":
        return "exact"
    return "overgenerating" if oracle in RELAXED else "undergenerating"


def is_forest(n_labels: int, edges: Any) -> bool:
    return mrf.forest(n_labels, edges) is not None


def checked_oracle(oracle: str, n_labels: int, edges: Any) -> str:
    """Refuse unknown names, and enumeration of too many labels."""
    if oracle not in ORACLES:
        raise ValueError(f"oracle must be one of {ORACLES}, not {oracle!r}")
    if n_labels > mrf.MOST_LABELS and (
        oracle in RHO_ORACLES or (oracle == "exact" and not is_forest(n_labels, edges))
    ):
        raise ValueError(
            f"{oracle!r} enumerates 2^{n_labels} labelings, at most 2^{mrf.MOST_LABELS} are allowed: "
            "use oracle='graph_cut', or edges='tree'"
        )
    return oracle


def checked_predictor(predictor: str | None, oracle: str, n_labels: int, edges: Any) -> str:
    """The predictor named, or the oracle's own search (exact for the rho oracles)."""
    name = predictor or ("exact" if oracle in RHO_ORACLES else oracle)
    if name not in SEARCHES:
        raise ValueError(f"predictor must be one of {tuple(SEARCHES)}, not {name!r}")
    return checked_oracle(name, n_labels, edges)


def checked_rho(oracle: str, rho: float | None) -> float:
    """rho, which the rho oracles need and the others refuse."""
    if oracle not in RHO_ORACLES:
        if rho is not None:
            raise ValueError(f"rho goes with the oracles {RHO_ORACLES}, not with {oracle!r}")
        return 1.0
    if rho is None or not 0.0 <= rho <= 1.0:
        raise ValueError(f"the oracle {oracle!r} needs rho between 0 and 1, not {rho!r}")
    return float(rho)


def checked_labels(Y: Any) -> NDArray[np.int8]:
    """Y as a 0/1 array of rows and columns."""
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] < 1:
        raise ValueError(f"Y must have one column per label, its shape is {Y.shape}")
    if not np.isin(Y, (0, 1)).all():
        raise ValueError("Y must hold 0 and 1 only: one column per label")
    return np.ascontiguousarray(Y, np.int8)


def checked_edges(edges: Any, Y: NDArray[np.int8]) -> NDArray[np.intp]:
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
    if name == "exact" and is_forest(unary.shape[1], np.argwhere(np.triu(pairwise, 1))):
        return mrf.max_product(unary, pairwise)
    return SEARCHES[name](unary, pairwise)


def zero_one(name: str, unary: Floats, pairwise: Floats) -> NDArray[np.int8]:
    """As `search`, with undecided labels completed greedily."""
    found = search(name, unary, pairwise)
    return found.completed(unary, pairwise) if isinstance(found, mrf.RelaxedLabeling) else found
