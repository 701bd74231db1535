"""Two ways of clustering documents that scikit-learn does not have: PLSA and CLGR."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from clustruct._typing import Indices
from clustruct.callbacks import observed
from clustruct.storage import FEATURES, EstimatorState, Shape, register
from clustruct.universum.graphs import clgr_embedding
from clustruct.universum.plsa import PLSAResult, plsa


@register("PLSA")
class PLSA(EstimatorState, ClusterMixin, BaseEstimator):
    """Probabilistic latent semantic analysis; a document goes to its likeliest topic (Hofmann 1999)::

        max over P(topic | document), P(word | topic)   sum_{d,w} X_dw log sum_z P(z | d) P(w | z)

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Random starts; the one with the highest likelihood is kept.
    tol, max_iter : float, int
        A run ends when the likelihood rises by no more than this share.
    random_state : int, RandomState or None
    verbose : int
        1 prints some steps, with minus the likelihood as the objective, 2 all of them.

    Attributes
    ----------
    labels_ : the likeliest topic of each row
    components_ : P(word | topic), one row per topic
    result_ : PLSAResult of the best run, with the likelihood after each step

    Examples
    --------
    >>> from clustruct.baselines import PLSA
    >>> counts = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 1, 3]]
    >>> labels = PLSA(n_clusters=2, random_state=0).fit_predict(counts)
    >>> (labels == labels[0]).tolist()
    [True, True, False, False]
    """

    fitted: ClassVar = {
        **FEATURES,
        "labels_": Shape((None,), np.integer),
        "components_": Shape((None, "n_features_in_")),
        "result_": PLSAResult,
        "n_iter_": int,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        n_init: int = 1,
        tol: float = 1e-5,
        max_iter: int = 300,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> PLSA:
        """Find the topics of the rows of X, which must not be negative. y is not used."""
        counts = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        values = counts.data if hasattr(counts, "tocsr") else counts
        if (values < 0).any():
            raise ValueError("Negative values in data passed to PLSA: it needs counts or tf-idf")
        rng = check_random_state(self.random_state)
        runs = [self._run(counts, rng) for _ in range(self.n_init)]
        self.result_ = max(runs, key=lambda run: run.log_likelihood)
        if not self.result_.converged:
            warnings.warn("PLSA stopped before it converged", ConvergenceWarning, stacklevel=2)
        self.components_ = self.result_.words
        self.labels_ = _contiguous(self.result_.labels)
        self.n_iter_ = len(self.result_.history)
        return self

    def _run(self, counts: Any, rng: np.random.RandomState) -> PLSAResult:
        callback = observed(None, self.tol, self.verbose)
        return plsa(counts, self.n_clusters, rng, self.tol, self.max_iter, callback)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags


@register("CLGR")
class CLGR(EstimatorState, ClusterMixin, BaseEstimator):
    """Clustering with local and global regularisation (Wang, Zhang and Li, SIGIR 2007)::

        min over Q, Q'Q = I   |Q - A Q|^2 + smoothness trace Q' L Q

    A q holds what ridge regressions on the neighbours of each document predict for it, L is the normalised
    Laplacian of the neighbour graph. The rows of Q, scaled to length one, are clustered by k-means.

    Parameters
    ----------
    n_clusters : int
    n_neighbors : int
    ridge : float
        Of the local regressions, in units of the mean squared length of the rows.
    smoothness : float
        Weight of the global term.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_, embedding_

    Examples
    --------
    >>> from clustruct.baselines import CLGR
    >>> X = [[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]]
    >>> labels = CLGR(n_clusters=2, n_neighbors=2, random_state=0).fit_predict(X)
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False, False]
    """

    fitted: ClassVar = {
        **FEATURES,
        "labels_": Shape(("n_samples",), np.integer),
        "embedding_": Shape(("n_samples", None)),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        n_neighbors: int = 20,
        ridge: float = 0.1,
        smoothness: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.smoothness = smoothness
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> CLGR:
        """Cluster the rows of X (dense). y is not used."""
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if rows.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={rows.shape[0]} should be at least n_clusters={self.n_clusters}")
        rng = check_random_state(self.random_state)
        unit = self.ridge * max(float(np.mean(np.sum(rows**2, axis=1))), 1e-300)
        seed = int(rng.randint(2**31 - 1))
        Q = clgr_embedding(rows, self.n_clusters, self.n_neighbors, unit, self.smoothness, seed)
        self.embedding_ = Q / np.maximum(np.linalg.norm(Q, axis=1, keepdims=True), 1e-300)
        self.labels_ = KMeans(self.n_clusters, n_init=10, random_state=rng).fit_predict(self.embedding_)
        return self


def _contiguous(labels: Indices) -> Indices:
    """The labels in use as 0, 1, 2, ..."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.intp)
