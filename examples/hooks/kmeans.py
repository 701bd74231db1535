"""Supervised k-means as a hook module: learn the pair similarity under which k-means clusters as shown.

    clustruct-learn --m kmeans -c 1000 train.json model
    clustruct-classify --m kmeans test.json model predictions

Files hold one item set per line: {"items": [[...], ...], "clusters": [0, 0, 1, ...]}. The objective is
trace(Y' K Y) with K_ab = sum_j w_j x_aj x_bj, raised by moving one item at a time.
"""

import json

import numpy as np


def read_examples(filename, sparm):
    with open(filename) as lines:
        sets = [json.loads(line) for line in lines if line.strip()]
    # An input is the items and the number of clusters wanted.
    return [((np.array(s["items"]), max(s["clusters"]) + 1), tuple(s["clusters"])) for s in sets]


def init_model(sample, sm, sparm):
    sm.size_psi = sample[0][0][0].shape[1]


def memberships(y, k):
    """Y: one column per cluster, 1 / sqrt(cluster size) for its items."""
    Y = np.eye(k)[list(y)]
    return Y / np.sqrt(np.maximum(Y.sum(axis=0), 1.0))


def psi(x, y, sm, sparm):
    items, k = x
    # sum_ab (YY')_ab x_aj x_bj for every feature j: the squared column sums of each cluster.
    return np.sum((items.T @ memberships(y, k)) ** 2, axis=1)


def loss(y, ybar, sparm):
    k = max(y) + 1
    # Rounding must not make the loss of the same clustering, numbered otherwise, negative.
    shared = np.sum((memberships(y, k).T @ memberships(ybar, k)) ** 2)
    return 100.0 * max(0.0, 1.0 - round(shared, 9) / k)


def cluster(K, k, start):
    """Move items one at a time while trace(Y' K Y) rises; returns labels."""
    y = np.array(start)
    moved = True
    while moved:
        moved = False
        for a in range(len(y)):
            others = np.eye(k)[y] * (np.arange(len(y)) != a)[:, None]
            size, pull = others.sum(axis=0), K[a] @ others
            inside = np.einsum("ac,ab,bc->c", others, K, others)
            # The cluster's term with the item in it, less the term without.
            gain = (inside + 2 * pull + K[a, a]) / (size + 1) - inside / np.maximum(size, 1)
            if gain[gain.argmax()] > gain[y[a]] + 1e-9:
                y[a], moved = gain.argmax(), True
    return tuple(y.tolist())


def similarity(x, sm):
    return (x[0] * sm.w) @ x[0].T


def classify_example(x, sm, sparm):
    K, k = similarity(x, sm), x[1]
    starts = np.random.default_rng(0).integers(k, size=(5, len(K)))
    found = [cluster(K, k, start) for start in starts]
    return max(found, key=lambda y: np.trace(memberships(y, k).T @ K @ memberships(y, k)))


def find_most_violated_constraint(x, y, sm, sparm):
    # Delta = 100 (1 - |Y_i' Y|^2 / k) is linear in Y Y': take it from the similarities.
    Y = memberships(y, x[1])
    K = similarity(x, sm) - (100.0 / x[1]) * Y @ Y.T
    starts = np.random.default_rng(0).integers(x[1], size=(3, len(K)))
    found = [cluster(K, x[1], start) for start in (*starts, y)]
    return max(found, key=lambda z: np.trace(memberships(z, x[1]).T @ K @ memberships(z, x[1])))
