"""What supervised k-means is compared with: weights of a pair classifier, and no training at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.svm import LinearSVC

from clustruct.core.storage import FEATURES, Shape, register
from clustruct.core.typing import Indices
from clustruct.data import pair_table
from clustruct.estimators.inputs import Groups, SetsLike, read_labels, read_sets
from clustruct.estimators.supervised_kmeans import KMeansPrediction
from clustruct.learning.problems import feature_scale
from clustruct.search.spectral import count_range

from .pair_classifier import LARGEST


@register("PairKMeans")
@dataclass(eq=False, repr=False)
class PairKMeans(KMeansPrediction):
    """Pair (Finley 2009, section 4.5.2): k-means with the outputs of a linear SVM on pairs as K.

    Each pair of items is an example, together or apart; K_ab = <w, psi_ab> + b is the classifier's output,
    and the prediction that of `SupervisedKMeans`. It does not see that pairs hang together.

    C is that of `sklearn.svm.LinearSVC`, for features scaled as in `SupervisedKMeans`, whose other parameters
    are these; at most ``max_pairs`` pairs of a set, drawn at random, are used.

    Examples
    --------
    >>> from clustruct.data.datasets import make_synth
    >>> X, y = make_synth(n_sets=2, n_clusters=3, cluster_size=8)
    >>> PairKMeans().fit(X[:1], y[:1]).score(X[1:], y[1:]) > 0.5
    True
    """

    fitted: ClassVar = {
        **FEATURES,
        "w_": Shape(("n_features_in_",)),
        "intercept_": float,
        "k_range_": tuple[int, int],
    }

    C: float = 1.0
    max_pairs: int = 50_000

    def fit(
        self, X: SetsLike, y: object = None, set_ids: ArrayLike | None = None, groups: Groups = None
    ) -> Self:
        """Train the classifier on pairs of all sets. Arguments as for `SupervisedKMeans`."""
        self.check_parameters()
        given = read_sets(self, X, set_ids, reset=True)
        labels = read_labels(y, given, needed_by=self)
        self.k_range_, scale = count_range(labels), feature_scale(given.sets, "kmeans")
        rng = np.random.default_rng(self.random_state)
        tables, together = [], []
        for x, v in zip(given.sets, labels, strict=True):
            a, b = _some_pairs(x.n_items, self.max_pairs, rng)
            tables.append(sparse.csr_array(pair_table(x, np.column_stack([a, b]))))
            together.append(v[a] == v[b])
        same = np.concatenate(together)
        self.w_, self.intercept_ = np.zeros(given.sets[0].n_features), 0.0
        if same.all() or not same.any():  # no pairs, or all alike: nothing to learn from them
            return self
        rows = sparse.csr_array(sparse.csr_array(sparse.vstack(tables, format="csr")) * (1.0 / scale))
        if not (np.abs(rows.data) <= LARGEST).all():
            raise ValueError("the features are too large for a classifier: divide them by their usual size")
        # liblinear takes 32-bit indices only.
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        model = LinearSVC(C=self.C, random_state=self.random_state, max_iter=20_000, dual="auto").fit(
            rows, same
        )
        self.w_, self.intercept_ = model.coef_[0] / scale, float(model.intercept_[0])
        return self


def _some_pairs(m: int, most: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    a, b = np.triu_indices(m, 1)
    if len(a) <= most:
        return a, b
    chosen = np.sort(rng.choice(len(a), most, replace=False))
    return a[chosen], b[chosen]


@register("UntrainedKMeans")
@dataclass(eq=False, repr=False)
class UntrainedKMeans(KMeansPrediction):
    """None (Finley 2009, section 4.5.2): k-means with all weights 1, parameters as for `SupervisedKMeans`.

    Examples
    --------
    >>> UntrainedKMeans(n_clusters=2).fit([np.eye(2)]).predict([np.array([[1, 0], [1, 0], [0, 1]])])
    [array([0, 0, 1])]
    """

    fitted: ClassVar = {**FEATURES, "w_": Shape(("n_features_in_",))}
    needs_labels = False

    predictor: str = "iterative"

    def fit(
        self, X: SetsLike, y: object = None, set_ids: ArrayLike | None = None, groups: Groups = None
    ) -> Self:
        """Nothing is learned; the number of features is remembered."""
        self.check_parameters()
        given = read_sets(self, X, set_ids, reset=True)
        self.w_ = np.ones(given.sets[0].n_features)
        return self
