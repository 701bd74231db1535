"""Tables whose rows are told apart by distance."""

from __future__ import annotations

import numpy as np

from . import pairs as algebra
from .item_set import ItemSet, as_item_set


def with_distances(X: ItemSet | algebra.MatrixLike) -> ItemSet:
    """An item set whose pair features are the distances |x_a - x_b| of a table's columns, and a constant.

    A table is otherwise taken as node features, whose products x_a x_b measure angles from the origin: a
    similarity made of them cannot say "near", nor where near ends. Memory is that of m (m - 1) / 2 rows.

    Parameters
    ----------
    X : ItemSet or array-like or sparse matrix
        A table with one row for each item, or an item set with node features.

    Returns
    -------
    ItemSet
        The item set of distances.

    Examples
    --------
    >>> x = with_distances([[1.0, 2.0], [4.0, 2.0]])
    >>> x.pair_features(0, 1), x.feature_names
    (array([3., 0., 1.]), ('distance of 0', 'distance of 1', 'constant'))
    """
    given = as_item_set(X)
    if given.nodes is None or given.pairs is not None:
        raise ValueError("distances are taken of a table of node features, without pair features")
    nodes = algebra.dense(given.nodes)
    a, b = np.triu_indices(given.n_items, 1)
    names = given.feature_names or [str(k) for k in range(nodes.shape[1])]
    return ItemSet(
        pairs=np.column_stack([np.abs(nodes[a] - nodes[b]), np.ones(len(a))]),
        ids=given.ids,
        feature_names=[*(f"distance of {name}" for name in names), "constant"],
        n_items=given.n_items,
    )
