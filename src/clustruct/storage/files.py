"""Objects in files: `save`, `load`, and `read` for what else a file says."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from clustruct import __version__
from clustruct.exceptions import ModelFileError

from .container import Array, read_container, write_container
from .registry import entry_of
from .values import Arrays, Json, decode, encode

__all__ = ["StoredFile", "load", "read", "save"]

FORMAT = 1
T = TypeVar("T")


@dataclass(frozen=True)
class StoredFile(Generic[T]):
    """The object of a file, what was said about it when it was saved, and by which versions."""

    object: T
    about: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def save(path: str | PathLike[str], obj: object, about: Mapping[str, Any] | None = None) -> None:
    """Write an object to one file, whole or not at all.

    The object is a fitted estimator, a Pipeline of them, a result, or anything else of a class that is
    registered (`clustruct.storage.register`). ``about`` is anything plain that should stay with it. Nothing
    in the file is code; see `clustruct.storage.container` for the layout.

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
    if entry_of(type(obj)) is None:
        raise ModelFileError(
            f"no file for {type(obj).__qualname__}: its class is not registered (clustruct.storage.register)"
        )
    arrays: list[Array] = []
    header = {
        "format": FORMAT,
        "written_by": "clustruct",
        "versions": _versions(),
        "about": encode(dict(about or {}), arrays),
        "object": encode(obj, arrays),
    }
    write_container(Path(path), header, arrays)


def load(path: str | PathLike[str]) -> Any:
    """The object of a file; `ModelFileError` where the file is not one."""
    return read(path).object


@overload
def read(path: str | PathLike[str]) -> StoredFile[Any]: ...
@overload
def read(path: str | PathLike[str], expected: type[T]) -> StoredFile[T]: ...
def read(path: str | PathLike[str], expected: type = object) -> StoredFile[Any]:
    """The object of a file, which must be of the class expected, and what else the file says."""
    header, arrays = read_container(Path(path))
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
        found = _rebuilt(header, list(arrays))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except Exception as error:
        # A file made by hand can be wrong in any way; whatever its values upset is the file's fault.
        raise ModelFileError(f"{path}: damaged ({type(error).__name__}: {error})") from None
    if not isinstance(found.object, expected):
        raise ModelFileError(f"{path}: holds a {type(found.object).__name__}, not a {expected.__name__}")
    return found


def _rebuilt(header: Mapping[str, Json], arrays: Arrays) -> StoredFile[Any]:
    about = decode(header["about"], arrays)
    if not isinstance(about, dict):
        raise ModelFileError("damaged, what it says about itself is no mapping")
    held = header["object"]
    if not isinstance(held, dict) or "$object" not in held:
        raise ModelFileError("damaged, it holds no object")
    return StoredFile(decode(held, arrays), about, dict(header["versions"]))


@cache
def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"clustruct": __version__, "python": platform.python_version(), **others}
