"""Two ways of clustering documents that scikit-learn does not have: PLSA and CLGR."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from clustruct.core.callbacks import Iteration, reason_to_stop, training_listener
from clustruct.core.storage import FEATURES, DataclassState, EstimatorState, Shape, register
from clustruct.core.typing import Floats, Indices
from clustruct.estimators.inputs import checked_rows

__all__ = ["CLGR", "PLSA"]

# So that a word that a topic gave up is not lost to rounding.
TINY = 1e-300
# Rows of which the local models are solved together.
CHUNK = 500
# Up to this size all eigenvectors are computed at once.
DENSE = 600


@register("PLSAResult")
@dataclass(frozen=True)
class PLSAResult(DataclassState):
    """P(topic | document), one row per document; P(word | topic), one row per topic; likelihood per step."""

    topics: Floats
    words: Floats
    history: tuple[float, ...] = field(repr=False)
    converged: bool

    @property
    def labels(self) -> Indices:
        return np.argmax(self.topics, axis=1)

    @property
    def log_likelihood(self) -> float:
        return self.history[-1]


@register("PLSA")
@dataclass(eq=False, repr=False)
class PLSA(EstimatorState, ClusterMixin, BaseEstimator):
    """Probabilistic latent semantic analysis; a document goes to its likeliest topic (Hofmann 1999)::

        max over P(topic | document), P(word | topic)   sum_{d,w} X_dw log sum_z P(z | d) P(w | z)

    X holds how often each word is in each document. A run is a local optimum, found by EM.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    n_init : int
        Random starts; the one with the highest likelihood is kept.
    tol, max_iter : float, int
        A run ends when the likelihood rises by no more than this share.
    random_state : int, RandomState, optional
        Seed, or a generator, of whatever is drawn.
    verbose : int
        1 prints some steps, with minus the likelihood as the objective, 2 all of them.

    Attributes
    ----------
    labels_
        The likeliest topic of each row.
    components_
        P(word | topic), one row per topic.
    result_
        PLSAResult of the best run, with the likelihood after each step.

    Examples
    --------
    >>> from clustruct.papers.document_clustering import PLSA
    >>> counts = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 1, 3]]
    >>> labels = PLSA(n_clusters=2, random_state=0).fit_predict(counts)
    >>> (labels == labels[0]).tolist()
    [True, True, False, False]
    """

    n_clusters: int = 8
    n_init: int = 1
    tol: float = 1e-5
    max_iter: int = 300
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    fitted: ClassVar = {
        **FEATURES,
        "labels_": Shape((None,), np.integer),
        "components_": Shape((None, "n_features_in_")),
        "result_": PLSAResult,
        "n_iter_": int,
    }

    def fit(self, X: ArrayLike, y: object = None) -> PLSA:
        """Find the topics of the rows of X, which must not be negative. y is not used."""
        counts = checked_rows(self, X, accept_sparse="csr")
        values = counts.data if hasattr(counts, "tocsr") else counts
        if (values < 0).any():
            raise ValueError("Negative values in data passed to PLSA: it needs counts or tf-idf")
        rng = check_random_state(self.random_state)
        runs = [self._run(counts, rng) for _ in range(self.n_init)]
        self.result_ = max(runs, key=lambda run: run.log_likelihood)
        if not self.result_.converged:
            warnings.warn("PLSA stopped before it converged", ConvergenceWarning, stacklevel=2)
        self.components_ = self.result_.words
        # The labels in use as 0, 1, 2, ...
        self.labels_ = np.asarray(np.unique(self.result_.labels, return_inverse=True)[1], np.intp)
        self.n_iter_ = len(self.result_.history)
        return self

    def check_attributes(self) -> None:
        """A topic for each document, a document for each label."""
        topics = self.result_.topics
        if topics.shape != (len(self.labels_), len(self.components_)):
            raise ValueError("labels_, components_ and result_ are not of one fit")

    def _run(self, counts: Any, rng: np.random.RandomState) -> PLSAResult:
        callback = training_listener(None, self.tol, self.verbose)
        return plsa(counts, self.n_clusters, rng, self.tol, self.max_iter, callback)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags


def plsa(
    X: Any,
    k: int,
    rng: np.random.RandomState,
    tol: float = 1e-5,
    max_iter: int = 300,
    callback: Callable[[Iteration], object] | None = None,
) -> PLSAResult:
    """``max sum_{d,w} X_dw log sum_z P(z|d) P(w|z)`` over distributions, from a random start.

    X is CSR and not negative. The likelihood never falls. Ends when it rises by no more than ``tol`` times
    its size, or when the callback, called with minus the likelihood, returns something true. Cost per step
    O(k nnz). (`sklearn.decomposition.NMF` with the Kullback-Leibler loss has the same optima, but takes other
    steps: it updates one factor after the other, EM both at once.)
    """
    started = time.perf_counter()
    X = sparse.csr_array(X)
    topics, words = rng.dirichlet(np.ones(k), X.shape[0]), rng.dirichlet(np.ones(X.shape[1]), k)
    rows, columns = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    history: list[float] = []
    for _ in range(max_iter):
        mixed = np.maximum(np.einsum("ij,ij->i", topics[rows], words.T[columns]), TINY)
        history.append(float(X.data @ np.log(mixed)))
        if len(history) > 1 and history[-1] - history[-2] <= tol * abs(history[-1]):
            return PLSAResult(topics, words, tuple(history), True)
        step = Iteration(len(history), -history[-1], -np.inf, len(history), 0, time.perf_counter() - started)
        if reason_to_stop(callback, step):
            break
        ratio = sparse.csr_array((X.data / mixed, columns, X.indptr), shape=X.shape)
        counted = topics * (ratio @ words.T)
        words = _distributions(words * (ratio.T @ topics).T)
        topics = _distributions(counted)
    return PLSAResult(topics, words, tuple(history), False)


def _distributions(counts: Floats) -> Floats:
    """Rows that sum to one; uniform where there is nothing."""
    totals = counts.sum(axis=1, keepdims=True)
    uniform = np.full_like(counts, 1.0 / counts.shape[1])
    return np.where(totals > 0.0, counts / np.maximum(totals, TINY), uniform)


@register("CLGR")
@dataclass(eq=False, repr=False)
class CLGR(EstimatorState, ClusterMixin, BaseEstimator):
    """Clustering with local and global regularisation (Wang, Zhang and Li, SIGIR 2007)::

        min over Q, Q'Q = I   |Q - A Q|^2 + smoothness trace Q' L Q

    A q holds what ridge regressions on the neighbours of each document predict for it, L is the normalised
    Laplacian of the neighbour graph. The rows of Q, scaled to length one, are clustered by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    n_neighbors : int, default=20
        How many neighbours each document has.
    ridge : float
        Of the local regressions, in units of the mean squared length of the rows.
    smoothness : float
        Weight of the global term.
    random_state : int, RandomState, optional
        Seed, or a generator, of whatever is drawn.

    Attributes
    ----------
    labels_, embedding_

    Examples
    --------
    >>> from clustruct.papers.document_clustering import CLGR
    >>> X = [[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]]
    >>> labels = CLGR(n_clusters=2, n_neighbors=2, random_state=0).fit_predict(X)
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False, False]
    """

    n_clusters: int = 8
    n_neighbors: int = 20
    ridge: float = 0.1
    smoothness: float = 1.0
    random_state: int | np.random.RandomState | None = None
    fitted: ClassVar = {
        **FEATURES,
        "labels_": Shape(("n_samples",), np.integer),
        "embedding_": Shape(("n_samples", None)),
    }

    def fit(self, X: ArrayLike, y: object = None) -> CLGR:
        """Cluster the rows of X (dense). y is not used."""
        rows = checked_rows(self, X, ensure_min_samples=2)
        if rows.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={rows.shape[0]} should be at least n_clusters={self.n_clusters}")
        rng = check_random_state(self.random_state)
        unit = self.ridge * max(float(np.mean(np.sum(rows**2, axis=1))), 1e-300)
        seed = int(rng.randint(2**31 - 1))
        Q = clgr_embedding(rows, self.n_clusters, self.n_neighbors, unit, self.smoothness, seed)
        self.embedding_ = Q / np.maximum(np.linalg.norm(Q, axis=1, keepdims=True), 1e-300)
        self.labels_ = KMeans(self.n_clusters, n_init=10, random_state=rng).fit_predict(self.embedding_)
        return self


def local_predictors(X: Any, index: NDArray[np.intp], ridge: float) -> Any:
    """A with ``(A q)_i`` the label of x_i that a ridge regression on its neighbours predicts.

    For the neighbours N of x_i with centred rows Z and z = x_i - their mean, the prediction is
    mean(q_N) + z' Z' (Z Z' + ridge m I)^-1 (q_N - mean(q_N)): linear in q_N. Rows of A sum to one.
    """
    n, m = index.shape
    weights = np.empty((n, m))
    for begin in range(0, n, CHUNK):
        part = index[begin : begin + CHUNK]
        near = X[part]
        middle = near.mean(axis=1, keepdims=True)
        Z, z = near - middle, X[begin : begin + CHUNK] - middle[:, 0]
        K = Z @ Z.transpose(0, 2, 1) + ridge * m * np.eye(m)
        along = np.linalg.solve(K, (Z @ z[:, :, None]))[:, :, 0]
        weights[begin : begin + CHUNK] = 1.0 / m + along - along.mean(axis=1, keepdims=True)
    return neighbour_graph(weights, index)


def clgr_embedding(
    X: Floats, k: int, n_neighbors: int, ridge: float, smoothness: float, seed: int, dense: int = DENSE
) -> Floats:
    """``min trace Q' [(I - A)'(I - A) + smoothness L] Q`` over Q with orthonormal columns, k of them.

    Clustering with local and global regularisation (Wang, Zhang and Li 2007): each document's label should be
    what a local linear model predicts (A), and smooth over the neighbour graph (L, its normalised
    Laplacian with cosine weights). The k least eigenvectors, all at once up to ``dense`` documents.
    """
    near = NearestNeighbors(n_neighbors=min(n_neighbors, X.shape[0] - 1)).fit(X)
    index = np.asarray(near.kneighbors(return_distance=False), np.intp)
    rest = sparse.eye_array(X.shape[0], format="csr") - local_predictors(X, index, ridge)
    laplacian = smoothness * _laplacian(_cosines(X, index))
    if X.shape[0] <= dense:
        values = np.linalg.eigh((rest.T @ rest + laplacian).toarray())
        return np.asarray(values[1][:, :k])
    apply = LinearOperator(
        (X.shape[0],) * 2, matvec=lambda q: rest.T @ (rest @ q) + laplacian @ q, dtype=float
    )
    start = np.random.default_rng(seed).normal(size=X.shape[0])
    _, vectors = eigsh(apply, k, which="SA", tol=1e-3, ncv=max(4 * k, 60), maxiter=5000, v0=start)
    return np.asarray(vectors)


def _cosines(X: Floats, index: NDArray[np.intp]) -> Any:
    lengths = np.maximum(np.linalg.norm(X, axis=1), 1e-300)
    unit = X / lengths[:, None]
    weights = np.empty(index.shape)
    for begin in range(0, len(index), CHUNK):
        part = slice(begin, begin + CHUNK)
        weights[part] = np.einsum("ijk,ik->ij", unit[index[part]], unit[part])
    return neighbour_graph(np.maximum(weights, 0.0), index)


def neighbour_graph(weights: Floats, index: NDArray[np.intp]) -> Any:
    """A sparse matrix with these weights between each row and its neighbours."""
    n, m = index.shape
    # scikit-learn's spectral clustering takes 32-bit indices only.
    ends = np.arange(0, n * m + 1, m, dtype=np.int32)
    return sparse.csr_matrix((weights.ravel(), index.ravel().astype(np.int32), ends), shape=(n, n))


def _laplacian(weights: Any) -> Any:
    S = weights.maximum(weights.T).tocsr()
    degree = np.maximum(np.asarray(S.sum(axis=0)).ravel(), 1e-300)
    half = sparse.diags_array(1.0 / np.sqrt(degree))
    return sparse.csr_array(sparse.eye_array(S.shape[0]) - half @ S @ half)
