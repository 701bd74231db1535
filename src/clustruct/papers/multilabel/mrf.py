"""Maximisation over labelings of a pairwise Markov random field with binary labels (chapter 5).

Every search is called as ``f(unary, pairwise)`` with V node potentials and a symmetric V x V array of pair
potentials (the upper triangle counts), or with a batch: unary (B, V), pairwise (V, V) or (B, V, V).
Answers are 0/1 labels, those of relaxations a `RelaxedLabeling`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from clustruct.core.program_units import scale_costs
from clustruct.core.typing import Floats, Indices
from clustruct.data.matrices import check_real

Labels = NDArray[np.int8]
# Enumeration holds two tables of 2^V numbers.
MOST_LABELS = 20


@dataclass(frozen=True)
class Potentials:
    """A batch of problems: ``unary`` (B, V), ``pairwise`` (1, V, V) where all share it, else (B, V, V).

    The latter is symmetric with a zero diagonal. ``single``: the caller gave one problem, without a batch.
    """

    unary: Floats
    pairwise: Floats
    single: bool

    @property
    def n_labels(self) -> int:
        return self.unary.shape[1]

    def in_shape(self, labels: NDArray[Any]) -> NDArray[Any]:
        """An answer with the caller's axes."""
        return labels[0] if self.single else labels


def potentials(unary: ArrayLike, pairwise: ArrayLike) -> Potentials:
    """Check one problem or a batch, and mirror the upper triangle of the pair potentials."""
    check_real(unary, "unary")
    check_real(pairwise, "pairwise")
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


def score(unary: ArrayLike, pairwise: ArrayLike, labels: ArrayLike) -> Any:
    """The value ``sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv`` of 0/1 labels, one or a batch."""
    p = potentials(unary, pairwise)
    y = np.asarray(labels, float).reshape(p.unary.shape)
    whole = np.broadcast_to(p.pairwise, (len(y), *p.pairwise.shape[1:]))
    values = np.sum(y * p.unary, axis=1) + 0.5 * np.einsum("bu,buv,bv->b", y, whole, y)
    return float(values[0]) if p.single else values


def standard_form(nodes: ArrayLike, edges: ArrayLike) -> tuple[Floats, Floats, Any]:
    """Reduce general pairwise potentials to the form in which only y_u = 1 and y_u = y_v = 1 count.

    ``nodes[u, y_u]`` and ``edges[u, v, y_u, y_v]`` (u < v counts), or batches of them, become unary, pairwise
    and the constant that the searches leave out (dissertation, section 5.2).

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


def greedy(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """Flip the single best label, from all zero, until no flip raises the value (section 5.3.1).

    O(V^2) plus O(V) per flip.
    """
    from ._kernels import flip_greedily

    return _search(flip_greedily, potentials(unary, pairwise))


def loopy_bp(
    unary: ArrayLike, pairwise: ArrayLike, *, damping: float = 0.5, max_iter: int = 100, tol: float = 1e-6
) -> Labels:
    """Loopy max-product belief propagation (Pearl 1988), parallel updates with damping.

    Converged when no potential plus messages moves by more than ``tol`` times the largest potential. A
    message keeps the share ``damping`` of its old value. Exact on trees given rounds enough, otherwise of no
    known quality. O(V^2) per round.
    """
    from ._kernels import propagate

    if not (0.0 <= damping < 1.0 and max_iter >= 1 and tol >= 0.0):
        raise ValueError(f"damping in [0, 1), max_iter >= 1, tol >= 0: not {damping}, {max_iter}, {tol}")
    return _search(propagate, potentials(unary, pairwise), damping, max_iter, tol)


def combine(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """The better of `greedy` and `loopy_bp` for each problem (section 5.3.1)."""
    p = potentials(unary, pairwise)
    first, second = greedy(p.unary, p.pairwise), loopy_bp(p.unary, p.pairwise)
    better = score(p.unary, p.pairwise, second) > score(p.unary, p.pairwise, first)
    return p.in_shape(np.where(better[:, None], second, first))


def exact(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """The best of all 2^V labelings, V up to 20.

    Of equal labelings the one with the lower number counts (label 0 is the lowest bit). O(2^V).
    """
    from ._kernels import enumerate_best

    return _search(enumerate_best, _small(unary, pairwise))


def closest_below(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """The artificial oracle of section 5.5.2: the value nearest to rho times the best, not above it.

    Worse than rho by construction, so that Theorem 9 does not cover it. ``constant`` is added to every
    value first. Where every labeling is above rho times the best, the lowest is taken. O(2^V).
    """
    return _near(unary, pairwise, rho, constant, at_least=False)


def closest_above(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """A certified rho oracle: the lowest value that is still at least rho times the best.

    The worst that a rho-approximation may do, so that Theorem 9 applies (the best value must not be
    negative). O(2^V).
    """
    return _near(unary, pairwise, rho, constant, at_least=True)


def _near(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike, at_least: bool) -> Labels:
    from ._kernels import enumerate_near

    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"rho must lie between 0 and 1, not {rho!r}")
    p = _small(unary, pairwise)
    added = np.broadcast_to(np.asarray(constant, float), len(p.unary)).copy()
    return _search(enumerate_near, p, added, float(rho), at_least)


def max_violation(
    unary: ArrayLike, pairwise: ArrayLike, truth: ArrayLike, sizes: ArrayLike, slack_scaling: bool
) -> Labels:
    """The labeling that needs the largest slack, for rules that are not linear in the labels.

    ``max_y size(y) + gain(y)``, or ``size(y) (1 + gain(y))`` with slack scaling, over all 2^V labelings;
    gain is the value above the truth's, ``sizes[k]`` how much k wrong labels count.
    """
    from ._kernels import enumerate_violations

    p = _small(unary, pairwise)
    right = np.asarray(truth, np.int64).reshape(p.unary.shape)
    size = np.asarray(sizes, float)
    if size.shape != (p.n_labels + 1,):
        raise ValueError(f"sizes must hold {p.n_labels + 1} numbers, not {size.shape}")
    return _search(enumerate_violations, p, right, size, slack_scaling)


def forest(n_labels: int, edges: ArrayLike) -> tuple[Indices, Indices] | None:
    """Labels, parents first, and the parent of each (-1: a root); None where the pairs have a cycle."""
    u, v = np.asarray(edges, np.intp).reshape(-1, 2).T
    linked = np.zeros((n_labels, n_labels), bool)
    linked[u, v] = linked[v, u] = True
    n_trees, tree = connected_components(linked, directed=False)
    # A forest has as many edges as nodes that are no roots.
    if linked.diagonal().any() or linked.sum() // 2 != n_labels - n_trees:
        return None
    parent, order = np.full(n_labels, -1, np.intp), []
    for root in np.unique(tree, return_index=True)[1]:
        below, before = breadth_first_order(linked, root, directed=False)
        parent[below[1:]] = before[below[1:]]
        order.append(below)
    return np.concatenate(order).astype(np.intp), parent


def max_product(unary: ArrayLike, pairwise: ArrayLike) -> NDArray[np.int8]:
    """Exact maximisation where the pairs with a potential other than 0 form a forest. O(V) per problem."""
    from ._kernels import tree_best

    p = potentials(unary, pairwise)
    used = np.argwhere(np.triu(np.any(p.pairwise != 0.0, axis=0), 1))
    rooted = forest(p.n_labels, used)
    if rooted is None:
        raise ValueError("the pair potentials do not form a forest: their graph has a cycle")
    return _search(tree_best, p, *rooted)


def chow_liu_edges(Y: ArrayLike) -> NDArray[np.intp]:
    """The tree over labels of most mutual information in the 0/1 rows of Y (Chow and Liu 1968).

    At most V - 1 pairs u < v: those whose labels are independent in Y may be left out. O(n V^2).
    """
    labels = np.asarray(Y, float)
    if labels.ndim != 2 or len(labels) == 0:
        raise ValueError(f"Y must have rows and columns, its shape is {labels.shape}")
    on = labels.mean(axis=0)
    both = labels.T @ labels / len(labels)
    information = np.zeros_like(both)
    for joint, pu, pv in (
        (both, on, on),
        (on[:, None] - both, on, 1.0 - on),
        (on[None, :] - both, 1.0 - on, on),
        (1.0 - on[:, None] - on[None, :] + both, 1.0 - on, 1.0 - on),
    ):
        share = np.maximum(joint, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            information += np.where(share > 1e-15, share * np.log(share / np.outer(pu, pv)), 0.0)
    # A spanning tree of least weight takes entries other than 0 only: those below rounding are no edges.
    weight = np.triu(np.where(information > 1e-12, -information, 0.0), 1)
    tree = minimum_spanning_tree(csr_array(weight)).tocoo()
    pairs = np.sort(np.stack([tree.row, tree.col], 1), axis=1)
    return np.asarray(pairs[np.lexsort(pairs.T[::-1])], np.intp)


def _search(kernel: Callable[..., None], p: Potentials, *options: Any) -> Labels:
    """The labels that a kernel writes, from all zero."""
    labels = np.zeros(p.unary.shape, np.int8)
    kernel(p.unary, p.pairwise, *options, labels)
    return p.in_shape(labels)


def _small(unary: ArrayLike, pairwise: ArrayLike) -> Potentials:
    """Potentials of so few labels that all labelings can be looked at."""
    p = potentials(unary, pairwise)
    if p.n_labels > MOST_LABELS:
        raise ValueError(
            f"enumeration of {p.n_labels} labels would look at 2^{p.n_labels} labelings; up to {MOST_LABELS} "
            "labels are allowed: use graph_cut, combine, or edges that form a tree"
        )
    return p


@dataclass(frozen=True)
class RelaxedLabeling:
    """An optimum of the linear program over y_u and y_uv in [0, 1], with all values 0, 1/2 or 1.

    ``nodes`` (..., V) holds y_u; ``edges`` (..., V(V-1)/2) holds y_uv for u < v in the order of scipy's
    `pdist`: of two undecided labels 1/2 where phi_uv > 0 and else 0, not the product 1/4.
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
    def is_undecided(self) -> NDArray[np.bool_]:
        """Which labels are neither 0 nor 1."""
        return np.asarray(self.nodes == 0.5)

    @property
    def undecided_share(self) -> float:
        """The share of undecided labels (Table 5.4), from 0 to 1."""
        return float(np.mean(self.is_undecided)) if self.nodes.size else 0.0

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
        return np.where(self.is_undecided, coin, self.nodes > 0.5).astype(np.int8)

    def complete_greedily(self, unary: ArrayLike, pairwise: ArrayLike) -> NDArray[np.int8]:
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
        return np.asarray(p.in_shape(labels))


def graph_cut(unary: ArrayLike, pairwise: ArrayLike) -> RelaxedLabeling:
    """Roof duality (QPBO): the optimum of the linear relaxation, by maximum flow on a doubled graph.

    Of the optima that with the fewest decided labels: a decided label has that value in every optimal
    labeling (Hammer, Hansen and Simeone 1984; Boros and Hammer 2002; dissertation, section 5.3.2).

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
    return _as_labeling(np.array([0.0, 1.0, 0.5])[state], p)


def linear_program(unary: ArrayLike, pairwise: ArrayLike) -> RelaxedLabeling:
    """The linear relaxation of (5.13)-(5.15), by the simplex method of HiGHS.

    Vertices are half-integral (Padberg 1989), and the simplex method ends at one. Problems of a batch that
    share their pair potentials share one model, each started from the basis of the one before.
    """
    p = potentials(unary, pairwise)
    nodes = np.empty_like(p.unary)
    for b, costs in enumerate(p.unary):
        if b < len(p.pairwise):
            model = _Program(p.pairwise[b])
        nodes[b] = model.solve(costs)
    return _as_labeling(nodes, p)


class _Program:
    """One linear program whose node potentials change from call to call."""

    def __init__(self, phi: Floats) -> None:
        V = len(phi)
        u, v = np.triu_indices(V, 1)
        used = np.flatnonzero(phi[u, v] != 0.0)
        self._highs = highs = highspy.Highs()
        highs.silent()
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        n = V + len(used)
        self._columns = np.arange(n, dtype=np.int32)
        self._coupling = coupling = phi[u, v][used]
        empty = np.zeros(0, np.int32)
        highs.addCols(n, np.zeros(n), np.zeros(n), np.ones(n), 0, empty, empty, np.zeros(0))
        # Of the rows of a pair only those that its sign makes bind: the optima are the same.
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
        costs = scale_costs(np.concatenate([unary, self._coupling]))
        self._highs.changeColsCost(len(costs), self._columns, costs)
        self._highs.run()
        y = np.array(self._highs.getSolution().col_value[: len(unary)])
        halves = np.round(2.0 * y) / 2.0
        if np.abs(y - halves).max() > 1e-6:
            raise RuntimeError("HiGHS ended away from a half-integral vertex")
        return halves


def _as_labeling(nodes: Floats, p: Potentials) -> RelaxedLabeling:
    found = RelaxedLabeling.from_nodes(nodes, p.pairwise)
    return RelaxedLabeling(found.nodes[0], found.edges[0]) if p.single else found
