"""What the maximum-margin clusterers share: input, scale, starts, prediction."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from clustruct._typing import Floats, Indices
from clustruct.storage import FEATURES, DataclassState, EstimatorState, Shape
from clustruct.universum.cccp import CCCPResult
from clustruct.universum.cpm3c import CPM3CResult
from clustruct.universum.init import kmeans_labels, natural_scale, principal_labels

Start = tuple[Indices, Floats | None]
Solved = CCCPResult | CPM3CResult


class MarginClustering(EstimatorState, ClusterMixin, BaseEstimator, ABC):
    """One weight vector per cluster, a document goes where its score is largest.

    A subclass names its parameters and solves from one start in `_solve`; of ``n_init`` starts the one that
    ends with the lowest objective is kept.
    """

    n_clusters: int
    init: str | ArrayLike
    n_init: int
    scale: str | float
    random_state: int | np.random.RandomState | None
    coef_: Floats
    result_: Solved
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
    def _solve(self, X: Any, universum: Any, start: Start) -> Solved:
        """From labels, or weights and their labels, to a local optimum."""

    def _fit(self, X: ArrayLike, universum: ArrayLike | None) -> None:
        self.check_parameters()
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        if rows.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={rows.shape[0]} should be at least n_clusters={self.n_clusters}")
        self.scale_ = natural_scale(rows) if self.scale == "auto" else float(self.scale)
        scaled = rows * self.scale_
        outside = None
        if universum is not None:
            outside = self.scale_ * validate_data(
                self, universum, accept_sparse="csr", dtype=np.float64, reset=False
            )
        best = min(self._solutions(scaled, outside), key=lambda found: float(found.objective))
        if not best.converged:
            warnings.warn(
                f"{type(self).__name__} stopped before it converged ({best.stop_reason} after "
                f"{len(best.history)} steps)",
                ConvergenceWarning,
                stacklevel=3,
            )
        order = _filled_first(best.labels, self.n_clusters)
        self.result_ = best
        self.coef_ = (best.W * self.scale_)[order]
        self.labels_ = np.argsort(order)[best.labels]
        self.objective_ = float(best.objective)
        self.n_iter_ = len(best.history)

    def _solutions(self, X: Any, universum: Any) -> Iterator[Solved]:
        """From each start, until one was ended by the callback or by Ctrl-C."""
        for start in self._starts(X):
            found = self._solve(X, universum, start)
            yield found
            if not found.converged and found.stop_reason != "max_iter":
                return

    def decision_function(self, X: ArrayLike) -> Floats:
        """w_p . x, one column per cluster."""
        check_is_fitted(self)
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_.T)

    def predict(self, X: ArrayLike) -> Indices:
        """The cluster of each row."""
        return np.argmax(self.decision_function(X), axis=1)

    def _starts(self, X: Any) -> Iterator[Start]:
        if not isinstance(self.init, str):
            yield self._given_start(X)
            return
        rng = check_random_state(self.random_state)
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


def _filled_first(labels: Indices, n_clusters: int) -> Indices:
    """Clusters in their order, those that stayed empty last: labels in use are 0, 1, 2, ..."""
    return np.argsort(np.bincount(labels, minlength=n_clusters) == 0, kind="stable")
