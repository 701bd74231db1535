"""Small data of the cases, all made up."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

from . import names


@cache
def marbles(n_train=4, n_test=2, n_items=14, noise=1.6):
    """Train and test sets of pair features, with their labels."""
    sets, labels = names.marble_sets(n_train + n_test, n_items, by="hue", noise=noise, random_state=7)
    return (sets[:n_train], labels[:n_train]), (sets[n_train:], labels[n_train:])


@cache
def synth():
    """Sets of sparse pair features for k-means: three clusters of six."""
    X, y = names.make_synth(
        n_sets=5, n_clusters=3, cluster_size=6, region_size=5, active=2, noise=0.35, random_state=2
    )
    return (X[:3], y[:3]), (X[3:], y[3:])


@cache
def tables(n_sets=4, m=12, d=3, seed=5):
    """Dense node features; the cluster is read off the first column, the others are noise."""
    rng = np.random.default_rng(seed)
    made = [rng.normal(size=(m, d)) for _ in range(n_sets)]
    labels = [np.digitize(t[:, 0] + 0.2 * rng.normal(size=m), [-0.5, 0.5]) for t in made]
    for t, y in zip(made, labels, strict=True):
        t[:, 0] += 2.0 * (y - 1)
    return made, labels


@cache
def mixed_sets(n_sets=4, m=11, seed=3):
    """Sparse node features beside pair features of some pairs."""
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for _ in range(n_sets):
        y = rng.integers(0, 3, m)
        nodes = sparse.csr_array(np.eye(3)[y] * (rng.random((m, 3)) < 0.7) + 0.1 * rng.normal(size=(m, 3)))
        a, b = np.triu_indices(m, 1)
        kept = rng.random(len(a)) < 0.6
        values = np.column_stack([(y[a] == y[b]) + 0.6 * rng.normal(size=len(a)), np.ones(len(a))])
        index = np.column_stack([a, b])[kept]
        sets.append(names.item_set(nodes, values[kept], pair_index=index))
        labels.append(y)
    return sets, labels


@cache
def listed_sets(n_sets=4, m=24, seed=11):
    """Sets that list their pairs and have no nodes: pairs apart are listed now and then."""
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for _ in range(n_sets):
        y = rng.integers(0, 6, m)
        a, b = np.triu_indices(m, 1)
        kept = (y[a] == y[b]) | (rng.random(len(a)) < 0.25)
        noise = rng.normal(size=(len(a), 2))
        values = np.column_stack([(y[a] == y[b]) + 0.7 * noise[:, 0], noise[:, 1], np.ones(len(a))])
        sets.append(names.item_set(pairs=values[kept], pair_index=np.column_stack([a, b])[kept], n_items=m))
        labels.append(y)
    return sets, labels


@cache
def classes(k=3, n=40, d=4, seed=1):
    """Rows of k classes with some overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(k, d))[y] + 0.9 * rng.normal(size=(n, d)), y


@cache
def blobs(seed=0):
    """Three groups of points, and points that belong to none."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0.0, 6.0, size=(4, 5))
    X = np.concatenate([c + rng.normal(size=(25, 5)) for c in centres[:3]])
    between = rng.uniform(X.min(0), X.max(0), size=(12, 5))
    return X, np.repeat(np.arange(3), 25), np.concatenate([centres[3] + rng.normal(size=(12, 5)), between])


def scores(m, seed, spread=0.6):
    """A symmetric matrix of noisy scores with clusters in it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, max(2, m // 4), m)
    K = np.where(y[:, None] == y, 0.5, -0.5) + spread * rng.normal(size=(m, m))
    K = (K + K.T) / 2
    np.fill_diagonal(K, 0.0)
    return K


def summary(values):
    """A large table in a few numbers: its shape, means of columns, and a sum that sees every cell."""
    table = np.asarray(values, float)
    ramp = np.linspace(0.5, 1.5, table.shape[0])[:, None] * np.linspace(1.0, 2.0, table.shape[1])[None, :]
    return {"shape": table.shape, "means": table.mean(axis=0), "sum": float((table * ramp).sum())}
