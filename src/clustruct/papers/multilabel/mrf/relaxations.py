"""Labels that are 0, 1 or undecided: the linear program by HiGHS, and the same optimum by maximum flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct.core.typing import Floats

from .search import Potentials, potentials


@dataclass(frozen=True)
class RelaxedLabeling:
    """An optimum of the linear program over y_u and y_uv in [0, 1], with all values 0, 1/2 or 1.

    ``nodes`` (..., V) holds y_u; ``edges`` (..., V(V-1)/2) holds y_uv for u < v in the order of scipy's
    `pdist`. Given the nodes, each y_uv lies between max(0, y_u + y_v - 1) and min(y_u, y_v), and the
    optimum takes the end that phi_uv's sign asks for. Only two undecided labels leave a choice:
    there y_uv is 1/2 where phi_uv > 0 and else 0, and not the product 1/4.

    Attributes
    ----------
    nodes : array of float
        y_u of each label.
    edges : array of float
        y_uv of each pair of labels.

    Examples
    --------
    >>> half = RelaxedLabeling.from_nodes([0.5, 0.5], [[0.0, -3.0], [-3.0, 0.0]])
    >>> half.edges.tolist(), half.undecided_share, half.value([2.0, 1.0], [[0.0, -3.0], [-3.0, 0.0]])
    ([0.0], 1.0, 1.5)
    """

    nodes: Floats
    edges: Floats

    @classmethod
    def from_nodes(cls, nodes: ArrayLike, pairwise: ArrayLike) -> RelaxedLabeling:
        """The best y_uv for given y_u."""
        y = np.asarray(nodes, float)
        p = np.asarray(pairwise, float)
        u, v = np.triu_indices(y.shape[-1], 1)
        yu, yv, phi = y[..., u], y[..., v], p[..., u, v]
        edges = np.where(phi > 0.0, np.minimum(yu, yv), np.maximum(0.0, yu + yv - 1.0))
        return cls(y, edges)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Which labels are neither 0 nor 1."""
        return np.asarray(self.nodes == 0.5)

    @property
    def undecided_share(self) -> float:
        """The share of undecided labels (Table 5.4), from 0 to 1."""
        return float(np.mean(self.undecided)) if self.nodes.size else 0.0

    def value(self, unary: ArrayLike, pairwise: ArrayLike) -> Any:
        """``sum_u y_u phi_u + sum_{u<v} y_uv phi_uv``: the value of the linear program."""
        p = potentials(unary, pairwise)
        u, v = np.triu_indices(p.n_labels, 1)
        nodes, edges = np.atleast_2d(self.nodes), np.atleast_2d(self.edges)
        values = np.sum(nodes * p.unary, axis=1) + np.sum(edges * p.pairwise[:, u, v], axis=1)
        return float(values[0]) if p.single else values

    def at_random(self, random_state: int | np.random.Generator = 0) -> NDArray[np.int8]:
        """0/1 labels, the undecided ones by the toss of a coin (section 5.4)."""
        coin = np.random.default_rng(random_state).random(self.nodes.shape) < 0.5
        return np.where(self.undecided, coin, self.nodes > 0.5).astype(np.int8)

    def completed(self, unary: ArrayLike, pairwise: ArrayLike) -> NDArray[np.int8]:
        """0/1 labels: the undecided ones start at 0 and are flipped greedily.

        Flips of decided labels never gain at an optimum, but may on the way: they are left as they are.
        """
        from ._kernels import flip_greedily

        p = potentials(unary, pairwise)
        nodes = np.atleast_2d(self.nodes)
        labels = (nodes > 0.5).astype(np.int8)
        # A decided label gets a potential of its own that no flip of the others outweighs.
        reach = 1.0 + np.abs(p.unary).max() + np.abs(p.pairwise).sum(axis=(1, 2)).max()
        held = np.where(nodes == 0.5, p.unary, np.where(nodes > 0.5, reach, -reach))
        flip_greedily(held, p.pairwise, labels)
        return np.asarray(p.shaped(labels))


def graph_cut(unary: ArrayLike, pairwise: ArrayLike) -> RelaxedLabeling:
    """Roof duality (QPBO): the optimum of the linear relaxation, by maximum flow on a doubled graph.

    ``max sum_u y_u phi_u + sum_{u<v} y_uv phi_uv`` over the relaxation of `linear_program`, at the optimum
    with the fewest decided labels. *Equivalence*: the value is the linear program's. *Persistence*: a
    decided label has that value in every optimal labeling (Hammer, Hansen and Simeone 1984; Boros and
    Hammer 2002; dissertation, section 5.3.2).

    Parameters
    ----------
    unary : array-like
        Array (V,) or (B, V).
    pairwise : array (V, V), shared by the batch, or (B, V, V)
        The upper triangle counts.

    Returns
    -------
    RelaxedLabeling
        The optimum of the relaxation: 0, 1/2 or 1 for each label.

    Examples
    --------
    >>> found = graph_cut([1.0, 1.0, 1.0], [[0.0, -9.0, -9.0], [0.0, 0.0, -9.0], [0.0, 0.0, 0.0]])
    >>> found.nodes.tolist(), found.value([1.0, 1.0, 1.0], -9.0 * (1 - np.eye(3)))
    ([0.5, 0.5, 0.5], 1.5)
    """
    from ._flow_kernels import roof_dual

    # Measured side by side (benchmarks/mrf_speed.py, CPU time): batches with V = 6, 10, 14 take 3, 14, 19 us
    # per problem here and 123, 94, 132 us with dwave-preprocessing; one complete graph of 500: 20, 27 ms.
    p = potentials(unary, pairwise)
    state = np.zeros(p.unary.shape, np.int8)
    roof_dual(p.unary, p.pairwise, state)
    return _relaxed(np.array([0.0, 1.0, 0.5])[state], p)


def linear_program(unary: ArrayLike, pairwise: ArrayLike) -> RelaxedLabeling:
    """The linear relaxation of (5.13)-(5.15), by the simplex method of HiGHS.

    ``max sum_u y_u phi_u + sum_{u<v} y_uv phi_uv`` subject to ``y_uv <= y_u``, ``y_uv <= y_v``,
    ``y_u + y_v <= 1 + y_uv`` and all variables in [0, 1]. Vertices are half-integral (Padberg 1989), and
    the simplex method ends at one. Of the rows of a pair only those are kept that its sign makes
    bind: the optima are the same. Problems of a batch that share their pair potentials share
    one model, each started from the basis of the one before.

    Parameters
    ----------
    unary : array-like
        Array (V,) or (B, V).
    pairwise : array (V, V), shared by the batch, or (B, V, V)
        The upper triangle counts.

    Returns
    -------
    RelaxedLabeling
        The optimum of the relaxation: 0, 1/2 or 1 for each label.

    Examples
    --------
    >>> linear_program([1.0, 1.0], [[0.0, 3.0], [0.0, 0.0]]).nodes.tolist()
    [1.0, 1.0]
    """
    p = potentials(unary, pairwise)
    nodes = np.empty_like(p.unary)
    for b, costs in enumerate(p.unary):
        if b < len(p.pairwise):
            model = _Program(p.pairwise[b])
        nodes[b] = model.solve(costs)
    return _relaxed(nodes, p)


class _Program:
    """One linear program whose node potentials change from call to call."""

    def __init__(self, phi: Floats) -> None:
        V = len(phi)
        u, v = np.triu_indices(V, 1)
        used = np.flatnonzero(phi[u, v] != 0.0)
        self._highs = highs = highspy.Highs()
        highs.silent()
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._columns = np.arange(V, dtype=np.int32)
        n = V + len(used)
        coupling = phi[u, v][used]
        costs = np.concatenate([np.zeros(V), coupling])
        empty = np.zeros(0, np.int32)
        highs.addCols(n, costs, np.zeros(n), np.ones(n), 0, empty, empty, np.zeros(0))
        for k, e in enumerate(used):
            self._add_pair(int(u[e]), int(v[e]), V + k, coupling[k] > 0.0)

    def _add_pair(self, u: int, v: int, pair: int, attracts: bool) -> None:
        if attracts:
            for node in (u, v):
                index = np.array([pair, node], np.int32)
                self._highs.addRow(-np.inf, 0.0, 2, index, np.array([1.0, -1.0]))
        else:
            index = np.array([u, v, pair], np.int32)
            self._highs.addRow(-np.inf, 1.0, 3, index, np.array([1.0, 1.0, -1.0]))

    def solve(self, unary: Floats) -> NDArray[Any]:
        self._highs.changeColsCost(len(unary), self._columns, unary)
        self._highs.run()
        y = np.array(self._highs.getSolution().col_value[: len(unary)])
        halves = np.round(2.0 * y) / 2.0
        if np.abs(y - halves).max() > 1e-6:
            raise RuntimeError("HiGHS ended away from a half-integral vertex")
        return halves


def _relaxed(nodes: Floats, p: Potentials) -> RelaxedLabeling:
    found = RelaxedLabeling.from_nodes(nodes, p.pairwise)
    return RelaxedLabeling(found.nodes[0], found.edges[0]) if p.single else found
