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

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import ItemSet
from clustruct.data.matrices import Matrix
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles.base import Objective

# Features of which a smaller share is not zero are thin: words, links. Comparisons of records fill about half
# of their table, links some hundredths.
THIN_SHARE = 0.25
# Sizes of features between this and its inverse can be divided by, and squared sums of their shares taken.
SMALLEST = 1e-302
# Below the exponent of every number.
LEAST_EXPONENT = -2200


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
        counts = [x.n_pairs if objective == "correlation" else x.n_items for x in sets]
        scale = np.ones(sets[0].n_features if len(sets) else 0) if feature_scale is None else feature_scale
        return cls(scale, 1.0 / np.maximum(np.array(counts, dtype=np.float64), 1.0), 0.01)

    def of_search(self, i: int, w: Floats, rule: SlackRule, objective: Objective) -> tuple[Floats, float]:
        """Weights, and what K is multiplied by then, to stand beside losses from 0 to 100 as the rule says: a
        factor of the loss is taken out of H, u (Delta + gain/u), but with slack scaling u Delta (1 + gain).
        """
        unit = {("margin", 1): self.loss_unit, ("margin", 2): self.loss_unit**0.5}
        per = unit.get((rule.scaling, rule.norm), 1.0)
        s = self.example_scale[i]
        if objective == "kmeans":  # large K are never formed: they are scaled through their weights
            return np.asarray(w * (s / (per * self.feature_scale))), 1.0
        return np.asarray(w / self.feature_scale), float(s / per)


def feature_scale(
    sets: Sequence[ItemSet], objective: Objective = "correlation", thin: Bools | None = None
) -> Floats:
    """The root mean square of each pair feature over the pairs of all sets, sets counting alike.

    Products of node features are scaled one by one; where few entries of the nodes are not zero (words,
    links) all by one number, since a rare word must not be blown up by being rare; so are thin pair features
    for k-means. A feature that is zero everywhere has scale 1. ``thin`` says for which features one number is
    taken.

    >>> feature_scale([ItemSet(nodes=[[2.0, 0.0], [2.0, 1.0], [2.0, 0.0]])])
    array([4., 1.])
    """
    thin = thin_features(sets, objective) if thin is None else thin
    exponent = np.max([_exponents(x) for x in sets], axis=0)
    if thin.any():
        exponent[thin] = exponent[thin].max()
    squares = np.mean([mean_squares(x, exponent) for x in sets], axis=0)
    squares[thin] = squares[thin].sum()
    with np.errstate(over="ignore", under="ignore"):
        scale = np.where(squares > 0.0, np.ldexp(np.sqrt(squares), exponent), 1.0)
    _check_range(scale, sets[0])
    return scale


def _check_range(scale: Floats, x: ItemSet) -> None:
    """Refuse features whose sizes (products of two entries, for nodes) double precision cannot hold."""
    wrong = ~((scale >= SMALLEST) & (scale <= 1.0 / SMALLEST))
    if wrong.any():
        f = int(np.argmax(wrong))
        name = f"feature {f}" if x.feature_names is None else repr(x.feature_names[f])
        much = "small" if scale[f] < 1.0 else "large"
        raise ValueError(f"the entries of {name} are too {much} for double precision: scale the features")


def thin_features(sets: Sequence[ItemSet], objective: Objective = "correlation") -> Bools:
    """Of which features few entries are not zero: node products, and for k-means pair features."""
    first, pairs = sets[0], objective == "kmeans"
    thin = np.zeros(first.n_features, np.bool_)
    thin[: first.n_node_features] = _share([x.nodes for x in sets]) < THIN_SHARE
    thin[first.n_node_features :] = pairs and _share([x.pairs for x in sets]) < THIN_SHARE
    return thin


def _share(tables: Sequence[Matrix | None]) -> float:
    """The share of entries that are not zero, tables counting alike; 1 where there are none."""
    shares = [
        np.count_nonzero(A.data if isinstance(A, sparse.csr_array) else A) / np.prod(A.shape)
        for A in tables
        if A is not None and np.prod(A.shape)
    ]
    return float(np.mean(shares)) if shares else 1.0


def _exponents(x: ItemSet) -> Ints:
    """Even numbers e such that each psi_ab of the set, divided by 2^e, is of the order of 1 at most."""
    parts = [2 * _largest_exponents(x.nodes), _largest_exponents(x.pairs)]
    return np.concatenate([part + part % 2 for part in parts])


def _largest_exponents(A: Matrix | None) -> Ints:
    if A is None:
        return np.zeros(0, np.int64)
    if not A.shape[0]:
        return np.zeros(A.shape[1], np.int64)
    largest = abs(A).max(axis=0)
    size = np.asarray(largest.toarray() if sparse.issparse(largest) else largest, float).ravel()
    return np.where(size > 0.0, np.frexp(size)[1], LEAST_EXPONENT // 2).astype(np.int64)


def mean_squares(x: ItemSet, exponent: Ints | None = None) -> Floats:
    """Mean of psi_ab^2 over the pairs a < b of one set; for node products (sum x^2)^2 - sum x^4 over 2. With
    even exponents e of psi_ab / 2^e, which keeps very large and very small numbers within range.
    """
    e = np.zeros(x.n_features, np.int64) if exponent is None else exponent
    n, parts = x.n_node_features, []
    if x.nodes is not None:
        nodes = _scale_columns(x.nodes, -e[:n] // 2)
        parts.append(np.maximum(_power_sums(nodes, 2) ** 2 - _power_sums(nodes, 4), 0.0) / 2)
    if x.pairs is not None:
        parts.append(_power_sums(_scale_columns(x.pairs, -e[n:]), 2))
    return np.concatenate(parts) / max(x.n_pairs, 1)


def _scale_columns(A: Matrix, exponent: Ints) -> Matrix:
    """The columns times powers of two."""
    if not exponent.any():
        return A
    if isinstance(A, sparse.csr_array):
        return sparse.csr_array((np.ldexp(A.data, exponent[A.indices]), A.indices, A.indptr), shape=A.shape)
    return np.ldexp(A, exponent)


def _power_sums(A: Matrix, power: int) -> Floats:
    """The sum of the powers of each column."""
    raised = A.power(power) if isinstance(A, sparse.csr_array) else A**power
    return np.asarray(raised.sum(axis=0)).ravel()
