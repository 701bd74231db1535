"""Which pairs of a set train a pair classifier (dissertation 1.3)."""

from __future__ import annotations

import numpy as np

from clustruct._typing import Bools, Indices, Labels
from clustruct.itemsets import ItemSet, pair_table


def scored_pairs(x: ItemSet) -> Indices:
    """The pairs that have features: those listed, or all."""
    if x.is_sparse:
        return np.asarray(x.pair_index, dtype=np.intp)
    return np.column_stack(np.triu_indices(x.n_items, 1))


def canopy_pairs(x: ItemSet, feature: int, span: tuple[float, float]) -> Indices:
    """The scored pairs whose feature lies in the span: neither hopeless nor obvious."""
    pairs = scored_pairs(x)
    column = pair_table(x, pairs)[:, [feature]]
    value = (column if isinstance(column, np.ndarray) else column.toarray()).ravel()
    return np.asarray(pairs[(value >= span[0]) & (value <= span[1])])


def chain_pairs(labels: Labels, pronoun: Bools | None = None) -> Indices:
    """Each item with its closest earlier mate (not a pronoun) and the strangers between the two (1.3.2).

    >>> chain_pairs(np.array([0, 1, 1, 0])).tolist()
    [[1, 2], [0, 3], [1, 3], [2, 3]]
    >>> chain_pairs(np.array([0, 0, 0]), pronoun=np.array([False, True, False])).tolist()
    [[0, 1], [0, 2]]
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
