"""Slow, obvious twins of the k-means code."""

import itertools

import numpy as np

from clustruct.core.partitions import normalised_indicator


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


def lloyd_moves(K, labels):
    """Each item at the nearest centre of these clusters, its own where that is as near."""
    k = labels.max() + 1
    Z = (labels[:, None] == np.arange(k)) / np.bincount(labels)
    distance = np.diag(K)[:, None] - 2 * K @ Z + np.diag(Z.T @ K @ Z)
    own = distance[np.arange(len(K)), labels]
    return np.where(distance.min(axis=1) < own - 1e-9, distance.argmin(axis=1), labels)


def normalised_cut_value(K, labels):
    """The sum over clusters of similarity within by similarity to all, pair by pair."""
    total = 0.0
    for c in set(labels.tolist()):
        mine = [a for a in range(len(K)) if labels[a] == c]
        total += sum(K[a, b] for a in mine for b in mine) / sum(K[a, b] for a in mine for b in range(len(K)))
    return total


def best_normalised_cut(K, k):
    """The partition of highest value, and that value."""
    best = max(partitions_into(len(K), k), key=lambda y: normalised_cut_value(K, y))
    return best, normalised_cut_value(K, best)


def relaxed_objective(K, relaxed):
    """trace(Y'KY)."""
    return float(np.sum(relaxed.Y * np.asarray(K @ relaxed.Y)))
