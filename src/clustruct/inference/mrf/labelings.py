"""Relaxed labelings: labels that are 0, 1 or undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct._typing import Floats

from .potentials import pair_list, potentials


@dataclass(frozen=True)
class RelaxedLabeling:
    """An optimum of the linear program over y_u and y_uv in [0, 1], with all values 0, 1/2 or 1.

    ``nodes`` (..., V) holds y_u; ``edges`` (..., V(V-1)/2) holds y_uv for u < v in the order of scipy's
    `pdist`. Given the nodes, each y_uv lies between max(0, y_u + y_v - 1) and min(y_u, y_v), and the
    optimum takes the end that phi_uv's sign asks for. Only two undecided labels leave a choice:
    there y_uv is 1/2 where phi_uv > 0 and else 0, and not the product 1/4.

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
        u, v = pair_list(y.shape[-1])
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
        u, v = pair_list(p.n_labels)
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
