"""Where maximum-margin clustering starts, and in what unit the data are measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from clustruct._typing import Indices

# k-means on a part of the data gives a start as good as on the whole.
SAMPLE = 4000
# Up to this many features the principal directions come from the covariance matrix.
FEW_FEATURES = 500
# Root mean square distance of the documents from their mean, after scaling: see `natural_scale`.
SPREAD = 10.0


def natural_scale(X: Any) -> float:
    """The factor that brings the root mean square distance of the rows from their mean to 10.

    The margins are fixed at 1, so the scale of X is the unit of C: multiplying X by s is the same as
    multiplying C and C_universum by s^2. With rows of length 1 the scores stay below the Universum margin
    0.5 over most of the paper's grid; with a spread of 10 all of the grid is in use. 1 where all rows
    are equal.
    """
    centre = np.asarray(X.sum(axis=0), dtype=float).ravel() / X.shape[0]
    values = X.data if hasattr(X, "tocsr") else np.asarray(X)
    variance = float(np.vdot(values, values)) / X.shape[0] - float(centre @ centre)
    largest = float(np.abs(values).max(initial=0.0))
    if variance <= 1e-12 * largest**2 or variance == 0.0:
        return 1.0
    return SPREAD / float(np.sqrt(variance))


def kmeans_labels(X: Any, n_clusters: int, rng: np.random.RandomState, runs: int = 1) -> Indices:
    """Labels of all rows by k-means on at most 4000 of them."""
    n = X.shape[0]
    part = X[rng.choice(n, max(SAMPLE, n_clusters), replace=False)] if n > SAMPLE else X
    model = KMeans(n_clusters, n_init=runs, random_state=rng).fit(part)
    return np.asarray(model.predict(X), dtype=np.intp)


def principal_labels(X: Any, n_clusters: int, rng: np.random.RandomState) -> Indices:
    """Labels by k-means in the k - 1 leading principal directions.

    The relaxed optimum of k-means lies in their span (Ding and He 2004). Far fewer local optima than in the
    full space, so the start hardly depends on chance. k-means on X itself where X has no more than k
    features.
    """
    n, d = X.shape
    if min(n, d) <= n_clusters or n_clusters < 2:
        return kmeans_labels(X, n_clusters, rng, runs=5)
    solver = "covariance_eigh" if d <= FEW_FEATURES and not hasattr(X, "tocsr") else "arpack"
    reduced = PCA(n_clusters - 1, svd_solver=solver, random_state=rng).fit_transform(X)
    return np.asarray(KMeans(n_clusters, n_init=5, random_state=rng).fit_predict(reduced), dtype=np.intp)
