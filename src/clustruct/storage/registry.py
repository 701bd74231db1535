"""Which classes a file may name: an allow-list, filled by the packages that define the classes.

A file names a class by the name it was registered under. Nothing is ever imported because a file names it:
what is not in the list is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from clustruct.exceptions import ModelFileError

__all__ = ["Stateful", "class_named", "name_of", "register", "registered"]


@runtime_checkable
class Stateful(Protocol):
    """An object that can be kept in a file: all it needs as plain values, arrays and other such objects."""

    def state(self) -> dict[str, Any]:
        """What `from_state` needs to make an equal object."""
        ...

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The object of a state; ValueError where the state is not one."""
        ...


C = TypeVar("C", bound=type)
T = TypeVar("T")
_CLASSES: dict[str, type] = {}
_NAMES: dict[type, str] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: files may hold objects of this class, under this name.

    >>> @register("doctest point")
    ... class Point:
    ...     def state(self): return {}
    ...     @classmethod
    ...     def from_state(cls, state): return cls()
    >>> class_named("doctest point") is Point, name_of(Point)
    (True, 'doctest point')
    """

    def enter(cls: C) -> C:
        taken = _CLASSES.get(name)
        if taken is not None and taken.__qualname__ != cls.__qualname__:
            raise ValueError(f"the name {name!r} is taken by {taken.__module__}.{taken.__qualname__}")
        _CLASSES[name] = cls
        _NAMES[cls] = name
        return cls

    return enter


def name_of(cls: type) -> str | None:
    """The name under which files know the class, None where they do not."""
    return _NAMES.get(cls)


def class_named(name: object) -> Any:
    """The class of that name; ModelFileError where none is registered."""
    found = _CLASSES.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(sorted(_CLASSES))
        raise ModelFileError(f"it names {name!r}, which is not known here; known are {known}")
    return found


def registered(base: type[T]) -> dict[str, type[T]]:
    """The registered classes below a class, by name, in the order of their registration."""
    return {name: cls for name, cls in _CLASSES.items() if issubclass(cls, base)}
