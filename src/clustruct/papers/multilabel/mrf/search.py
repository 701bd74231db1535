"""Potentials of a pairwise Markov random field over binary labels, checked once, and searches that give 0/1
labels: greedy, belief propagation, the better of both, enumeration, rho oracles, trees and the tree that fits
label data best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from clustruct.core.typing import Floats, Indices
from clustruct.data.pair_algebra import check_real

Labels = NDArray[np.int8]
# Enumeration holds two tables of 2^V numbers.
MOST_LABELS = 20


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
    """The value ``sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv`` of 0/1 labels, one or a batch.

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.
    labels : array-like
        0 or 1 for each label.

    Returns
    -------
    object
        The value, one for each problem of a batch.

    Examples
    --------
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

    Returns
    -------
    tuple of array of float, array of float, object
        The unary potentials, those of pairs, and the constant.

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


def greedy(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """Flip the single best label, from all zero, until no flip raises the value (section 5.3.1).

    ``max over y in {0,1}^V of sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv``, to a local optimum.
    O(V^2) plus O(V) per flip.

    Parameters
    ----------
    unary : array-like
        Array (V,) or (B, V).
    pairwise : array (V, V), shared by the batch, or (B, V, V)
        The upper triangle counts.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> greedy([1.0, 2.0, -1.0], [[0.0, -1.5, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist()
    [0, 1, 0]
    """
    from ._kernels import flip_greedily

    return _search(flip_greedily, potentials(unary, pairwise))


def loopy_bp(
    unary: ArrayLike, pairwise: ArrayLike, *, damping: float = 0.5, max_iter: int = 100, tol: float = 1e-6
) -> Labels:
    """Loopy max-product belief propagation (Pearl 1988), parallel updates with damping.

    The message of u to v is the number ``d_uv = max(0, h + phi_uv) - max(0, h)`` with h the potential of u
    plus its messages from all others but v; a label is on where its own potential plus all messages is
    positive. It has converged when no such sum moves by more than ``tol`` times the largest potential,
    and ends after ``max_iter`` rounds all the same. Exact on trees given rounds enough, otherwise of
    no known quality. O(V^2) per round.

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.
    damping : float, default=0.5
        The share of its old value that a message keeps.
    max_iter : int, default=100
        The largest number of rounds.
    tol : float, default=1e-06
        What counts as no movement, relative to the largest potential.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> loopy_bp([1.0, -0.5], [[0.0, 2.0], [2.0, 0.0]]).tolist()
    [1, 1]
    """
    from ._kernels import propagate

    if not (0.0 <= damping < 1.0 and max_iter >= 1 and tol >= 0.0):
        raise ValueError(f"damping in [0, 1), max_iter >= 1, tol >= 0: not {damping}, {max_iter}, {tol}")
    return _search(propagate, potentials(unary, pairwise), damping, max_iter, tol)


def combine(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """The better of `greedy` and `loopy_bp` for each problem (section 5.3.1).

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> combine([1.0, -0.5], [[0.0, 2.0], [2.0, 0.0]]).tolist()
    [1, 1]
    """
    p = potentials(unary, pairwise)
    first, second = greedy(p.unary, p.pairwise), loopy_bp(p.unary, p.pairwise)
    better = score(p.unary, p.pairwise, second) > score(p.unary, p.pairwise, first)
    return p.shaped(np.where(better[:, None], second, first))


def exact(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """The best of all 2^V labelings, V up to 20.

    Tables of the values are built by doubling, one addition per labeling; where the batch shares its
    pair potentials their table is built once. Of equal labelings the one with the lower number counts
    (label 0 is the lowest bit). O(2^V).

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> exact([1.0, 2.0, -1.0], [[0.0, -1.5, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist()
    [1, 1, 1]
    """
    from ._kernels import enumerate_best

    return _search(enumerate_best, _small(unary, pairwise))


def closest_below(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """The artificial oracle of section 5.5.2: the value nearest to rho times the best, not above it.

    Worse than rho by construction, so that Theorem 9 does not cover it. ``constant`` is added to every
    value first (the part of a loss that does not depend on the labels). Where every labeling is above
    rho times the best, the lowest is taken. O(2^V).

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.
    rho : float
        The share of the best value that is aimed at.
    constant : array-like, default=0.0
        Added to every value first.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> closest_below([4.0, 3.0], [[0.0, 0.0], [0.0, 0.0]], rho=0.5).tolist()
    [0, 1]
    """
    return _near(unary, pairwise, rho, constant, at_least=False)


def closest_above(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """A certified rho oracle: the lowest value that is still at least rho times the best.

    The worst that a rho-approximation may do, so that Theorem 9 applies (the best value must not be
    negative). O(2^V).

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.
    rho : float
        The share of the best value that must be reached.
    constant : array-like, default=0.0
        Added to every value first.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> closest_above([4.0, 3.0], [[0.0, 0.0], [0.0, 0.0]], rho=0.5).tolist()
    [1, 0]
    """
    return _near(unary, pairwise, rho, constant, at_least=True)


def _near(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike, at_least: bool) -> Labels:
    from ._kernels import enumerate_near

    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"rho must lie between 0 and 1, not {rho!r}")
    p = _small(unary, pairwise)
    added = np.broadcast_to(np.asarray(constant, float), len(p.unary)).copy()
    return _search(enumerate_near, p, added, float(rho), at_least)


def most_violated(
    unary: ArrayLike, pairwise: ArrayLike, truth: ArrayLike, sizes: ArrayLike, slack_scaling: bool
) -> Labels:
    """The labeling that needs the largest slack, for rules that are not linear in the labels.

    ``max_y size(y) + gain(y)``, or ``size(y) (1 + gain(y))`` with slack scaling, over all 2^V labelings;
    gain is the value above the truth's, ``sizes[k]`` how much k wrong labels count.

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.
    truth : array-like
        The right labels.
    sizes : array-like
        How much 0, 1, ..., V wrong labels count.
    slack_scaling : bool
        Whether the slack is scaled, not the margin.

    Returns
    -------
    array of int
        0 or 1 for each label.

    Examples
    --------
    >>> most_violated([1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]], [1, 1], [0.0, 5.0, 5.5], False).tolist()
    [1, 0]
    """
    from ._kernels import enumerate_violated

    p = _small(unary, pairwise)
    right = np.asarray(truth, np.int64).reshape(p.unary.shape)
    size = np.asarray(sizes, float)
    if size.shape != (p.n_labels + 1,):
        raise ValueError(f"sizes must hold {p.n_labels + 1} numbers, not {size.shape}")
    return _search(enumerate_violated, p, right, size, slack_scaling)


class Forest(NamedTuple):
    """An order of the nodes with parents before children; ``parent`` is -1 at roots."""

    order: Indices
    parent: Indices


def forest(n_labels: int, edges: ArrayLike) -> Forest | None:
    """Root the graph with these edges (pairs of label numbers), or None where it has a cycle.

    Parameters
    ----------
    n_labels : int
        The number of labels V.
    edges : array-like
        Pairs of label numbers.

    Returns
    -------
    Forest or None
        The rooted graph.

    Examples
    --------
    >>> forest(3, [(0, 1), (1, 2)]).parent.tolist()
    [-1, 0, 1]
    >>> forest(3, [(0, 1), (1, 2), (0, 2)]) is None
    True
    """
    u, v = np.asarray(edges, np.intp).reshape(-1, 2).T
    joined = np.zeros((n_labels, n_labels), bool)
    joined[u, v] = joined[v, u] = True
    n_trees, tree = connected_components(joined, directed=False)
    # A forest has as many edges as nodes that are no roots.
    if joined.diagonal().any() or joined.sum() // 2 != n_labels - n_trees:
        return None
    parent, order = np.full(n_labels, -1, np.intp), []
    for root in np.unique(tree, return_index=True)[1]:
        below, before = breadth_first_order(joined, root, directed=False)
        parent[below[1:]] = before[below[1:]]
        order.append(below)
    return Forest(np.concatenate(order).astype(np.intp), parent)


def max_product(unary: ArrayLike, pairwise: ArrayLike) -> NDArray[np.int8]:
    """Exact maximisation where the pairs with a potential other than 0 form a forest. O(V) per problem.

    ``max over y in {0,1}^V of sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv``.

    Parameters
    ----------
    unary : array-like
        The potentials phi_u, of shape (V,) or (B, V).
    pairwise : array-like
        The potentials phi_uv, of shape (V, V) or (B, V, V); the upper triangle counts.

    Returns
    -------
    array
        0 or 1 for each label.

    Examples
    --------
    >>> max_product([-1.0, 0.5, 0.5], [[0.0, 2.0, 0.0], [0.0, 0.0, -3.0], [0.0, 0.0, 0.0]]).tolist()
    [1, 1, 0]
    """
    from ._kernels import tree_best

    p = potentials(unary, pairwise)
    used = np.argwhere(np.triu(np.any(p.pairwise != 0.0, axis=0), 1))
    rooted = forest(p.n_labels, used)
    if rooted is None:
        raise ValueError("the pair potentials do not form a forest: their graph has a cycle")
    return _search(tree_best, p, rooted.order, rooted.parent)


def chow_liu_edges(Y: ArrayLike) -> NDArray[np.intp]:
    """The tree over labels that explains Y best (Chow and Liu 1968): maximum mutual information.

    ``max over trees T of sum over edges uv in T of I(y_u; y_v)``, by a spanning tree, with frequencies
    from the 0/1 rows of Y. Pairs whose labels are independent in Y may be left out. Returns (V - 1, 2)
    pairs at most, u < v. O(n V^2).

    Parameters
    ----------
    Y : array-like
        One row of 0 and 1 for each example, one column for each label.

    Returns
    -------
    array
        The edges, one row each.

    Examples
    --------
    >>> chow_liu_edges([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1]]).tolist()
    [[0, 1], [0, 2]]
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
    return p.shaped(labels)


def _small(unary: ArrayLike, pairwise: ArrayLike) -> Potentials:
    """Potentials of so few labels that all labelings can be looked at."""
    p = potentials(unary, pairwise)
    if p.n_labels > MOST_LABELS:
        raise ValueError(
            f"enumeration of {p.n_labels} labels would look at 2^{p.n_labels} labelings; up to {MOST_LABELS} "
            "labels are allowed: use graph_cut, combine, or edges that form a tree"
        )
    return p
