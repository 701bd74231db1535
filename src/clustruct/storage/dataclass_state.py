"""The state of a dataclass: its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any, Self, get_args, get_origin, get_type_hints

import numpy as np

from .hints import fits

__all__ = ["DataclassState"]


class DataclassState:
    """``state()`` and ``from_state()`` for a dataclass: the fields, checked against their annotations.

    A field that takes no part in comparisons (``compare=False``) is not kept. A field ``tuple[D, ...]`` of a
    dataclass D of numbers, a history, is kept by column.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point(DataclassState):
    ...     x: float
    ...     name: str = ""
    >>> Point(2.0, "p").state(), Point.from_state({"x": 1.0, "name": "q"})
    ({'x': 2.0, 'name': 'p'}, Point(x=1.0, name='q'))
    >>> Point.from_state({"x": "1.0", "name": "q"})
    Traceback (most recent call last):
    ...
    ValueError: x of Point cannot be '1.0'
    """

    def state(self) -> dict[str, Any]:
        """The fields by name."""
        hints = get_type_hints(type(self))
        return {f.name: _kept(getattr(self, f.name), hints[f.name]) for f in _stored(type(self))}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The object of a state; ValueError where it is not one."""
        names, hints = [f.name for f in _stored(cls)], get_type_hints(cls)
        if set(state) != set(names):
            raise ValueError(
                f"a {cls.__name__} has {', '.join(names) or 'no fields'}, not {', '.join(state)}"
            )
        values = {name: _restored(state[name], hints[name]) for name in names}
        for name, value in values.items():
            if not fits(value, hints[name]):
                raise ValueError(f"{name} of {cls.__name__} cannot be {value!r:.60}")
        return cls(**values)


def _stored(cls: Any) -> list[Field[Any]]:
    return [f for f in fields(cls) if f.compare]


def _row_class(hint: object) -> Any:
    """D of a hint tuple[D, ...] with a dataclass D that is no object of its own, else None."""
    inner = get_args(hint) if get_origin(hint) is tuple else ()
    rows = len(inner) == 2 and inner[1] is Ellipsis and is_dataclass(inner[0])
    return inner[0] if rows and not issubclass(inner[0], DataclassState) else None


def _kept(value: Any, hint: object) -> Any:
    cls = _row_class(hint)
    if cls is None:
        return value
    hints = get_type_hints(cls)
    return {f.name: np.array([getattr(row, f.name) for row in value], hints[f.name]) for f in _stored(cls)}


def _restored(value: Any, hint: object) -> Any:
    cls = _row_class(hint)
    if cls is None:
        return value
    hints, columns = get_type_hints(cls), {f.name: value[f.name] for f in _stored(cls)}
    for name, column in columns.items():
        if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype != hints[name]:
            raise ValueError(f"{name} of the history does not fit")
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(cls(**dict(zip(columns, row, strict=True))) for row in rows)
