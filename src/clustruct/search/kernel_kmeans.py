"""Clustering procedures that ask for a positive semidefinite K (Finley 2009, sections 4.2.1 and 4.3.3).

Such a K is one of inner products, K_ab = <f_a, f_b>. Batch k-means converges on points f_a, and the
normalised cut has degrees to divide by. On other K both are refused: `kmeans.iterative` and `spectral` take
any.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints

from .kmeans import check_k, check_similarity, order_by_similarity
from .spectral import leading_eigenvectors

# An eigenvalue below minus this share of the largest is negative; a smaller positive one is no dimension.
TOLERANCE = 1e-8
KEEP_SIGNS = "learn with kernel_learning=True, or use 'iterative' or 'discrete', which take any similarity"


def batch(K: Any, k: int, *, n_init: int = 10, random_state: int = 0) -> Ints:
    """Batch k-means: all items move to the nearest centre, then all centres are taken anew.

    ``K`` is symmetric and positive semidefinite, else ValueError; the answer has exactly k clusters and is
    the best of ``n_init`` starts (k-means++). Returns canonical labels. Cost O(m^3) for the points, O(m^2 k)
    for a pass. `kmeans.iterative` looks at single moves: from the same labels it ends at least as high.

    >>> batch(np.array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.0], [0.1, 0.0, 1.0]]), 2)
    array([0, 0, 1])
    """
    dense = check_similarity(K)
    check_k(k, len(dense))
    order = order_by_similarity(dense)
    points = points_of(dense[np.ix_(order, order)])
    labels = _lloyd(points, np.ones(len(dense)), k, n_init, random_state)
    return canonical_labels(labels[np.argsort(order)])


def points_of(K: Floats) -> Floats:
    """Rows f_a with K_ab = <f_a, f_b>; ValueError where there are none."""
    if (own := float(K.diagonal().min())) < 0.0:
        raise ValueError(_refusal(f"an item has the similarity {own:.3g} with itself"))
    values, V = linalg.eigh(K, check_finite=False)
    largest = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    if values[0] < -TOLERANCE * largest:
        raise ValueError(_refusal(f"it has the eigenvalue {values[0]:.3g} beside {values[-1]:.3g}"))
    kept = values > TOLERANCE * largest
    F = V[:, kept] * np.sqrt(values[kept])
    return np.asarray(F * np.where(F.sum(axis=0) < 0.0, -1.0, 1.0)) if F.size else np.zeros((len(K), 1))


def _refusal(why: str) -> str:
    return f"the similarity is not positive semidefinite, and batch k-means need not end: {why}; {KEEP_SIGNS}"


def normalised_cut(K: Any, k: int, *, n_init: int = 10, random_state: int = 0) -> Ints:
    """Normalised cut, relaxed and made a partition by weighted k-means (Bach and Jordan 2006).

    ::

        maximise over partitions:   sum_c  sum_{a,b in c} K_ab / sum_{a in c} d_a,    d_a = sum_b K_ab

    The k leading eigenvectors U of D^(-1/2) K D^(-1/2) solve the relaxation; the items, as points
    u_a / d_a^(1/2) of weight d_a, are clustered by batch k-means. ValueError where a degree d_a is not
    positive. Returns canonical labels of exactly k clusters. Cost that of the eigenvectors.
    """
    dense = check_similarity(K)
    check_k(k, len(dense))
    degrees = dense.sum(axis=1)
    if degrees.min() <= TOLERANCE * np.abs(dense).sum(axis=1).max():
        raise ValueError(
            f"an item has the degree {degrees.min():.3g}: the normalised cut divides by the sum of each "
            f"item's similarities, which must be positive; {KEEP_SIGNS}"
        )
    order = order_by_similarity(dense)
    root = np.sqrt(degrees[order])
    U = leading_eigenvectors(dense[np.ix_(order, order)] / np.outer(root, root), k)[1]
    labels = _lloyd(U / root[:, None], degrees[order], k, n_init, random_state)
    return canonical_labels(labels[np.argsort(order)])


def _lloyd(points: Floats, weights: Floats, k: int, n_init: int, random_state: int) -> Ints:
    search = KMeans(k, n_init=n_init, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer points than clusters: see below
        labels = canonical_labels(search.fit(points, sample_weight=weights).labels_)
    # Equal points: whichever of a cluster goes elsewhere.
    while (missing := int(labels.max()) + 1) < k:
        largest = np.bincount(labels).argmax()
        labels[np.flatnonzero(labels == largest)[-1]] = missing
    return labels
