"""Model files: a fitted pipeline in one file, without code."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from clustruct.exceptions import ModelFileError
from clustruct.features import PairFeatures
from clustruct.storage.container import read_container, write_container
from clustruct.storage.values import decode, encode

from .estimators import estimator_from_state, estimator_state

__all__ = ["SavedModel", "load", "read_model", "save"]

FORMAT = 1


@dataclass(frozen=True)
class SavedModel:
    """A pipeline with what else its file says: how the data was read, how training went, versions."""

    pipeline: Pipeline
    about: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def save(path: str | PathLike[str], pipeline: Pipeline, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted pipeline of `PairFeatures` and a clusterer to one file, whole or not at all.

    ``about`` is anything plain that should stay with the model. Nothing in the file is code; see
    `clustruct.storage.container` for the layout.

    >>> import os, tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from clustruct import PairFeatures, RawSet
    >>> from clustruct.baselines import PairwiseClassifierClustering
    >>> sets = [RawSet([{"a": 1}, {"a": 1}, {"a": 2}])]
    >>> pipeline = make_pipeline(PairFeatures([]), PairwiseClassifierClustering()).fit(sets, [[0, 0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(os.path.join(folder, "model"), pipeline)
    ...     load(os.path.join(folder, "model")).predict(sets)
    [array([0, 1, 2])]
    """
    features, estimator = _steps(pipeline)
    arrays: list[Any] = []
    header = {
        "format": FORMAT,
        "written_by": "clustruct",
        "versions": _versions(),
        "steps": [name for name, _ in pipeline.steps],
        "about": encode(dict(about or {}), arrays),
        "features": encode(features.state(), arrays),
        "model": encode(estimator_state(estimator), arrays),
    }
    write_container(Path(path), header, arrays)


def load(path: str | PathLike[str]) -> Pipeline:
    """The fitted pipeline of a file; `ModelFileError` where the file is not one."""
    return read_model(path).pipeline


def read_model(path: str | PathLike[str]) -> SavedModel:
    """The pipeline, and what else the file says."""
    where = Path(path)
    header, arrays = read_container(where)
    number = header.get("format")
    if type(number) is not int or number < 1:
        raise ModelFileError(f"{path}: damaged, it has no format number")
    if number > FORMAT:
        versions = header.get("versions")
        by = versions.get("clustruct", "?") if isinstance(versions, dict) else "?"
        raise ModelFileError(
            f"{path}: written in format {number} by clustruct {by}; this version reads formats up to {FORMAT}"
        )
    try:
        return _rebuild(header, list(arrays))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except Exception as error:
        # A file made by hand can be wrong in any way; whatever its values upset is the file's fault.
        raise ModelFileError(f"{path}: damaged ({type(error).__name__}: {error})") from None


def _rebuild(header: Mapping[str, Any], arrays: list[Any]) -> SavedModel:
    about = decode(header["about"], arrays)
    if not isinstance(about, dict):
        raise ModelFileError("damaged, what it says about itself is no object")
    features = PairFeatures.from_state(decode(header["features"], arrays))
    estimator = estimator_from_state(decode(header["model"], arrays))
    if len(features.get_feature_names_out()) != estimator.n_features_in_:
        raise ModelFileError("damaged, its features and its model do not fit")
    names = header["steps"]
    if not (isinstance(names, list) and len(set(names)) == 2 and all(type(n) is str for n in names)):
        raise ModelFileError("damaged, its steps do not fit")
    return SavedModel(
        Pipeline([(names[0], features), (names[1], estimator)]), about, dict(header["versions"])
    )


def _steps(pipeline: Any) -> tuple[PairFeatures, Any]:
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if len(steps) != 2 or not isinstance(steps[0], PairFeatures):
        raise ModelFileError("a model file holds a Pipeline of PairFeatures and a clusterer")
    return steps[0], steps[1]


def _versions() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    import clustruct

    return {
        "clustruct": clustruct.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
