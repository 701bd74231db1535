"""What an explanation needs of a model."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clustruct._typing import Floats, Labels
from clustruct.itemsets import ItemSet

from ._scores import Similarities

__all__ = [
    "LinearModel",
    "SetClusterer",
    "Similarities",
    "SimilarityModel",
    "model_weights",
    "objective_of",
]

Objective = Literal["correlation", "kmeans"]


class SetClusterer(Protocol):
    """A fitted estimator that clusters item sets."""

    def predict(self, x: ItemSet, /) -> Labels: ...


@runtime_checkable
class SimilarityModel(SetClusterer, Protocol):
    """One that clusters by a similarity of pairs."""

    def decision_function(self, x: ItemSet, /) -> Similarities: ...


@runtime_checkable
class LinearModel(Protocol):
    """One that can say whether its similarity is linear, K_ab = <w, psi_ab> + b."""

    def linear_similarity(self) -> tuple[Floats, float] | None: ...


def objective_of(model: object) -> Objective:
    """The objective by which a clusterer predicts: its ``clustering_objective``, else "correlation".

    >>> from clustruct import SupervisedCorrelationClustering, SupervisedKMeans
    >>> objective_of(SupervisedCorrelationClustering()), objective_of(SupervisedKMeans())
    ('correlation', 'kmeans')
    """
    return "kmeans" if getattr(model, "clustering_objective", None) == "kmeans" else "correlation"


def model_weights(model: object, x: ItemSet | None = None) -> tuple[Floats, float, tuple[str, ...]]:
    """The weights of a fitted model, its intercept, and the names of its features.

    ValueError where a model has no weights, or not those of the set x.
    """
    check_is_fitted(model)
    linear = model.linear_similarity() if isinstance(model, LinearModel) else None
    if linear is None:
        raise ValueError(
            f"{type(model).__name__} has no weights of pair features: its similarities cannot be "
            "explained feature by feature"
        )
    w, intercept = linear
    if x is not None and x.n_features != len(w):
        raise ValueError(f"the set has {x.n_features} features, the model {len(w)}")
    known = getattr(model, "feature_names_in_", None)
    if known is None and x is not None:
        known = x.feature_names
    names = [f"feature {j}" for j in range(len(w))] if known is None else [str(name) for name in known]
    return np.asarray(w, dtype=np.float64), intercept, tuple(names)
