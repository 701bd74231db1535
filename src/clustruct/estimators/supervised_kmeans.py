"""Supervised k-means and spectral clustering in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct.core.partitions import RelaxedClustering
from clustruct.core.storage import register
from clustruct.core.typing import Floats, Labels
from clustruct.data import ItemSet, PairScores
from clustruct.data.matrices import Matrix
from clustruct.learning import search_groups
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.search import spectral
from clustruct.search.oracles import Oracle, Predictor, make_oracle, make_predictor
from clustruct.search.spectral import MOST_CLUSTERS, count_clusters, count_range
from clustruct.ssvm import Formulation

from .base import AnyLoss, PairSimilarity, SimilarityLearning
from .inputs import SetsLike

# One number, one for each set, or None.
Counts: TypeAlias = int | Sequence[int | None] | None
# An eigenvalue below minus this share of the largest is taken as negative.
TOLERANCE = 1e-8


@dataclass(eq=False, repr=False)
class KMeansPrediction(PairSimilarity):
    """Prediction by k-means with K_ab = <w_, psi_ab> + intercept_, as every k-means estimator does it."""

    n_clusters: int | None = None
    predictor: str = "discrete"
    loss: AnyLoss = "normalised"
    n_init: int = 10
    random_state: int = 0
    clustering_objective: ClassVar = "kmeans"
    intercept_ = 0.0
    k_range_ = (1, MOST_CLUSTERS)

    def check_parameters(self) -> None:
        self._predictor()
        if self.n_init < 1:
            raise ValueError(f"n_init must be at least 1, not {self.n_init}")
        self._cluster_counts(None, 1)
        super().check_parameters()

    def predict(self, X: SetsLike, set_ids: ArrayLike | None = None, n_clusters: Counts = None) -> Any:
        """Cluster new sets: a list of label vectors for a list of sets, one vector for one table.

        ``n_clusters`` is one number, or a list with one for each set; else the estimator's own, else one
        chosen from the eigenvalues of K, between half the fewest and twice the most clusters seen in
        training. A set with fewer items has as many clusters as items.
        """
        given = self._read(X, set_ids)
        self.warn_unfamiliar(given.sets)
        wanted = self._cluster_counts(n_clusters, len(given.sets))
        return given.restore([self._labels(x, k) for x, k in zip(given.sets, wanted, strict=True)])

    def relax(
        self, X: SetsLike, set_ids: ArrayLike | None = None, n_clusters: Counts = None
    ) -> list[RelaxedClustering]:
        """The spectral answer of each set, not made a partition. Arguments as for `predict`."""
        given = self._read(X, set_ids)
        wanted = self._cluster_counts(n_clusters, len(given.sets))
        matrices = [self._similarity(x) for x in given.sets]
        counts = [self._count(K, k) for K, k in zip(matrices, wanted, strict=True)]
        return [
            spectral.relax(K, k, centred=self._uses_centred) for K, k in zip(matrices, counts, strict=True)
        ]

    def _clusters(self, sets: list[ItemSet], truth: list[Labels] | None = None) -> list[Any]:
        """The normalised loss compares equal numbers of clusters only, so with it k is that of the truth, as
        in the papers; with another loss it is what `predict` takes.
        """
        wanted = self._cluster_counts(None, len(sets))
        if truth is not None and isinstance(as_loss(self.loss), NormalisedLoss):
            wanted = [int(y.max()) + 1 for y in truth]
        return [self._labels(x, k) for x, k in zip(sets, wanted, strict=True)]

    def _set_scores(self, x: ItemSet) -> PairScores:
        K = self._similarity(x)
        return PairScores(len(K), matrix=K)

    def _search_options(self, scores: PairScores) -> dict[str, Any]:
        return {"n_clusters": self._count(scores.matrix_or_graph(), self.n_clusters)}

    def _similarity(self, x: ItemSet) -> Floats:
        make_oracle("iterative").check_set(x)
        return np.asarray(x.similarity(self.w_)) + self.intercept_

    def _labels(self, x: ItemSet, wanted: int | None) -> Labels:
        scores = self._set_scores(x)
        return search_groups(self._predictor(), scores, self._count(scores.matrix_or_graph(), wanted))

    def _predictor(self) -> Predictor:
        name = "discrete_centred" if self._uses_centred and self.predictor == "discrete" else self.predictor
        return make_predictor(name, "kmeans", n_init=self.n_init, random_state=self.random_state)

    @property
    def _uses_centred(self) -> bool:
        """Whether relaxed clusterings span the constant vector, see `clustruct.search.spectral.relax`."""
        return False

    def _count(self, K: Floats, wanted: int | None) -> int:
        """k for a set of this similarity."""
        if wanted is None:
            return count_clusters(K, *self.k_range_)
        return min(wanted, len(K))

    def _cluster_counts(self, n_clusters: Counts, n_sets: int) -> Sequence[int | None]:
        given: Any = self.n_clusters if n_clusters is None else n_clusters
        if given is None or np.ndim(given) == 0:
            given = [given] * n_sets
        if len(given) != n_sets:
            raise ValueError(f"n_clusters names {len(given)} sets, X has {n_sets}")
        for k in given:
            if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
                raise ValueError(f"n_clusters must be a whole number of at least 1, not {k!r}")
        return [None if k is None else int(k) for k in given]


@register("SupervisedKMeans")
@dataclass(eq=False, repr=False)
class SupervisedKMeans(SimilarityLearning, KMeansPrediction):
    """Learn from example clusterings how to cluster new sets into a given number of clusters.

    A similarity K_ab = <w, psi_ab> is learned by a structural SVM such that k-means, which maximises
    trace(Y'KY), the mean similarity within clusters, reproduces the examples::

        min over w   1/2 |w|^2 + C mean_i xi_i
        for every set i and every clustering Y into k_i clusters:
            trace(Y_i'K_i Y_i) - trace(Y'K_i Y) >= Delta(Y_i, Y) - xi_i

    (Finley and Joachims, "Supervised k-means clustering", 2008; Finley 2009, chapter 4.)

    Parameters
    ----------
    n_clusters : int, optional
        How many clusters `predict` makes, where the call does not say. None: by the largest eigengap of the
        centred similarity, see `clustruct.search.spectral.count_clusters`. In training each set has the k of
        its labels.
    predictor : "iterative", "discrete", "discrete_centred", "batch" or "normalised_cut"
        How `predict` clusters. With oracle="centred" by the centred relaxation, as the training did. "batch"
        needs a similarity without negative eigenvalues, which ``kernel_learning`` ensures, and
        "normalised_cut" one whose sum over every item's pairs is positive; others are refused.
    loss : "normalised", or with oracle="iterative" any loss of `clustruct.losses`
        What counts as an error. The normalised loss (Delta_k) is the papers'.
    n_init : int
        Random starts of each search in prediction; a third of it, at least one, in training.
    C : float or "cv"
        Weight of the training loss against simplicity. "cv" chooses it by cross-validation over the sets
        (with fewer than 3 sets: the middle of the grid), k as in the truth.
    scaling, formulation, slack_norm
        The kind of structural SVM, see `clustruct.ssvm.fit`. All oracles but "iterative" need margin scaling
        and slack_norm=1.
    rescale : bool
        Divide dense features by their root mean square, take means over items, and measure C in the unit that
        the data suggest. False is the problem of the paper.
    random_state, C_grid, cv, rtol, max_iter, n_jobs, verbose, average_folds, memory_limit, checkpoint
        As for `SupervisedCorrelationClustering`.
    oracle : "iterative", "spectral", "centred", "discrete" or "discrete_centred"
        How training looks for the most violated clustering: local search, k leading eigenvectors (a
        relaxation, more constraints than needed), a tighter relaxation, or the answer of either made a
        partition.
    kernel_learning : bool
        Keep w >= 0, so that K is positive semidefinite; refused where a pair feature is no kernel.

    Attributes
    ----------
    w_, feature_scale_, C_, cv_results_, result_, shown_, n_features_in_, feature_names_in_
        As for `SupervisedCorrelationClustering`.
    k_range_
        Where `predict` looks for k when it is not given.

    Examples
    --------
    >>> from clustruct.data.datasets import make_synth
    >>> from clustruct.estimators import SupervisedKMeans
    >>> X, y = make_synth(n_sets=4, n_clusters=3, cluster_size=8)
    >>> model = SupervisedKMeans(C=1.0).fit(X[:3], y[:3])
    >>> model.score(X[3:], y[3:]) > 0.9
    True
    """

    oracle: str = "iterative"
    predictor: str = "discrete"
    loss: AnyLoss = "normalised"
    kernel_learning: bool = False
    formulation: Formulation = "auto"
    rtol: float = 1e-2
    fitted: ClassVar = {**SimilarityLearning.fitted, "k_range_": tuple[int, int]}

    def check_attributes(self) -> None:
        super().check_attributes()
        least, most = self.k_range_
        if not 1 <= least <= most:
            raise ValueError(f"k_range_ cannot be {self.k_range_}")

    def _check_training_sets(self, sets: list[ItemSet], labels: list[Labels]) -> None:
        self.k_range_ = count_range(labels)
        if self.kernel_learning:
            check_kernel_features(sets)

    def _oracle(self) -> Oracle:
        starts = max(1, self.n_init // 3)
        return make_oracle(self.oracle, "kmeans", n_init=starts, random_state=self.random_state)

    def _nonnegative(self) -> bool:
        return self.kernel_learning

    @property
    def _uses_centred(self) -> bool:
        """Prediction uses the relaxation that the training used (Theorem 13)."""
        return self.oracle in ("centred", "discrete_centred")


def check_kernel_features(sets: Sequence[ItemSet]) -> None:
    """Refuse sets with a feature whose m x m matrix is not positive semidefinite: w >= 0 over features that
    are kernels keeps K one (Finley 2009, section 4.2.1). Cost O(s^3) for a feature of s items.
    """
    for i, x in enumerate(sets):
        if x.pairs is None:
            continue
        if x.pair_diagonal is None:
            raise ValueError(
                f"set {i}: kernel learning needs pair features with a diagonal (ItemSet(pair_diagonal=...)); "
                "without one their matrices have trace 0 and are never positive semidefinite"
            )
        for f in range(x.n_pair_features):
            least, size = _eigenvalue_range(x, f)
            if least < -TOLERANCE * max(size, 1e-300):
                raise ValueError(
                    f"set {i}: pair feature {f} is not a kernel: its matrix has the eigenvalue {least:.3g}"
                )


def _eigenvalue_range(x: ItemSet, f: int) -> tuple[float, float]:
    """The least eigenvalue of the feature's matrix, and the size of the largest."""
    values, diagonal = _column(x.pairs, f), _column(x.pair_diagonal, f)
    rows = np.flatnonzero(values)
    a, b = np.triu_indices(x.n_items, 1) if x.pair_index is None else x.pair_index.T
    a, b = a[rows], b[rows]
    items = np.union1d(np.flatnonzero(diagonal), np.union1d(a, b))
    if items.size == 0:
        return 0.0, 0.0
    place = np.zeros(x.n_items, np.intp)
    place[items] = np.arange(items.size)
    A = np.diag(diagonal[items])
    A[place[a], place[b]] = A[place[b], place[a]] = values[rows]
    found = np.linalg.eigvalsh(A)
    return float(found[0]), float(np.abs(found).max())


def _column(A: Matrix | None, f: int) -> Floats:
    assert A is not None
    column = A[:, [f]]
    return np.asarray(column.toarray() if isinstance(column, sparse.csr_array) else column).ravel()
