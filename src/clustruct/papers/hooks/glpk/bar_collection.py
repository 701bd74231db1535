"""Rows and columns of a program: sequences of bars, each with a name, bounds and entries of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from typing import Any, TypeAlias, overload

import numpy as np

Bound: TypeAlias = float | None
COLUMN_KINDS = (float, int, bool)
STATUSES = ("bs", "nl", "nu", "nf", "ns")
LONGEST_NAME = 255


def number(value: object, what: str) -> float:
    """A finite number.

    >>> number(3, "the bound")
    3.0
    """
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise TypeError(f"{what} must be a finite number, not {value!r:.60}")
    return float(value)


class Bar:
    """A row or a column: its part of the matrix, the bounds of its variable, and what the last solver found.

    index, name, valid : its place, its name or None, whether it was not deleted
    bounds : (lower, upper), None where there is none; one number fixes the variable
    matrix : [(index, value), ...] of what is not zero; set by such pairs, or by values, of which each stands
        after the one before
    kind : float, int or bool (columns; bool also sets the bounds 0 and 1)
    primal, value : of the last solver; dual : of the last but `integer`; 0 before
    status : in the basis: "bs" basic, "nl", "nu" at its lower or upper bound, "nf" free, "ns" fixed
    """

    def __init__(self, collection: BarCollection) -> None:
        self._home = collection
        self._place = -1
        self._name: str | None = None
        self._lower: Bound = 0.0 if collection.are_columns else None
        self._upper: Bound = 0.0 if collection.are_columns else None
        self._is_integer = False
        self._cost = 0.0
        self._entries: dict[Bar, float] = {}
        self.primal = self.dual = 0.0
        self.status = "ns" if collection.are_columns else "bs"

    @property
    def valid(self) -> bool:
        return self._place >= 0

    @property
    def index(self) -> int:
        if not self.valid:
            raise RuntimeError("this row or column was deleted")
        return self._place

    @property
    def value(self) -> float:
        return self.primal

    @property
    def name(self) -> str | None:
        return self._name

    @name.setter
    def name(self, given: str | None) -> None:
        if given is not None and (not isinstance(given, str) or not 0 < len(given) <= LONGEST_NAME):
            raise TypeError(f"a name is a string of 1 to {LONGEST_NAME} characters, not {given!r:.60}")
        self._home.rename(self, given)
        self._name = given

    @name.deleter
    def name(self) -> None:
        self.name = None

    @property
    def bounds(self) -> tuple[Bound, Bound]:
        return self._lower, self._upper

    @bounds.setter
    def bounds(self, given: Any) -> None:
        pair = (given, given) if given is None or isinstance(given, Real) else tuple(given)
        if len(pair) != 2:
            raise TypeError(f"bounds are one number, or a lower and an upper one, not {given!r:.60}")
        low, high = (None if b is None else number(b, "a bound") for b in pair)
        if low is not None and high is not None and low > high:
            raise ValueError(f"the lower bound {low:g} is above the upper bound {high:g}")
        self._lower, self._upper = low, high
        self._home.changed()

    @bounds.deleter
    def bounds(self) -> None:
        self.bounds = None

    @property
    def kind(self) -> type:
        return (bool if self.bounds == (0.0, 1.0) else int) if self._is_integer else float

    @kind.setter
    def kind(self, given: type) -> None:
        if given not in COLUMN_KINDS:
            raise ValueError(f"kind must be float, int or bool, not {given!r:.60}")
        if not self._home.are_columns and given is not float:
            raise ValueError("rows are of kind float: only columns can be int or bool")
        self._is_integer = given is not float
        if given is bool:
            self.bounds = 0.0, 1.0

    @property
    def nnz(self) -> int:
        return len(self._entries)

    @property
    def matrix(self) -> list[tuple[int, float]]:
        return sorted((other.index, value) for other, value in self._entries.items())

    @matrix.setter
    def matrix(self, given: Iterable[Any]) -> None:
        others = self._home.others
        held: dict[Bar, float] = {}
        for at, value in pairs(given, others.place, len(others)):
            if others[at] in held:
                raise ValueError(f"the entry {at} of the matrix is given twice")
            held[others[at]] = value
        for other in self._entries:
            del other._entries[self]
        self._entries = {other: value for other, value in held.items() if value}
        for other, value in self._entries.items():
            other._entries[self] = value
        self._home.changed()

    @matrix.deleter
    def matrix(self) -> None:
        self.matrix = []

    def __repr__(self) -> str:
        what = "column" if self._home.are_columns else "row"
        return f"<{what} {self._place if self.valid else 'deleted'}{f' {self._name}' * bool(self._name)}>"


def pairs(given: Iterable[Any], place: Callable[[Any], int], size: int) -> Iterator[tuple[int, float]]:
    """(index, value) of entries that are such pairs, or values, each one place after the entry before.

    >>> list(pairs([5.0, (3, 1.0), 2.0], int, 6))
    [(0, 5.0), (3, 1.0), (4, 2.0)]
    """
    at = -1
    for entry in given:
        if isinstance(entry, Real):
            at, value = at + 1, entry
            if at >= size:
                raise IndexError(f"there are {size} entries, no entry {at}")
        else:
            where, value = entry
            at = place(where)
        yield at, number(value, "an entry of the matrix")


class BarCollection(Sequence[Bar]):
    """The rows or the columns of a program. They are added by `add`, and got by number, name or slice."""

    def __init__(self, are_columns: bool, changed: Callable[[], None]) -> None:
        self.are_columns, self.changed = are_columns, changed
        self.others: BarCollection = self
        self._bars: list[Bar] = []
        self._names: dict[str, Bar] = {}

    def add(self, count: int) -> int:
        """Add so many; the index of the first of them."""
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"at least 1 must be added, not {count!r:.60}")
        first = len(self._bars)
        for place in range(first, first + count):
            bar = Bar(self)
            bar._place = place
            self._bars.append(bar)
        self.changed()
        return first

    def __len__(self) -> int:
        return len(self._bars)

    def place(self, at: Any) -> int:
        """The number of what is named or numbered, which may count from the end."""
        if isinstance(at, str):
            if at not in self._names:
                raise KeyError(at)
            return self._names[at].index
        if isinstance(at, bool) or not isinstance(at, int | np.integer):
            raise TypeError(f"rows and columns have numbers and names, not {at!r:.60}")
        if not -len(self) <= at < len(self):
            raise IndexError(f"there are {len(self)} {'columns' if self.are_columns else 'rows'}, no {at}")
        return int(at) % len(self)

    def places(self, at: Any) -> list[int]:
        """The numbers of what a slice, or several numbers and names, choose."""
        if isinstance(at, slice):
            first, last = (
                b if b is None or isinstance(b, int) else self.place(b) for b in (at.start, at.stop)
            )
            return list(range(*slice(first, last, at.step).indices(len(self))))
        return [self.place(one) for one in at] if isinstance(at, tuple | list) else [self.place(at)]

    @overload
    def __getitem__(self, at: int | str) -> Bar: ...
    @overload
    def __getitem__(self, at: slice | tuple[Any, ...] | list[Any]) -> list[Bar]: ...
    def __getitem__(self, at: Any) -> Any:
        found = [self._bars[place] for place in self.places(at)]
        return found if isinstance(at, slice | tuple | list) else found[0]

    def __delitem__(self, at: Any) -> None:
        for bar in {self._bars[place] for place in self.places(at)}:
            bar.matrix = []
            self.rename(bar, None)
            bar._place = -1
        self._bars = [bar for bar in self._bars if bar.valid]
        for place, bar in enumerate(self._bars):
            bar._place = place
        self.changed()

    def __contains__(self, at: object) -> bool:
        if isinstance(at, str):
            return at in self._names
        return isinstance(at, Bar) and at.valid and at._home is self

    def rename(self, bar: Bar, name: str | None) -> None:
        """Know a bar by another name, or by none."""
        if name is not None and self._names.get(name, bar) is not bar:
            raise ValueError(f"the name {name!r} is taken")
        if bar.name is not None:
            self._names.pop(bar.name, None)
        if name is not None:
            self._names[name] = bar

    def __repr__(self) -> str:
        return f"<{len(self)} {'columns' if self.are_columns else 'rows'}>"
