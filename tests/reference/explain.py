"""Slow, obvious twins of clustruct.evaluate.explain: make every move and count the objective again."""

import itertools

import numpy as np

from tests.reference.partitions import all_partitions


def correlation_score(K, y):
    """Sum of K over pairs a < b with equal labels."""
    return sum(K[a, b] for a, b in itertools.combinations(range(len(y)), 2) if y[a] == y[b])


def kmeans_score(K, y):
    """trace(Y'KY): for each cluster the sum of K over its ordered pairs, diagonal too, over its size."""
    return sum(K[np.ix_(c, c)].sum() / len(c) for c in (np.flatnonzero(y == k) for k in np.unique(y)))


def item_losses(K, y, score, may_be_alone=True, listed=None):
    """For each item the least score lost by a move to another place (inf without one)."""
    losses = np.full(len(y), np.inf)
    now = score(K, y)
    for a in range(len(y)):
        lonely = (y == y[a]).sum() == 1
        for place in [*np.unique(y), y.max() + 1]:
            new = place > y.max()
            if place == y[a] or (new and (lonely or not may_be_alone)):
                continue
            if not may_be_alone and lonely:
                continue
            if listed is not None and not new and not listed[a, y == place].any():
                continue
            moved = y.copy()
            moved[a] = place
            losses[a] = min(losses[a], now - score(K, moved))
    return losses


def cluster_losses(K, y):
    """For each cluster the least score lost by any merge with one other, or any way to cut it up."""
    losses = np.full(y.max() + 1, np.inf)
    now = correlation_score(K, y)
    for c in range(y.max() + 1):
        for d in range(y.max() + 1):
            if d != c:
                losses[c] = min(losses[c], now - correlation_score(K, np.where(y == c, d, y)))
        items = np.flatnonzero(y == c)
        for parts in all_partitions(len(items)):
            if max(parts) > 0:
                moved = y.copy()
                moved[items] = len(y) + np.array(parts)
                losses[c] = min(losses[c], now - correlation_score(K, moved))
    return losses
