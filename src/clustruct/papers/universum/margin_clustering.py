"""Clustering of documents, with other documents that belong to none of the clusters."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clustruct.core.callbacks import training_listener
from clustruct.core.storage import FEATURES, DataclassState, EstimatorState, Shape, register
from clustruct.core.typing import Floats, Indices
from clustruct.estimators.inputs import checked_rows

from .concave_convex import CCCPResult, CccpSearch, MarginResult, lowest_of
from .margin_problem import MarginProblem, kmeans_labels, natural_scale, principal_labels
from .starts import lowest_starts

Start = tuple[Indices, Floats | None]
# Several starts are tried on this many documents.
TRIED = 4000
# So many of them are taken up with all documents and features. One is faster, and ends higher.
FOLLOWED = 3


@dataclass(eq=False, repr=False)
class MarginClustering(EstimatorState, ClusterMixin, BaseEstimator, ABC):
    """One weight vector per cluster, a document goes where its score is largest.

    A subclass adds its parameters and solves from one start in `_solve`; of ``n_init`` starts the one that
    ends with the lowest objective is kept.
    """

    n_clusters: int = 8
    C: float = 2.0
    balance: float = 0.1
    init: str | ArrayLike = "principal"
    n_init: int = 12
    scale: str | float = "auto"
    tol: float = 0.01
    max_iter: int = 100
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    fitted: ClassVar = {
        **FEATURES,
        "coef_": Shape(("n_clusters", "n_features_in_")),
        "labels_": Shape((None,), np.integer),
        "objective_": float,
        "scale_": float,
        "n_iter_": int,
        "result_": DataclassState,
    }

    @abstractmethod
    def _solve(self, X: Any, universum: Any, start: Start) -> MarginResult:
        """From labels, or weights and their labels, to a local optimum."""

    def _fit(self, X: ArrayLike, universum: ArrayLike | None) -> None:
        self.check_parameters()
        rows = checked_rows(self, X, accept_sparse="csr", ensure_min_samples=2)
        if rows.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={rows.shape[0]} should be at least n_clusters={self.n_clusters}")
        self.scale_ = natural_scale(rows) if self.scale == "auto" else float(self.scale)
        scaled = rows * self.scale_
        outside = None
        if universum is not None:
            outside = self.scale_ * checked_rows(self, universum, accept_sparse="csr", reset=False)
        best = min(self._solutions(scaled, outside), key=lambda found: float(found.objective))
        if not best.converged:
            warnings.warn(
                f"{type(self).__name__} stopped before it converged ({best.stop_reason} after "
                f"{len(best.history)} steps)",
                ConvergenceWarning,
                stacklevel=3,
            )
        # Clusters in their order, those that stayed empty last: labels in use are 0, 1, 2, ...
        order = np.argsort(np.bincount(best.labels, minlength=self.n_clusters) == 0, kind="stable")
        self.result_ = best
        self.coef_ = (best.W * self.scale_)[order]
        self.labels_ = np.argsort(order)[best.labels]
        self.objective_ = float(best.objective)
        self.n_iter_ = len(best.history)

    def _solutions(self, X: Any, universum: Any) -> Iterator[MarginResult]:
        """From each start, until one was ended by the callback or by Ctrl-C."""
        for start in self._starts(X, check_random_state(self.random_state)):
            found = self._solve(X, universum, start)
            yield found
            if found.was_ended:
                return

    def decision_function(self, X: ArrayLike) -> Floats:
        """w_p . x, one column per cluster."""
        check_is_fitted(self)
        rows = checked_rows(self, X, accept_sparse="csr", reset=False)
        return np.asarray(rows @ self.coef_.T)

    def predict(self, X: ArrayLike) -> Indices:
        """The cluster of each row."""
        return np.argmax(self.decision_function(X), axis=1)

    def _starts(self, X: Any, rng: np.random.RandomState) -> Iterator[Start]:
        if not isinstance(self.init, str):
            yield self._given_start(X)
            return
        for start in range(self.n_init):
            principal = self.init == "principal" and start == 0
            yield (principal_labels if principal else kmeans_labels)(X, self.n_clusters, rng), None

    def _given_start(self, X: Any) -> Start:
        given = np.asarray(self.init)
        if given.shape == (self.n_clusters, X.shape[1]) and given.ndim == 2:
            if not np.isfinite(given).all():
                raise ValueError("init has NaN or infinite weights")
            W = given.astype(np.float64) / self.scale_
            return np.argmax(np.asarray(X @ W.T), axis=1), W
        if given.shape != (X.shape[0],):
            raise ValueError(
                f"init must be 'principal', 'kmeans', {X.shape[0]} labels or weights of shape "
                f"({self.n_clusters}, {X.shape[1]}), not an array of shape {given.shape}"
            )
        labels = given.astype(np.intp)
        if (labels != given).any() or labels.min() < 0 or labels.max() >= self.n_clusters:
            raise ValueError(f"init must hold labels from 0 to n_clusters - 1 = {self.n_clusters - 1}")
        return labels, None

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        if self.n_clusters < 1:
            raise ValueError(f"n_clusters must be at least 1, not {self.n_clusters!r}")
        if self.n_init < 1:
            raise ValueError(f"n_init must be at least 1, not {self.n_init!r}")
        if isinstance(self.init, str) and self.init not in ("principal", "kmeans"):
            raise ValueError(f"init must be 'principal', 'kmeans', labels or weights, not {self.init!r}")
        if self.scale != "auto" and (isinstance(self.scale, str) or not 0.0 < self.scale < np.inf):
            raise ValueError(f"scale must be 'auto' or a positive number, not {self.scale!r}")

    def _positive(self, *names: str, zero: bool = False) -> None:
        for name in names:
            value = getattr(self, name)
            if not (value >= 0 if zero else value > 0) or np.isnan(value):
                raise ValueError(f"{name} must be {'at least 0' if zero else 'positive'}, not {value!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@register("UniversumClustering")
@dataclass(eq=False, repr=False)
class UniversumClustering(MarginClustering):
    """Maximum-margin clustering with Universum (M2DCU).

    Weights w_1 .. w_k are sought with which the documents to be clustered lie far from all borders between
    clusters, and documents of the Universum, known to belong to no cluster, lie close to them::

        min over W   1/2 |W|^2 + C/(nk) sum_{i, r != u_i} max(0, 1 - (w_{u_i} - w_r) . x_i)
                     + C_universum/N sum_i max(0, k/(k-1) (max_p w_p . x*_i - mean_p w_p . x*_i) - eps)
        subject to   |(w_p - w_q) . sum_i x_i| <= balance     for all p, q

    where u_i = argmax_p w_p . x_i is the cluster of document i and eps the Universum margin (Zhang, Wang and
    Si, "Document clustering with Universum", 2011). The procedure is CCCP: fix u, solve the convex problem
    by a two-view cutting plane, label anew. Unlike the paper's, it keeps the maximum in the Universum term,
    so the objective never rises. Without a Universum, or with C_universum = 0, it is the paper's M2DCU-0.
    Cost per cutting plane O(k nnz), usually 5 to 40 planes in all.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    C : float
        Weight of the documents' margins; the paper's grid is 2 to 64. Small values are quicker, and were
        as good or better on the collections tried.
    balance : float
        How far apart the clusters' total scores may lie; the paper's grid is 0.001 to 10, inf is no
        balance. Data with mean zero are not balanced by it: do not centre.
    init : "principal", "kmeans", n labels, or weights of shape (n_clusters, n_features)
        Where CCCP starts: k-means in the k - 1 leading principal directions (hardly depends on chance),
        k-means on all features, or what is given.
    n_init : int
        Number of starts. Several are made at once, in the 200 leading principal directions and on 4000 of
        the documents where there are more; the first steps of the search tell which end lowest. Three
        take one step with all documents and features, and those that can still be the lowest go on to the
        end.
    scale : "auto" or float
        X and the Universum are multiplied by it. The margin is 1, so the scale is the unit of C: "auto"
        brings the root mean square distance from the mean to 10, with which the paper's grids make sense.
    tol, inner_tol : float
        CCCP ends when a step lowers the objective by no more than this share; each convex problem is
        solved to this relative gap.
    max_iter : int, default=100
        The largest number of CCCP steps.
    random_state : int, RandomState, optional
        Seed, or a generator, of whatever is drawn.
    verbose : int
        1 prints some CCCP steps, 2 all of them. A `training_callback` is called with every step as well;
        it and Ctrl-C end the search with what was reached.
    C_universum : float
        Weight of the Universum; the paper's grid is 0.001 to 10.
    universum_margin : float
        How far from the borders a Universum document may lie at no cost (the paper's epsilon_1).

    Attributes
    ----------
    labels_
        The cluster of each row of X; a cluster may stay empty, and then has the last number.
    coef_
        Weights in the units of the input, one row per cluster.
    objective_
        The value reached, in scaled units.
    scale_
        The factor used.
    result_
        CCCPResult of the best start, with the objective and inner iterations of each CCCP step.
    n_iter_
        Number of CCCP steps.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from clustruct.papers.universum import UniversumClustering
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [0.1, 0.9], [2.0, 0.1], [2.1, 0.0], [1.9, 0.2]])
    >>> model = UniversumClustering(n_clusters=2, random_state=0).fit(X, universum=[[1.0, 0.5]])
    >>> same = model.labels_ == model.labels_[0]
    >>> same.tolist()
    [True, True, True, False, False, False]
    >>> bool((np.diff(model.result_.objectives) <= 0).all())
    True
    """

    C_universum: float = 1.0
    universum_margin: float = 0.5
    inner_tol: float = 0.01

    def fit(self, X: ArrayLike, y: object = None, universum: ArrayLike | None = None) -> UniversumClustering:
        """Cluster the rows of X; rows of ``universum`` belong to none of the clusters. y is not used."""
        self._fit(X, universum)
        return self

    def check_parameters(self) -> None:
        """Refuse what cannot be, before any work."""
        super().check_parameters()
        self._positive("C", "tol", "inner_tol", "max_iter")
        self._positive("C_universum", "balance", "universum_margin", zero=True)

    def _problem(self, X: Any, universum: Any) -> MarginProblem:
        return MarginProblem(
            X, self.n_clusters, self.C, self.balance, universum, self.C_universum, self.universum_margin
        )

    def _solutions(self, X: Any, universum: Any) -> Iterator[MarginResult]:
        """The starts that look best on at most `TRIED` documents, taken up with all of them.

        The objective is a mean over documents, so that a few thousand tell which starts end low.
        """
        if self.n_init == 1 or not isinstance(self.init, str) or min(X.shape[1], self.n_clusters) < 2:
            yield from super()._solutions(X, universum)
            return
        rng = check_random_state(self.random_state)
        problem = self._problem(X, universum)
        starts = lowest_starts(problem.part(TRIED, rng), self.n_init, rng, self.init == "principal")
        yield lowest_of((self._search(problem, W) for W in starts[:FOLLOWED]), 2.0 * self.tol)

    def _solve(self, X: Any, universum: Any, start: Start) -> CCCPResult:
        problem, (labels, W) = self._problem(X, universum), start
        return self._search(problem, W, labels if W is None else None).run()

    def _search(self, problem: MarginProblem, W: Floats | None, labels: Indices | None = None) -> CccpSearch:
        callback = training_listener(self.C, self.tol, self.verbose)
        balanced = None if W is None else problem.balance_weights(W)
        return CccpSearch(problem, labels, balanced, self.tol, self.inner_tol, self.max_iter, callback)
