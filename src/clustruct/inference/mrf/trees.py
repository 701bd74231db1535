"""Trees and forests over labels: exact max-product, and the tree that fits label data best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from clustruct._typing import Indices

from .potentials import potentials


class Forest(NamedTuple):
    """An order of the nodes with parents before children; ``parent`` is -1 at roots."""

    order: Indices
    parent: Indices


def forest(n_labels: int, edges: ArrayLike) -> Forest | None:
    """Root the graph with these edges (pairs of label numbers), or None where it has a cycle.

    >>> forest(3, [(0, 1), (1, 2)]).parent.tolist()
    [-1, 0, 1]
    >>> forest(3, [(0, 1), (1, 2), (0, 2)]) is None
    True
    """
    neighbours: list[list[int]] = [[] for _ in range(n_labels)]
    for u, v in np.asarray(edges, np.intp).reshape(-1, 2):
        neighbours[u].append(int(v))
        neighbours[v].append(int(u))
    parent, order = np.full(n_labels, -2, np.intp), []
    for root in range(n_labels):
        if parent[root] != -2:
            continue
        parent[root], waiting = -1, [root]
        while waiting:
            u = waiting.pop()
            order.append(u)
            for v in neighbours[u]:
                if parent[v] == -2:
                    parent[v] = u
                    waiting.append(v)
                elif v != parent[u] and parent[v] != u:
                    return None
    return Forest(np.array(order, np.intp), parent)


def max_product(unary: ArrayLike, pairwise: ArrayLike) -> NDArray[np.int8]:
    """Exact maximisation where the pairs with a potential other than 0 form a forest. O(V) per problem.

    ``max over y in {0,1}^V of sum_u y_u phi_u + sum_{u<v} y_u y_v phi_uv``.

    >>> max_product([-1.0, 0.5, 0.5], [[0.0, 2.0, 0.0], [0.0, 0.0, -3.0], [0.0, 0.0, 0.0]]).tolist()
    [1, 1, 0]
    """
    from ._kernels import tree_best

    p = potentials(unary, pairwise)
    used = np.argwhere(np.triu(np.any(p.pairwise != 0.0, axis=0), 1))
    rooted = forest(p.n_labels, used)
    if rooted is None:
        raise ValueError("the pair potentials do not form a forest: their graph has a cycle")
    labels = np.zeros(p.unary.shape, np.int8)
    tree_best(p.unary, p.pairwise, rooted.order, rooted.parent, labels)
    return p.shaped(labels)


def chow_liu_edges(Y: ArrayLike) -> NDArray[np.intp]:
    """The tree over labels that explains Y best (Chow and Liu 1968): maximum mutual information.

    ``max over trees T of sum over edges uv in T of I(y_u; y_v)``, by a spanning tree, with frequencies
    from the 0/1 rows of Y. Pairs whose labels are independent in Y may be left out. Returns (V - 1, 2)
    pairs at most, u < v. O(n V^2).

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
