"""How the pipeline of pair features and a clusterer is kept in a file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sklearn.pipeline import Pipeline

from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import register_foreign


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
