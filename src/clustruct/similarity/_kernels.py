"""Compiled: sums of regression trees."""

import numpy as np

from clustruct._jit import kernel
from clustruct._typing import Floats, Ints


@kernel()
def add_trees(
    rows: Floats, roots: Ints, feature: Ints, threshold: Floats, left: Ints, right: Ints, value: Floats
) -> Floats:
    """The sum over trees of the value of the leaf that each row falls into (feature -1: a leaf)."""
    total = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        s = 0.0
        for root in roots:
            node = root
            while feature[node] >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            s += value[node]
        total[i] = s
    return total
