"""Which classes a file may name: an allow-list, filled by the packages that define the classes.

A file names a class by the name it was registered under. Nothing is ever imported because a file names it:
what is not in the list is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import clustruct
from clustruct.exceptions import ModelFileError

__all__ = ["Entry", "Stateful", "entry_named", "entry_of", "register", "register_foreign", "registered"]

State = dict[str, Any]


@runtime_checkable
class Stateful(Protocol):
    """An object that can be kept in a file: all it needs as plain values, arrays and other such objects."""

    def state(self) -> State:
        """What `from_state` needs to make an equal object."""
        ...

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The object of a state; ValueError where the state is not one."""
        ...


@dataclass(frozen=True)
class Entry:
    """A registered class: how its objects become states, and states objects."""

    name: str
    cls: type
    state: Callable[[Any], State]
    rebuild: Callable[[Mapping[str, Any]], Any]


C = TypeVar("C", bound=type)
T = TypeVar("T")
_BY_NAME: dict[str, Entry] = {}
_BY_CLASS: dict[type, Entry] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: files may hold objects of this class, under this name.

    >>> @register("doctest point")
    ... class Point:
    ...     def state(self): return {}
    ...     @classmethod
    ...     def from_state(cls, state): return cls()
    >>> entry_named("doctest point").cls is Point, entry_of(Point).name
    (True, 'doctest point')
    """

    def enter(cls: C) -> C:
        if not issubclass(cls, Stateful):
            raise TypeError(f"{cls.__qualname__} cannot be registered: it lacks state() or from_state()")
        register_foreign(name, cls, cls.state, cls.from_state)
        return cls

    return enter


def register_foreign(
    name: str, cls: type, state: Callable[[Any], State], rebuild: Callable[[Mapping[str, Any]], Any]
) -> None:
    """Register a class of another package: ``state`` and ``rebuild`` are what its methods would be."""
    taken = _BY_NAME.get(name)
    if taken is not None and taken.cls.__qualname__ != cls.__qualname__:
        raise ValueError(f"the name {name!r} is taken by {taken.cls.__module__}.{taken.cls.__qualname__}")
    _BY_NAME[name] = _BY_CLASS[cls] = Entry(name, cls, state, rebuild)


def entry_of(cls: type) -> Entry | None:
    """How files keep objects of the class (not of its subclasses); None where they do not."""
    if cls not in _BY_CLASS:
        clustruct.import_stored()
    return _BY_CLASS.get(cls)


def registered(base: type[T]) -> dict[str, type[T]]:
    """The registered classes below a class, by name, in the order of their registration."""
    return {name: entry.cls for name, entry in _BY_NAME.items() if issubclass(entry.cls, base)}


def entry_named(name: object) -> Entry:
    """The class of that name; ModelFileError where none is registered."""
    if name not in _BY_NAME:
        clustruct.import_stored()
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(sorted(_BY_NAME))
        raise ModelFileError(f"it names {name!r}, which is not known here; known are {known}")
    return found
