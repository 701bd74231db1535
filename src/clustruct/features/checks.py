"""Checks of learned states: a model file may come from anyone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from clustruct._typing import Floats

T = TypeVar("T")


def part(learned: object, key: str) -> Any:
    """An entry of a state that must be there."""
    if not isinstance(learned, Mapping):
        raise ValueError(f"a state must be a mapping, not {type(learned).__name__}")
    if key not in learned:
        raise ValueError(f"the state lacks {key!r}")
    return learned[key]


def of_class(value: object, kind: type[T], name: str) -> T:
    """An object of one class."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
    return value


def strings(value: object, name: str, *, distinct: bool = False) -> list[str]:
    """A list of strings."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"{name} must be a list of strings")
    if distinct and len(set(value)) != len(value):
        raise ValueError(f"{name} names something twice")
    return value


def numbers(value: object, name: str, size: int, *, least: float = -np.inf) -> Floats:
    """A vector of so many finite numbers, none below `least`."""
    if not isinstance(value, np.ndarray | list):
        raise ValueError(f"{name} must be an array")
    if len(value) != size:
        raise ValueError(f"{name} must have {size} entries, not {len(value)}")
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers") from None
    if vector.shape != (size,) or not np.isfinite(vector).all() or (vector < least).any():
        raise ValueError(f"{name} must have {size} finite numbers, none below {least}")
    return vector


def whole(value: object, name: str, least: int = 0, most: int = 2**53) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number in {least}..{most}, not {value!r}")
    return int(value)


def some_of(value: object, known: Mapping[Any, object] | tuple[object, ...], name: str) -> None:
    """A list of known words."""
    if not isinstance(value, list | tuple) or any(v not in known for v in value):
        raise ValueError(f"{name} must be some of {', '.join(map(str, known))}, not {value!r}")


def text(value: object, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string, not {value!r}")
    return value


def name_of_field(value: object, name: str = "field") -> str:
    """A field's name."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be the name of a field, not {value!r}")
    return value


def names_of_fields(value: object, name: str = "fields") -> list[str]:
    """One or more fields' names."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{name} must be a list of names of fields, not {value!r}")
    return [name_of_field(v, name) for v in value]
