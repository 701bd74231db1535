"""Compiled: sums of regression trees, and what each feature adds to them."""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints


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


@kernel()
def credit_trees(
    rows: Floats, roots: Ints, feature: Ints, threshold: Floats, left: Ints, right: Ints, value: Floats
) -> Floats:
    """The same sums by feature: each split on a row's paths has the step of value that follows it.

    With the values of the roots they add up to `add_trees`.
    """
    credit = np.zeros(rows.shape)
    for i in range(rows.shape[0]):
        for root in roots:
            node = root
            while feature[node] >= 0:
                child = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
                credit[i, feature[node]] += value[child] - value[node]
                node = child
    return credit


@kernel()
def node_means(
    rows: Floats,
    weight: Floats,
    roots: Ints,
    feature: Ints,
    threshold: Floats,
    left: Ints,
    right: Ints,
    value: Floats,
) -> Floats:
    """Values with, in inner nodes, the mean of the leaves below them by the weight of the rows there."""
    held = np.zeros(feature.shape[0])
    for i in range(rows.shape[0]):
        for root in roots:
            node = root
            held[node] += weight[i]
            while feature[node] >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
                held[node] += weight[i]
    means = value.copy()
    for node in range(feature.shape[0] - 1, -1, -1):  # children come after their parents
        if feature[node] >= 0:
            a, b = left[node], right[node]
            both = held[a] + held[b]
            share = held[a] / both if both > 0.0 else 0.5
            means[node] = share * means[a] + (1.0 - share) * means[b]
    return means
