"""Slow, obvious twins of the k-means code."""

import itertools

import numpy as np

from clustruct.partitions import normalised_indicator


def partitions_into(m, k):
    """Every partition of m items into exactly k clusters, as canonical labels."""
    for labels in itertools.product(range(k), repeat=m):
        highest = -1
        for label in labels:
            if label > highest + 1:
                break
            highest = max(highest, label)
        else:
            if highest == k - 1:
                yield np.array(labels)


def trace_value(K, labels):
    """trace(Y'KY) with the dense Y."""
    Y = normalised_indicator(labels).toarray()
    return float(np.trace(Y.T @ K @ Y))


def best_partition(K, k):
    """The partition of highest trace(Y'KY), and its value."""
    best = max(partitions_into(len(K), k), key=lambda y: trace_value(K, y))
    return best, trace_value(K, best)


def single_moves(labels):
    """Every partition one move away that has the same number of clusters."""
    k = labels.max() + 1
    for a in range(len(labels)):
        for c in range(k):
            if c != labels[a] and np.count_nonzero(labels == labels[a]) > 1:
                other = labels.copy()
                other[a] = c
                yield other


def normalised_loss(y_true, y_pred):
    """100 (1 - |Y'Yhat|_F^2 / k) with dense matrices."""
    Y = normalised_indicator(y_true).toarray()
    Z = y_pred.Y if hasattr(y_pred, "Y") else normalised_indicator(y_pred).toarray()
    return 100.0 * (1.0 - np.sum((Y.T @ Z) ** 2) / Y.shape[1])
