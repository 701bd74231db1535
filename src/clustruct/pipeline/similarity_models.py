"""What an explanation needs: the similarities of a model, their sums, its weights and its objective."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clustruct.core.typing import Floats
from clustruct.data import ItemSet
from clustruct.search.oracles.base import Objective


def objective_of(model: object) -> Objective:
    """The objective by which a clusterer predicts: its ``clustering_objective``, else "correlation".

    Parameters
    ----------
    model : object
        A clusterer.

    Returns
    -------
    Objective
        "correlation", "kmeans" or "links".

    Examples
    --------
    >>> from clustruct import SupervisedCorrelationClustering, SupervisedKMeans
    >>> objective_of(SupervisedCorrelationClustering()), objective_of(SupervisedKMeans())
    ('correlation', 'kmeans')
    """
    own = getattr(model, "clustering_objective", None)
    return own if own in ("kmeans", "links") else "correlation"


def model_weights(model: object, x: ItemSet | None = None) -> tuple[Floats, float, tuple[str, ...]]:
    """The weights of a fitted model, its intercept, and the names of its features.

    ValueError where a model has no weights, or not those of the set x.

    Parameters
    ----------
    model : object
        A fitted clusterer.
    x : ItemSet, optional
        A set whose features the weights should be for.

    Returns
    -------
    tuple of array of float, float, tuple of str
        Weights, intercept, names.
    """
    check_is_fitted(model)
    linear = model.linear_similarity() if hasattr(model, "linear_similarity") else None
    if linear is None:
        raise ValueError(
            f"{type(model).__name__} has no weights of pair features: its similarities cannot be "
            "explained feature by feature"
        )
    w, intercept = linear
    if x is not None and x.n_features != len(w):
        raise ValueError(f"the set has {x.n_features} features, the model {len(w)}")
    known = getattr(model, "feature_names_in_", None)
    known = x.feature_names if known is None and x is not None else known
    names = [f"feature {j}" for j in range(len(w))] if known is None else map(str, known)
    return np.asarray(w, dtype=np.float64), intercept, tuple(names)
