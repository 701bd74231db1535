"""The units of features, examples and losses in supervised clustering.

    Psi(x, y) = s_x sum_ab B_ab(y) psi_ab / f,     loss = u Delta(y_i, y)

with the feature scale f (entry by entry), the example scale s_x and the loss unit u. Those of the papers are
f = 1, u = 1, and s_x = 1/m^2 (correlation clustering) or 1 (k-means). In means, s_x makes the sum a mean over
pairs or items, losses go from 0 to 1, and C means the same for every data set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct._typing import Bools, Floats
from clustruct.itemsets import ItemSet
from clustruct.itemsets.pairs import Matrix
from clustruct.oracles.base import Objective
from clustruct.slack_rule import SlackRule


@dataclass(frozen=True)
class Units:
    """Feature scale f, example scales s_x (one per set), loss unit u."""

    feature_scale: Floats
    example_scale: Floats
    loss_unit: float

    @classmethod
    def of_paper(cls, sets: Sequence[ItemSet], objective: Objective) -> Units:
        """Sums as the papers take them, and losses up to 100."""
        sizes = np.array([x.n_items for x in sets], dtype=np.float64)
        scale = 1.0 / sizes**2 if objective == "correlation" else np.ones(len(sets))
        return cls(np.ones(sets[0].n_features if len(sets) else 0), scale, 1.0)

    @classmethod
    def of_means(
        cls, sets: Sequence[ItemSet], objective: Objective, feature_scale: Floats | None = None
    ) -> Units:
        """Means over (scored) pairs or over items, and losses up to 1: C is the same for sets of any size."""
        counts = [n_pairs(x) if objective == "correlation" else x.n_items for x in sets]
        scale = np.ones(sets[0].n_features if len(sets) else 0) if feature_scale is None else feature_scale
        return cls(scale, 1.0 / np.maximum(np.array(counts, dtype=np.float64), 1.0), 0.01)

    def of_search(self, i: int, w: Floats, rule: SlackRule, objective: Objective) -> tuple[Floats, float]:
        """Weights, and what K is multiplied by then, to stand beside losses from 0 to 100 as the rule says.

        A factor of the loss can be taken out of H: H = u (Delta + gain/u), u^1/2 (Delta^1/2 + gain/u^1/2),
        and with slack scaling u Delta (1 + gain), where the gain must keep its unit.
        """
        unit = {("margin", 1): self.loss_unit, ("margin", 2): self.loss_unit**0.5}
        per = unit.get((rule.scaling, rule.norm), 1.0)
        s = self.example_scale[i]
        if objective == "kmeans":  # large K are never formed: they are scaled through their weights
            return np.asarray(w * (s / (per * self.feature_scale))), 1.0
        return np.asarray(w / self.feature_scale), float(s / per)


def n_pairs(x: ItemSet) -> float:
    """The number of pairs that have features: those listed, or all."""
    if x.is_sparse and x.pair_index is not None:
        return len(x.pair_index)
    return x.n_items * (x.n_items - 1) / 2


def feature_scale(sets: Sequence[ItemSet], objective: Objective = "correlation") -> Floats:
    """The root mean square of each pair feature over the pairs of all sets, sets counting alike.

    Products of dense nodes are scaled one by one; those of sparse nodes by one number, since a word that is
    rare must not be blown up by being rare, and so are sparse pair features (links) for k-means. A
    feature that is zero everywhere has scale 1.

    >>> feature_scale([ItemSet(nodes=[[2.0, 0.0], [2.0, 1.0], [2.0, 0.0]])])
    array([4., 1.])
    """
    squares = np.mean([mean_squares(x) for x in sets], axis=0)
    thin = _thin(sets[0], pairs=objective == "kmeans")
    squares[thin] = squares[thin].sum()
    return np.where(squares > 0.0, np.sqrt(np.maximum(squares, 1e-300)), 1.0)


def _thin(x: ItemSet, *, pairs: bool) -> Bools:
    """Which features are sparse, node products and where asked for pair features."""
    thin = np.zeros(x.n_features, np.bool_)
    thin[: x.n_node_features] = x.nodes is not None and sparse.issparse(x.nodes)
    thin[x.n_node_features :] = pairs and x.pairs is not None and sparse.issparse(x.pairs)
    return thin


def mean_squares(x: ItemSet) -> Floats:
    """Mean of psi_ab^2 over the pairs a < b of one set; for node products (sum x^2)^2 - sum x^4 over 2."""
    parts = []
    if x.nodes is not None:
        parts.append(np.maximum(_power_sums(x.nodes, 2) ** 2 - _power_sums(x.nodes, 4), 0.0) / 2)
    if x.pairs is not None:
        parts.append(_power_sums(x.pairs, 2))
    return np.concatenate(parts) / max(n_pairs(x), 1)


def _power_sums(A: Matrix, power: int) -> Floats:
    """The sum of the powers of each column."""
    raised = A.power(power) if isinstance(A, sparse.csr_array) else A**power
    return np.asarray(raised.sum(axis=0)).ravel()
