"""Items of a table, seen as mappings: a dict is made for an item when it is looked at, and not kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from clustruct.core.typing import Ints

from .columns import SHOWN, Column, Part

AT_ONCE = 1000


class Rows(Sequence[Mapping[str, Any]]):
    """Some rows of columns as items; every item has every field, None where missing.

    >>> from clustruct.data.records.columns import as_column
    >>> rows = Rows({"n": as_column(["a", " ", "c"])}, 3)
    >>> rows[1], rows[1:], rows == [{"n": "a"}, {"n": None}, {"n": "c"}]
    ({'n': None}, [{'n': None}, {'n': 'c'}], True)
    """

    def __init__(self, columns: Mapping[str, Column], size: int, rows: range | Ints | None = None) -> None:
        self._whole, self._size = columns, size
        self._rows: range | Ints | None = rows
        self._parts: dict[str, Column] = {}

    @property
    def names(self) -> list[str]:
        """The fields."""
        return list(self._whole)

    def __contains__(self, item: object) -> bool:
        return any(item == mine for mine in self)

    def has(self, field: str) -> bool:
        """Whether there is such a field."""
        return field in self._whole

    def column(self, field: str) -> Column:
        """The values of a field."""
        if self._rows is None:
            return self._whole[field]
        if field not in self._parts:
            self._parts[field] = self._whole[field].part(_slice(self._rows))
        return self._parts[field]

    def take(self, rows: Part) -> Rows:
        """Some of the rows."""
        held: range | Ints = range(self._size) if self._rows is None else self._rows
        if isinstance(held, range) and not isinstance(rows, slice):
            chosen: range | Ints = held.start + held.step * np.where(rows < 0, rows + len(held), rows)
        else:
            chosen = held[rows]  # type: ignore[assignment, index, unused-ignore]
        return Rows(self._whole, len(chosen), chosen)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Rows: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self.take(at)
        if not -self._size <= at < self._size:
            raise IndexError("there are not so many items")
        return {name: self.column(name)[at] for name in self._whole}

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for low in range(0, self._size, AT_ONCE):
            some = slice(low, min(low + AT_ONCE, self._size))
            values = [self.column(name).part(some).tolist() for name in self._whole]
            cells = zip(*values, strict=True) if values else ((),) * (some.stop - low)
            for row in cells:
                yield dict(zip(self._whole, row, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = repr(list(self[:SHOWN]))
        return shown if self._size <= SHOWN else f"{shown[:-1]}, ... {self._size - SHOWN:,} more]"

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, ({name: self.column(name) for name in self._whole}, self._size)


def _slice(rows: range | Ints) -> Part:
    """What numpy takes without a copy, where rows follow each other."""
    if not isinstance(rows, range) or not rows:
        return np.asarray(rows, dtype=np.int64)
    stop = rows[-1] + (1 if rows.step > 0 else -1)
    return slice(rows[0], stop if stop >= 0 else None, rows.step)
