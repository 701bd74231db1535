"""The fitted pipeline of pair features and a clusterer: its state in files, its objective, its weights."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import register_foreign

if TYPE_CHECKING:
    from clustruct.core.typing import Floats
    from clustruct.data import ItemSet
    from clustruct.search.oracles.base import Objective


def pipeline_state(pipeline: Pipeline) -> dict[str, Any]:
    """Names and objects of the steps."""
    return {"steps": [[name, step] for name, step in pipeline.steps]}


def pipeline_from_state(state: Mapping[str, Any]) -> Pipeline:
    """The pipeline, whose steps must take what the step before gives."""
    steps = [(name, step) for name, step in state["steps"]]
    if not steps or len({name for name, _ in steps if type(name) is str}) != len(steps):
        raise ModelFileError("damaged, the names of its steps do not fit")
    objects = [step for _, step in steps]
    if not all(hasattr(step, "transform") for step in objects[:-1]) or not hasattr(objects[-1], "fit"):
        raise ModelFileError("damaged, its steps do not fit")
    for first, second in pairwise(objects):
        given, taken = getattr(first, "get_feature_names_out", None), getattr(second, "n_features_in_", None)
        if given is not None and taken not in (None, len(given())):
            raise ModelFileError("damaged, its features and its model do not fit")
    return Pipeline(steps)


register_foreign("Pipeline", Pipeline, pipeline_state, pipeline_from_state)


def objective_of(model: object) -> Objective:
    """The objective by which a clusterer predicts: its ``clustering_objective``, else "correlation".

    >>> from clustruct import SupervisedCorrelationClustering, SupervisedKMeans
    >>> objective_of(SupervisedCorrelationClustering()), objective_of(SupervisedKMeans())
    ('correlation', 'kmeans')
    """
    own = getattr(model, "clustering_objective", None)
    return own if own in ("kmeans", "links") else "correlation"


def model_weights(model: object, x: ItemSet | None = None) -> tuple[Floats, float, tuple[str, ...]]:
    """The weights of a fitted model, its intercept, and the names of its features.

    ValueError where a model has no weights, or not those of the set x.
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


def tells_by_feature(pipeline: Pipeline) -> bool:
    """Whether trees stand before the clusterer, of which the sizes of fields say more than the weights do."""
    made = getattr(pipeline[0], "map_", None)
    return made is not None and made.by_feature and hasattr(pipeline[-1], "linear_similarity")
