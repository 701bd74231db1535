"""Potentials of a pairwise Markov random field over binary labels, checked once at the edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct._typing import Floats


@dataclass(frozen=True)
class Potentials:
    """A batch of problems ``max_y sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv``.

    ``unary`` has shape (B, V); ``pairwise`` (1, V, V) where all share it, else (B, V, V), symmetric with
    a zero diagonal. ``single`` says that the caller gave one problem without a leading axis.
    """

    unary: Floats
    pairwise: Floats
    single: bool

    @property
    def n_labels(self) -> int:
        return self.unary.shape[1]

    def shaped(self, labels: NDArray[Any]) -> NDArray[Any]:
        """An answer with the caller's axes."""
        return labels[0] if self.single else labels


def potentials(unary: ArrayLike, pairwise: ArrayLike) -> Potentials:
    """Check one problem or a batch, and mirror the upper triangle of the pair potentials."""
    u, p = np.asarray(unary, float), np.asarray(pairwise, float)
    single = u.ndim == 1
    u = np.ascontiguousarray(np.atleast_2d(u))
    if u.ndim != 2 or u.shape[1] < 1:
        raise ValueError(f"unary must have shape (V,) or (B, V), not {np.shape(unary)}")
    B, V = u.shape
    if p.shape not in ((V, V), (1, V, V), (B, V, V)) or (single and p.ndim == 3 and len(p) != 1):
        raise ValueError(f"pairwise must have shape {(V, V)} or {(B, V, V)}, not {p.shape}")
    upper = np.triu(p.reshape(-1, V, V), 1)
    symmetric = upper + upper.transpose(0, 2, 1)
    if not (np.isfinite(u).all() and np.isfinite(symmetric).all()):
        raise ValueError("potentials must be finite")
    return Potentials(u, symmetric, single)


def pair_list(n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs u < v in the order in which edges are listed (that of scipy's `pdist`)."""
    u, v = np.triu_indices(n_labels, 1)
    return u, v


def score(unary: ArrayLike, pairwise: ArrayLike, labels: ArrayLike) -> Any:
    """The value ``sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv`` of 0/1 labels, one or a batch.

    >>> score([1.0, 2.0], [[0.0, -5.0], [0.0, 0.0]], [1, 1])
    -2.0
    """
    p = potentials(unary, pairwise)
    y = np.asarray(labels, float).reshape(p.unary.shape)
    whole = np.broadcast_to(p.pairwise, (len(y), *p.pairwise.shape[1:]))
    values = np.sum(y * p.unary, axis=1) + 0.5 * np.einsum("bu,buv,bv->b", y, whole, y)
    return float(values[0]) if p.single else values


def standard_form(nodes: ArrayLike, edges: ArrayLike) -> tuple[Floats, Floats, Any]:
    """Reduce general pairwise potentials to the form in which only y_u = 1 and y_u = y_v = 1 count.

    ``sum_u theta_u(y_u) + sum_{u<v} theta_uv(y_u, y_v)`` becomes ``constant + sum_u y_u phi_u +
    sum_{u<v} y_u y_v phi_uv`` with ``phi_uv = theta(1,1) - theta(1,0) - theta(0,1) + theta(0,0)``
    (dissertation, section 5.2). Returns unary, pairwise and the constant that the searches leave out.

    Parameters
    ----------
    nodes : array (V, 2) or (B, V, 2)
        theta_u(0), theta_u(1).
    edges : array (V, V, 2, 2) or (B, V, V, 2, 2)
        theta_uv(y_u, y_v) at ``[u, v, y_u, y_v]``; u < v counts.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.zeros((2, 2, 2, 2))
    >>> edges[0, 1] = [[3.0, 0.0], [1.0, 0.0]]
    >>> unary, pairwise, constant = standard_form([[0.0, 1.0], [2.0, 0.0]], edges)
    >>> unary.tolist(), float(pairwise[0, 1]), float(constant)
    ([-1.0, -5.0], 2.0, 5.0)
    """
    theta, pair = np.asarray(nodes, float), np.asarray(edges, float)
    V = theta.shape[-2] if theta.ndim >= 2 else 0
    if theta.shape[-1:] != (2,) or pair.shape[-4:] != (V, V, 2, 2) or pair.ndim not in (4, 5):
        raise ValueError(f"nodes (V, 2) and edges (V, V, 2, 2) expected, not {theta.shape} and {pair.shape}")
    upper = pair * np.triu(np.ones((V, V)), 1)[:, :, None, None]
    t00, t01, t10, t11 = (upper[..., a, b] for a in (0, 1) for b in (0, 1))
    coupling = t11 - t10 - t01 + t00
    linear = theta[..., 1] - theta[..., 0] + (t10 - t00).sum(axis=-1) + (t01 - t00).sum(axis=-2)
    constant = theta[..., 0].sum(axis=-1) + t00.sum(axis=(-2, -1))
    return linear, coupling + np.swapaxes(coupling, -1, -2), constant
