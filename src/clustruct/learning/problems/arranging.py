"""Sets and items in an order that depends on what they are, not on how they are numbered.

Searches that start at random and visit items in turn, and a training that asks for one set after another,
come to other ends where items or sets come in another order. In an order of their own the same data is the
same problem.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustruct.core.partitions import normalised_indicator
from clustruct.core.typing import Floats, Indices, Ints
from clustruct.data import ItemSet
from clustruct.search.kmeans import order_of_rows


def arranged(
    sets: Sequence[ItemSet], labels: Sequence[Ints], feature_scale: Floats
) -> tuple[list[ItemSet], list[Ints], Indices]:
    """Each set with its items in order, their labels, and the place of each set in the order of the sets.

    Items are told apart by sums over the similarities at one random w, and the same within their clusters;
    sets by sums of these. What looks alike so keeps its place. Cost: a few products with K for a set.

    >>> x = ItemSet(nodes=[[3.0], [1.0], [2.0]])
    >>> found, ys, _ = arranged([x], [np.array([0, 0, 1])], np.ones(1))
    >>> found[0].nodes.ravel().tolist(), ys[0].tolist()
    ([1.0, 2.0, 3.0], [0, 1, 0])
    """
    w = np.random.default_rng(0).uniform(1.0, 2.0, len(feature_scale)) / feature_scale
    sums = [_sums(x, y, w) for x, y in zip(sets, labels, strict=True)]
    orders = [order_of_rows(of_items) for of_items in sums]
    sizes = [[len(y), int(y.max()) + 1] for y in labels]
    of_sets = [[*size, *of_items.sum(axis=0)] for size, of_items in zip(sizes, sums, strict=True)]
    places = np.argsort(order_of_rows(np.array(of_sets, float)))
    items = [x.subset(order) for x, order in zip(sets, orders, strict=True)]
    return items, [y[order] for y, order in zip(labels, orders, strict=True)], places


def _sums(x: ItemSet, y: Ints, w: Floats) -> Floats:
    """One row per item: K1 and sums of its square, over all items and over those of its cluster."""
    K, Y = x.similarity_operator(w), normalised_indicator(y)
    total = np.asarray(K @ np.ones(len(y)))
    size = max(float(np.abs(total).max()), 1e-300)
    total = total / size
    again = np.asarray(K @ (total * total)) / size
    mates = [Y @ (Y.T @ v) for v in (total, again, total * again)]
    return np.stack([total, again, total * again, total**2, *mates, np.bincount(y)[y]], axis=1)
