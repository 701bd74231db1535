"""Where documents that belong to none of the clusters come from (Zhang, Wang and Si 2011, section 5.1).

Documents of other categories (`rest`), points at random (`random_box`), means of cluster centres
(`mean_of_centres`); and of any of these the ones that lie nearest to the data (`select_by_mixture`) or
nearest to the borders of a first clustering (`select_between`, which is not in the paper).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_array, check_random_state

from clustruct.core.typing import Floats

from .margin_problem import kmeans_labels

Covariance = Literal["auto", "full", "tied", "diag", "spherical"]


def rest(X: Any, categories: Any, targets: Any) -> Any:
    """U_rest: the rows of X whose category is none of the targets.

    >>> rest(np.eye(3), ["comp", "rec", "misc"], ["comp", "rec"])
    array([[0., 0., 1.]])
    """
    X = check_array(X, accept_sparse="csr")
    categories = np.asarray(categories)
    if categories.shape != (X.shape[0],):
        raise ValueError(f"{X.shape[0]} rows need as many categories, not an array of {categories.shape}")
    return X[~np.isin(categories, np.asarray(targets))]


def random_box(X: Any, n: int = 1000, random_state: Any = None) -> Floats:
    """U_rand: n points, each feature uniform between its least and largest value in X."""
    X = check_array(X, accept_sparse="csr")
    low, high = _extremes(X.min(axis=0)), _extremes(X.max(axis=0))
    return np.asarray(check_random_state(random_state).uniform(low, high, size=(n, X.shape[1])))


def mean_of_centres(X: Any, n_clusters: int, random_state: Any = None) -> Floats:
    """U_mean: the k(k-1)/2 means of two centres of k-means."""
    X = check_array(X, accept_sparse="csr")
    labels = kmeans_labels(X, n_clusters, check_random_state(random_state))
    member = (labels[None, :] == np.arange(n_clusters)[:, None]).astype(float)
    sizes = np.maximum(member.sum(axis=1, keepdims=True), 1.0)
    centres = np.asarray(member @ X) / sizes
    pairs = np.array(list(combinations(range(n_clusters), 2)), dtype=np.intp).reshape(-1, 2)
    return 0.5 * (centres[pairs[:, 0]] + centres[pairs[:, 1]])


class Selection(NamedTuple):
    """The rows selected, their numbers among the candidates, and the covariance of the mixture, if any."""

    rows: Any
    numbers: NDArray[np.intp]
    covariance: str


def select_by_mixture(
    X: Any,
    candidates: Any,
    n_clusters: int,
    share: float = 0.1,
    covariance: Covariance = "auto",
    random_state: Any = None,
) -> Selection:
    """U_select: of the candidates the share that a mixture of k Gaussians, fitted to X, finds most likely.

    The covariance "auto" is the richest with no more parameters than documents (`possible_covariance`),
    others are those of scikit-learn's `GaussianMixture`; the answer says which it was. Pass the union of the
    others as candidates; X dense, reduced by truncated SVD.
    """
    X, candidates = check_array(X, dtype=np.float64), check_array(candidates, dtype=np.float64)
    count = _how_many(share, len(candidates))
    if candidates.shape[1] != X.shape[1]:
        raise ValueError(f"candidates have {candidates.shape[1]} features, X has {X.shape[1]}")
    kind = possible_covariance(X.shape[0], X.shape[1], n_clusters) if covariance == "auto" else covariance
    # Units of the data: the mixture adds 1e-6 to each variance.
    unit = max(float(X.std(axis=0).max()), 1e-300)
    mixture = GaussianMixture(n_clusters, covariance_type=kind, random_state=check_random_state(random_state))
    likelihood = mixture.fit(X / unit).score_samples(candidates / unit)
    numbers = np.sort(np.argsort(-likelihood, kind="stable")[:count])
    return Selection(candidates[numbers], numbers, kind)


def select_between(weights: Any, candidates: Any, share: float = 0.3) -> Selection:
    """Of the candidates the share that lies nearest to a border between clusters.

    ``weights`` are the ``coef_`` of a clustering without Universum; nearest means the least gap between the
    best and the second best score. Likely documents (`select_by_mixture`) may lie deep inside one cluster,
    and then pull it apart; these do not.
    """
    weights = check_array(weights, dtype=np.float64, ensure_min_samples=2)
    candidates = check_array(candidates, accept_sparse="csr", dtype=np.float64)
    scores = np.sort(np.asarray(candidates @ weights.T), axis=1)
    nearest = np.argsort(scores[:, -1] - scores[:, -2], kind="stable")
    numbers = np.sort(nearest[: _how_many(share, candidates.shape[0])])
    return Selection(candidates[numbers], numbers, "none")


def _how_many(share: float, n: int) -> int:
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must lie in (0, 1], not {share!r}")
    return max(1, round(share * n))


def possible_covariance(n: int, d: int, n_clusters: int) -> str:
    """The richest covariance with at least one of n documents for each parameter, in d dimensions."""
    parameters = d * (d + 1) // 2
    if n >= n_clusters * parameters:
        return "full"
    return "tied" if n >= parameters else "diag"


def _extremes(row: Any) -> Floats:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=float).ravel()
