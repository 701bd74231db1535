"""Which pairs of a set train a pair classifier (dissertation 1.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Indices, Labels
from clustruct.itemsets import ItemSet


def pair_table(x: ItemSet, pairs: Indices) -> NDArray[np.float64]:
    """psi_ab of the pairs, one row each: node products and pair features side by side."""
    parts = []
    a, b = pairs[:, 0], pairs[:, 1]
    if x.nodes is not None:
        nodes: Any = x.nodes
        products = nodes[a] * nodes[b]
        parts.append(products.toarray() if sparse.issparse(products) else products)
    if x.pairs is not None:
        parts.append(_listed_rows(x, a, b))
    return np.concatenate(parts, axis=1)


def _listed_rows(x: ItemSet, a: Indices, b: Indices) -> NDArray[np.float64]:
    """The explicit features of the pairs; zero where a pair is not listed."""
    m, held = x.n_items, x.pairs
    low, high = np.minimum(a, b), np.maximum(a, b)
    if x.pair_index is None:
        rows: Any = held[low * (2 * m - low - 1) // 2 + high - low - 1]  # type: ignore[index]
        return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    index = x.pair_index
    if np.array_equal(index[:, 0], low) and np.array_equal(index[:, 1], high):
        return held.toarray() if sparse.issparse(held) else np.asarray(held)  # type: ignore[union-attr]
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(index)}
    where = np.array([place.get((int(i), int(j)), -1) for i, j in zip(low, high, strict=True)], np.intp)
    out = np.zeros((len(a), x.n_pair_features))
    found = where >= 0
    rows = held[where[found]]  # type: ignore[index]
    out[found] = rows.toarray() if sparse.issparse(rows) else rows
    return out


def canopy_pairs(x: ItemSet, feature: int, span: tuple[float, float]) -> Indices:
    """The pairs whose feature lies in the span: neither hopeless nor obvious."""
    pairs = np.column_stack(np.triu_indices(x.n_items, 1))
    value = pair_table(x, pairs)[:, feature]
    return np.asarray(pairs[(value >= span[0]) & (value <= span[1])])


def chain_pairs(labels: Labels, pronoun: NDArray[np.bool_] | None = None) -> Indices:
    """Each item with its closest earlier mate (not a pronoun) and the strangers between the two (1.3.2).

    >>> chain_pairs(np.array([0, 1, 1, 0])).tolist()
    [[1, 2], [0, 3], [1, 3], [2, 3]]
    """
    found: list[tuple[int, int]] = []
    usable = np.ones(len(labels), bool) if pronoun is None else ~np.asarray(pronoun, bool)
    for i in range(len(labels)):
        mates = np.flatnonzero((labels[:i] == labels[i]) & usable[:i])
        if not len(mates):
            continue
        closest = int(mates[-1])
        found.append((closest, i))
        found.extend((j, i) for j in range(closest + 1, i) if labels[j] != labels[i])
    return np.array(found, np.intp).reshape(-1, 2)
