"""The methods of Tables 3 to 6, each as a function of a corpus and a seed that gives labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

from clustruct.evaluate.metrics import matched_accuracy, normalized_mutual_information, rand_index
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA, neighbour_graph
from clustruct.papers.universum import UniversumClustering
from clustruct.papers.universum.outside_documents import select_between
from studies.universum2011.corpora import Corpus

Method = Callable[[Corpus, int], np.ndarray]
HELD: dict[tuple[str, int, str], np.ndarray] = {}


def scores(y: Any, labels: Any) -> dict[str, float]:
    """Accuracy in percent, NMI with the geometric mean, Rand index."""
    return {
        "accuracy": 100.0 * matched_accuracy(y, labels),
        "nmi": normalized_mutual_information(y, labels, average="geometric"),
        "rand": rand_index(y, labels),
    }


def margin(source: str | None, **options: Any) -> Method:
    """M2DCU with documents of this source, or M2DCU-0; the selection is not part of the time."""

    def run(corpus: Corpus, seed: int) -> np.ndarray:
        model = UniversumClustering(corpus.k, random_state=seed, **options)
        universum = None if source is None else chosen_universum(corpus, source)
        return model.fit(corpus.X, universum=universum).labels_

    return run


def between(corpus: Corpus, seed: int) -> np.ndarray:
    """M2DCU-0 first, then from the same start with the 30 % of U_rest nearest to its borders."""
    first = UniversumClustering(corpus.k, random_state=seed).fit(corpus.X)
    nearest = select_between(first.coef_, corpus.rest).rows
    return UniversumClustering(corpus.k, random_state=seed).fit(corpus.X, universum=nearest).labels_


def chosen_universum(corpus: Corpus, source: str) -> np.ndarray:
    """The Universum of a source, made once per corpus."""
    key = (corpus.name, len(corpus.X), source)
    if key not in HELD:
        HELD[key] = corpus.universum(source)
    return HELD[key]


def kmeans(corpus: Corpus, seed: int) -> np.ndarray:
    return KMeans(corpus.k, n_init=50, random_state=seed).fit(corpus.X).labels_


def gaussian_mixture(corpus: Corpus, seed: int) -> np.ndarray:
    model = GaussianMixture(corpus.k, covariance_type="diag", n_init=50, random_state=seed)
    return model.fit(corpus.X).predict(corpus.X)


def nmf(corpus: Corpus, seed: int) -> np.ndarray:
    model = NMF(corpus.k, init="nndsvdar", random_state=seed, max_iter=300)
    parts = model.fit_transform(corpus.words)
    # Columns in units of what they explain, as W H has no scale of its own.
    return np.argmax(parts * np.linalg.norm(model.components_, axis=1), axis=1)


def local_scaling(X: Any, n_neighbors: int = 30, scale_neighbor: int = 7) -> Any:
    """``S_ij = exp(-|x_i - x_j|^2 / (s_i s_j))`` for neighbours, s_i the distance to the 7th (Zelnik-Manor
    and Perona 2004), symmetric; zero elsewhere, which keeps it linear in n.
    """
    near = NearestNeighbors(n_neighbors=min(n_neighbors, X.shape[0] - 1)).fit(X)
    distances, index = near.kneighbors()
    own = np.maximum(distances[:, min(scale_neighbor, distances.shape[1]) - 1], 1e-12)
    weights = np.exp(-(distances**2) / (own[:, None] * own[index]))
    graph = neighbour_graph(weights, index)
    return graph.maximum(graph.T).tocsr()


def ncut(corpus: Corpus, seed: int) -> np.ndarray:
    """k-means of the leading eigenvectors of D^-1/2 S D^-1/2, each row divided by the root of its degree.

    `SpectralClustering` takes the same eigenvectors as the smallest of the Laplacian, by factors of a sparse
    matrix that fill up: 176 s on 20 Newsgroups where this takes 4.
    """
    S = local_scaling(corpus.X)
    root = 1.0 / np.sqrt(np.asarray(S.sum(axis=1)).ravel())
    scaled = S.multiply(root[:, None]).multiply(root).tocsr()
    start = np.random.RandomState(seed).uniform(-1.0, 1.0, len(root))
    vectors = eigsh(scaled, corpus.k, which="LA", ncv=max(60, 4 * corpus.k), tol=1e-8, v0=start)[1]
    return KMeans(corpus.k, n_init=10, random_state=seed).fit(vectors * root[:, None]).labels_


def cpm3c(corpus: Corpus, seed: int) -> np.ndarray:
    return CPM3C(corpus.k, random_state=seed).fit(corpus.X).labels_


def clgr(corpus: Corpus, seed: int) -> np.ndarray:
    return CLGR(corpus.k, random_state=seed).fit(corpus.X).labels_


def plsa(corpus: Corpus, seed: int) -> np.ndarray:
    return PLSA(corpus.k, random_state=seed).fit(corpus.words).labels_


METHODS: dict[str, Method] = {
    "M2DCU": margin("select"),
    "M2DCU, all of U_rest": margin("rest"),
    "M2DCU, U_rest between": between,
    "M2DCU-0": margin(None),
    "k-means": kmeans,
    "NMF": nmf,
    "Ncut": ncut,
    "GMM": gaussian_mixture,
    "CPM3C": cpm3c,
    "CLGR": clgr,
    "PLSA": plsa,
}


def run(method: str, corpus: Corpus, seed: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return METHODS[method](corpus, seed)
