"""Searches that give 0/1 labels: greedy, belief propagation, the better of both, enumeration, rho oracles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .potentials import potentials, score

Labels = NDArray[np.int8]
# Enumeration holds two tables of 2^V numbers.
MOST_LABELS = 20


def greedy(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """Flip the single best label, from all zero, until no flip raises the value (section 5.3.1).

    ``max over y in {0,1}^V of sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv``, to a local optimum.
    O(V^2) plus O(V) per flip.

    Parameters
    ----------
    unary : array (V,) or (B, V)
    pairwise : array (V, V), shared by the batch, or (B, V, V)
        The upper triangle counts.

    Examples
    --------
    >>> greedy([1.0, 2.0, -1.0], [[0.0, -1.5, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist()
    [0, 1, 0]
    """
    from ._kernels import flip_greedily

    p = potentials(unary, pairwise)
    labels = np.zeros(p.unary.shape, np.int8)
    flip_greedily(p.unary, p.pairwise, labels)
    return p.shaped(labels)


def loopy_bp(
    unary: ArrayLike, pairwise: ArrayLike, *, damping: float = 0.5, max_iter: int = 100, tol: float = 1e-6
) -> Labels:
    """Loopy max-product belief propagation (Pearl 1988), parallel updates with damping.

    The message of u to v is the number ``d_uv = max(0, h + phi_uv) - max(0, h)`` with h the potential of u
    plus its messages from all others but v; a label is on where its own potential plus all messages is
    positive. It has converged when no such sum moves by more than ``tol`` times the largest potential,
    and ends after ``max_iter`` rounds all the same. Exact on trees given rounds enough, otherwise of
    no known quality. O(V^2) per round.

    >>> loopy_bp([1.0, -0.5], [[0.0, 2.0], [2.0, 0.0]]).tolist()
    [1, 1]
    """
    from ._kernels import propagate

    if not (0.0 <= damping < 1.0 and max_iter >= 1 and tol >= 0.0):
        raise ValueError(f"damping in [0, 1), max_iter >= 1, tol >= 0: not {damping}, {max_iter}, {tol}")
    p = potentials(unary, pairwise)
    labels = np.zeros(p.unary.shape, np.int8)
    propagate(p.unary, p.pairwise, damping, max_iter, tol, labels, np.zeros(len(labels), np.int64))
    return p.shaped(labels)


def combine(unary: ArrayLike, pairwise: ArrayLike) -> Labels:
    """The better of `greedy` and `loopy_bp` for each problem (section 5.3.1).

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

    >>> exact([1.0, 2.0, -1.0], [[0.0, -1.5, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).tolist()
    [1, 1, 1]
    """
    from ._kernels import enumerate_best

    p = potentials(unary, pairwise)
    _check_size(p.n_labels)
    labels = np.zeros(p.unary.shape, np.int8)
    enumerate_best(p.unary, p.pairwise, labels)
    return p.shaped(labels)


def closest_below(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """The artificial oracle of section 5.5.2: the value nearest to rho times the best, not above it.

    Worse than rho by construction, so that Theorem 9 does not cover it. ``constant`` is added to every
    value first (the part of a loss that does not depend on the labels). Where every labeling is above
    rho times the best, the lowest is taken. O(2^V).

    >>> closest_below([4.0, 3.0], [[0.0, 0.0], [0.0, 0.0]], rho=0.5).tolist()
    [0, 1]
    """
    return _near(unary, pairwise, rho, constant, at_least=False)


def closest_above(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike = 0.0) -> Labels:
    """A certified rho oracle: the lowest value that is still at least rho times the best.

    The worst that a rho-approximation may do, so that Theorem 9 applies (the best value must not be
    negative). O(2^V).

    >>> closest_above([4.0, 3.0], [[0.0, 0.0], [0.0, 0.0]], rho=0.5).tolist()
    [1, 0]
    """
    return _near(unary, pairwise, rho, constant, at_least=True)


def _near(unary: ArrayLike, pairwise: ArrayLike, rho: float, constant: ArrayLike, at_least: bool) -> Labels:
    from ._kernels import enumerate_near

    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"rho must lie between 0 and 1, not {rho!r}")
    p = potentials(unary, pairwise)
    _check_size(p.n_labels)
    labels = np.zeros(p.unary.shape, np.int8)
    added = np.broadcast_to(np.asarray(constant, float), len(labels)).copy()
    enumerate_near(p.unary, p.pairwise, added, float(rho), at_least, labels)
    return p.shaped(labels)


def most_violated(
    unary: ArrayLike, pairwise: ArrayLike, truth: ArrayLike, sizes: ArrayLike, slack_scaling: bool
) -> Labels:
    """The labeling that needs the largest slack, for rules that are not linear in the labels.

    ``max_y size(y) + gain(y)``, or ``size(y) (1 + gain(y))`` with slack scaling, over all 2^V labelings;
    gain is the value above the truth's, ``sizes[k]`` how much k wrong labels count.

    >>> most_violated([1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]], [1, 1], [0.0, 5.0, 5.5], False).tolist()
    [1, 0]
    """
    from ._kernels import enumerate_violated

    p = potentials(unary, pairwise)
    _check_size(p.n_labels)
    right = np.asarray(truth, np.int64).reshape(p.unary.shape)
    size = np.asarray(sizes, float)
    if size.shape != (p.n_labels + 1,):
        raise ValueError(f"sizes must hold {p.n_labels + 1} numbers, not {size.shape}")
    labels = np.zeros(p.unary.shape, np.int8)
    enumerate_violated(p.unary, p.pairwise, right, size, slack_scaling, labels)
    return p.shaped(labels)


def count_better(unary: ArrayLike, pairwise: ArrayLike, labels: ArrayLike) -> NDArray[np.int64]:
    """How many of all labelings have a higher value than the one given (Figure 5.2). O(2^V).

    >>> int(count_better([4.0, 3.0], [[0.0, 0.0], [0.0, 0.0]], [1, 0]))
    1
    """
    from . import _kernels

    p = potentials(unary, pairwise)
    _check_size(p.n_labels)
    out = np.zeros(len(p.unary), np.int64)
    _kernels.count_better(p.unary, p.pairwise, np.asarray(labels, np.int64).reshape(p.unary.shape), out)
    return p.shaped(out)


def _check_size(n_labels: int) -> None:
    if n_labels > MOST_LABELS:
        raise ValueError(
            f"enumeration of {n_labels} labels would look at 2^{n_labels} labelings; up to {MOST_LABELS} "
            "labels are allowed: use graph_cut, combine, or edges that form a tree"
        )
