"""Neighbour graphs: local scaling, and clustering with local and global regularisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors

from clustruct._typing import Floats

# Rows of which the local models are solved together.
CHUNK = 500
# Up to this size all eigenvectors are computed at once.
DENSE = 600


def neighbours(X: Any, count: int) -> tuple[Floats, NDArray[np.intp]]:
    """Distances and numbers of the nearest rows of each row, itself left out."""
    count = min(count, X.shape[0] - 1)
    found = NearestNeighbors(n_neighbors=count).fit(X).kneighbors()
    return np.asarray(found[0]), np.asarray(found[1], dtype=np.intp)


def local_scaling(X: Any, n_neighbors: int = 30, scale_neighbor: int = 7) -> Any:
    """``S_ij = exp(-|x_i - x_j|^2 / (s_i s_j))`` for neighbours, s_i the distance to the 7th (Zelnik-Manor
    and Perona 2004), symmetric; zero elsewhere, which keeps it linear in n.
    """
    distances, index = neighbours(X, n_neighbors)
    own = np.maximum(distances[:, min(scale_neighbor, distances.shape[1]) - 1], 1e-12)
    weights = np.exp(-(distances**2) / (own[:, None] * own[index]))
    return _symmetric(_graph(weights, index))


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
    return _graph(weights, index)


def clgr_embedding(
    X: Floats, k: int, n_neighbors: int, ridge: float, smoothness: float, seed: int, dense: int = DENSE
) -> Floats:
    """``min trace Q' [(I - A)'(I - A) + smoothness L] Q`` over Q with orthonormal columns, k of them.

    Clustering with local and global regularisation (Wang, Zhang and Li 2007): each document's label should be
    what a local linear model predicts (A), and smooth over the neighbour graph (L, its normalised
    Laplacian with cosine weights). The k least eigenvectors, all at once up to ``dense`` documents.
    """
    _, index = neighbours(X, n_neighbors)
    rest = sparse.eye_array(X.shape[0], format="csr") - local_predictors(X, index, ridge)
    laplacian = smoothness * _laplacian(_symmetric(_cosines(X, index)))
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
    return _graph(np.maximum(weights, 0.0), index)


def _graph(weights: Floats, index: NDArray[np.intp]) -> Any:
    n, m = index.shape
    # scikit-learn's spectral clustering takes 32-bit indices only.
    ends = np.arange(0, n * m + 1, m, dtype=np.int32)
    return sparse.csr_matrix((weights.ravel(), index.ravel().astype(np.int32), ends), shape=(n, n))


def _symmetric(S: Any) -> Any:
    return S.maximum(S.T).tocsr()


def _laplacian(S: Any) -> Any:
    degree = np.maximum(np.asarray(S.sum(axis=0)).ravel(), 1e-300)
    half = sparse.diags_array(1.0 / np.sqrt(degree))
    return sparse.csr_array(sparse.eye_array(S.shape[0]) - half @ S @ half)
