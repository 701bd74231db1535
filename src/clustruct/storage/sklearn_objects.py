"""Objects of scikit-learn that files may hold: pipelines, and linear classifiers as their weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from clustruct.exceptions import ModelFileError

from .state import Shape, fits
from .values import register_foreign

WEIGHTS = {
    "coef_": Shape((1, "n_features_in_")),
    "intercept_": Shape((1,)),
    "classes_": Shape((2,), np.generic),
    "n_features_in_": int,
}


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


def classifier_state(classifier: LinearSVC | LogisticRegression) -> dict[str, Any]:
    """The weights of a classifier of two classes; its parameters matter for training only."""
    check_is_fitted(classifier)
    return {name: getattr(classifier, name) for name in WEIGHTS}


def classifier_from_state(make: Callable[[], Any], state: Mapping[str, Any]) -> Any:
    """A classifier with these weights."""
    classifier, sizes = make(), {"n_features_in_": state["n_features_in_"]}
    for name, hint in WEIGHTS.items():
        if not fits(state[name], hint, sizes):
            raise ModelFileError(f"damaged, {name} of a classifier does not fit")
        setattr(classifier, name, state[name])
    return classifier


register_foreign("Pipeline", Pipeline, pipeline_state, pipeline_from_state)
for _cls in (LinearSVC, LogisticRegression):
    register_foreign(_cls.__name__, _cls, classifier_state, partial(classifier_from_state, _cls))
