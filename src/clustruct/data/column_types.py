"""Values by column: a field of a million items as codes of its distinct values, or as one array.

A `Column` is a sequence of values, None where missing. Parts of it share what they are parts of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Ints

from .texts import Texts
from .values import is_missing

# Up to so many rows a loop of Python is faster than the calls of numpy.
FEW = 64
SHOWN = 100
Part: TypeAlias = slice | Ints


class Coded(NamedTuple):
    """A column by its distinct values: ``values[codes[a]]`` is that of item a, missing where the code is -1.

    The values stand in the order of first appearance.

    >>> Coded(np.array([0, 1, -1, 0]), ["x", "y"]).values[0]
    'x'
    """

    codes: Ints  # for each item the place of its value among the distinct ones, or -1
    values: list[Any]  # the distinct values


class Column(Sequence[Any], ABC):
    """The values of one field, None where missing."""

    _coded: Coded | None = None

    @abstractmethod
    def part(self, rows: Part) -> Column:
        """The values of some of the rows."""

    @abstractmethod
    def tolist(self) -> list[Any]:
        """The values as Python has them."""

    @abstractmethod
    def missing(self) -> Bools:
        """Which values are missing."""

    def names_items(self) -> bool:
        """Whether the values can be names of items: none missing, none twice, none a list or a mapping."""
        codes, values = self.factorize()
        return len(values) == len(codes) and self.can_be_labels()

    def can_be_labels(self, partly: bool = False) -> bool:
        """Whether the values can say which items belong together: none missing, none a list or a mapping.

        Where items may be ``partly`` labelled, values may be missing.
        """
        codes, values = self.factorize()
        return (partly or not (codes < 0).any()) and not any(isinstance(v, list | dict) for v in values)

    @abstractmethod
    def _cell(self, row: int) -> Any: ...

    @abstractmethod
    def _encode(self) -> Coded: ...

    def factorize(self) -> Coded:
        """The distinct values and where they are, worked out once."""
        if self._coded is None:
            self._coded = self._encode()
        return self._coded

    @overload
    def __getitem__(self, at: int) -> Any: ...

    @overload
    def __getitem__(self, at: slice) -> Column: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self.part(at)
        if not -len(self) <= at < len(self):
            raise IndexError("there are not so many rows")
        return self._cell(at if at >= 0 else at + len(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) <= SHOWN:
            return repr(self.tolist())
        return f"<{len(self):,} values: {repr(self.part(slice(0, 3)).tolist())[1:-1]}, ...>"


class CodedColumn(Column):
    """Codes of rows, -1 where missing, and their words; ``whole``: just those that appear, in that order."""

    def __init__(self, codes: NDArray[Any], words: list[Any] | Texts, whole: bool = False) -> None:
        self.codes, self.words, self.whole = codes, words, whole

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: Part) -> CodedColumn:
        if isinstance(rows, slice) and rows.indices(len(self)) == (0, len(self), 1):
            return self
        return CodedColumn(self.codes[rows], self.words)

    def tolist(self) -> list[Any]:
        if 4 * len(self.codes) < len(self.words):
            words = self.words if isinstance(self.words, list) else self.words.at_hand()
            return [None if c < 0 else words[c] for c in self.codes.tolist()]
        held = np.empty(len(self.words) + 1, dtype=object)
        held[:-1], held[-1] = _as_list(self.words), None
        found: list[Any] = held[self.codes].tolist()
        return found

    def missing(self) -> Bools:
        return self.codes < 0

    def names_items(self) -> bool:
        if isinstance(self.words, list):
            return super().names_items()
        if len(self) <= FEW:
            codes = self.codes.tolist()
            return min(codes) >= 0 and len(set(codes)) == len(codes)
        return not self.missing().any() and bool(np.bincount(self.codes).max() == 1)

    def _cell(self, row: int) -> Any:
        code = int(self.codes[row])
        return None if code < 0 else self.words[code]

    def _encode(self) -> Coded:
        if self.whole:
            return Coded(self.codes.astype(np.int64), _as_list(self.words))
        codes, there = first_appearance(self.codes)
        few = 4 * len(there) < len(self.words)
        words = (
            self.words
            if isinstance(self.words, list)
            else self.words.at_hand()
            if few
            else _as_list(self.words)
        )
        return Coded(codes, [words[c] for c in there])

    def __reduce__(self) -> tuple[Any, ...]:
        return CodedColumn, (*self.factorize(), True)


class ListColumn(Column):
    """Values of any kind, in a list."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: Part) -> ListColumn:
        if isinstance(rows, slice):
            return ListColumn(self.values[rows])
        return ListColumn([self.values[a] for a in rows.tolist()])

    def tolist(self) -> list[Any]:
        return [None if is_missing(v) else v for v in self.values]

    def missing(self) -> Bools:
        return np.fromiter(map(is_missing, self.values), dtype=bool, count=len(self))

    def _cell(self, row: int) -> Any:
        return None if is_missing(self.values[row]) else self.values[row]

    def _encode(self) -> Coded:
        if {*map(type, self.values)} <= {str, type(None)}:
            return self._encode_texts()
        seen: dict[Hashable, int] = {}
        values: list[Any] = []
        codes = np.full(len(self), -1, dtype=np.int64)
        for row, value in enumerate(self.values):
            if is_missing(value):
                continue
            code = seen.setdefault(value_key(value), len(values))
            if code == len(values):
                values.append(value)
            codes[row] = code
        return Coded(codes, values)

    def _encode_texts(self) -> Coded:
        """The same for strings, in two thirds of the time: what is missing is asked of distinct ones."""
        values = [*dict.fromkeys(self.values)]
        there = [bool(value and value.strip()) for value in values]
        if not all(there):
            values = [*compress(values, there)]
        number = dict(zip(values, range(len(values)), strict=True))
        codes = [number.get(value, -1) for value in self.values]
        return Coded(np.array(codes, np.int64), values)


class ArrayColumn(Column):
    """Numbers in an array, NaN where missing; or vectors, the rows of one with two dimensions."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def part(self, rows: Part) -> ArrayColumn:
        return ArrayColumn(self.array[rows])

    def tolist(self) -> list[Any]:
        if self.array.ndim > 1:
            return list(self.array)
        found: list[Any] = self.array.tolist()
        missing_rows = np.flatnonzero(self.missing()).tolist()
        for row in missing_rows:
            found[row] = None
        return found

    def missing(self) -> Bools:
        if self.array.ndim > 1 or self.array.dtype.kind != "f":
            return np.zeros(len(self), dtype=bool)
        return np.isnan(self.array)

    def names_items(self) -> bool:
        if self.array.ndim > 1 or self.missing().any():
            return False
        if len(self) <= FEW:
            return len(set(self.array.tolist())) == len(self)
        return len(np.unique(self.array)) == len(self)

    def can_be_labels(self, partly: bool = False) -> bool:
        return self.array.ndim == 1 and (partly or not self.missing().any())

    def _cell(self, row: int) -> Any:
        value = self.array[row]
        return value if self.array.ndim > 1 else None if value != value else value.item()

    def _encode(self) -> Coded:
        if self.array.ndim > 1:
            return Coded(np.arange(len(self)), list(self.array))
        values, inverse = np.unique(self.array, return_inverse=True)
        inverse = inverse.astype(np.int64)
        inverse[self.missing()] = -1
        codes, there = first_appearance(inverse)
        return Coded(codes, values[there].tolist())


class ChainedColumn(Column):
    """The values of several columns, one after the other."""

    def __init__(self, parts: Sequence[Column]) -> None:
        self.parts = tuple(parts)
        self._starts = np.cumsum([0, *map(len, self.parts)])

    @classmethod
    def of(cls, *columns: Column) -> ChainedColumn:
        """A chain of columns, some of which may be chains."""
        return cls([p for c in columns for p in (c.parts if isinstance(c, ChainedColumn) else (c,))])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def part(self, rows: Part) -> Column:
        rows = np.arange(len(self))[rows] if isinstance(rows, slice) else rows
        which = np.searchsorted(self._starts, rows, side="right") - 1
        there = np.unique(which).tolist()
        if len(there) == 1:
            return self.parts[there[0]].part(rows - self._starts[there[0]])
        held = np.empty(len(rows), dtype=object)
        for k in there:
            mine = np.flatnonzero(which == k)
            held[mine] = _objects(self.parts[k].part(rows[mine] - self._starts[k]).tolist())
        return ListColumn(held.tolist())

    def tolist(self) -> list[Any]:
        return [value for part in self.parts for value in part.tolist()]

    def missing(self) -> Bools:
        return np.concatenate([part.missing() for part in self.parts])

    def _cell(self, row: int) -> Any:
        k = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self.parts[k][row - int(self._starts[k])]

    def _encode(self) -> Coded:
        """By the codes of the parts: values that many rows share are looked at once for each part."""
        seen: dict[Hashable, int] = {}
        values: list[Any] = []
        codes = []
        for part in self.parts:
            coded = part.factorize()
            numbers = np.full(len(coded.values) + 1, -1, np.int64)
            for k, value in enumerate(coded.values):
                numbers[k] = seen.setdefault(value_key(value), len(values))
                if numbers[k] == len(values):
                    values.append(value)
            codes.append(numbers[coded.codes])
        return Coded(np.concatenate(codes), values)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    """Values as they are, lists among them, in an array."""
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def without_blank(codes: NDArray[np.int32], words: Texts | list[str]) -> CodedColumn:
    """The column of codes by first appearance, blank words as missing."""
    if isinstance(words, Texts):
        blank = words.blank()
    else:
        blank = np.array([k for k, word in enumerate(words) if not word.strip()], np.int64)
    if not len(blank):
        return CodedColumn(codes, words, whole=True)
    number = np.ones(len(words) + 1, np.int32)
    number[blank] = 0
    kept = np.flatnonzero(number[:-1])
    number = np.where(number > 0, np.cumsum(number, dtype=np.int32) - 1, -1).astype(np.int32)
    number[-1] = -1
    if isinstance(words, Texts):
        words = Texts(words.data, words.start[kept], words.length[kept])
    else:
        words = [words[k] for k in kept.tolist()]
    return CodedColumn(number[codes], words, whole=True)


def as_column(values: Sequence[Any] | NDArray[Any] | Column) -> Column:
    """Values as a column: numbers of an array stay there, anything else is a list."""
    if isinstance(values, Column):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim in (1, 2):
        return ArrayColumn(values)
    return ListColumn(values if isinstance(values, list | tuple) else list(values))


def as_names(column: Column) -> Column:
    """Ids as they are written elsewhere: whole numbers that a table holds as floats (131.0) are whole."""
    if not isinstance(column, ArrayColumn) or column.array.ndim != 1 or column.array.dtype.kind != "f":
        return column
    with np.errstate(invalid="ignore"):
        whole = (np.floor(column.array) == column.array) & (np.abs(column.array) < 2.0**53)
    return ArrayColumn(column.array.astype(np.int64)) if whole.all() else column


def first_appearance(codes: NDArray[Any]) -> tuple[Ints, list[int]]:
    """Codes numbered anew in the order of first appearance (-1 stays), and the old ones in that order."""
    if len(codes) <= FEW:
        held = codes.tolist()
        shown = [c for c in dict.fromkeys(held) if c >= 0]
        numbers = dict(zip(shown, range(len(shown)), strict=True))
        return np.array([numbers.get(c, -1) for c in held], dtype=np.int64), shown
    there, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    known = int(np.searchsorted(there, 0))
    order = known + np.argsort(first[known:])
    rank = np.full(len(there), -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[inverse], there[order].tolist()


def part_of(values: Any, rows: Part) -> Any:
    """Some entries of a column, an array, a range or any other sequence."""
    if isinstance(values, Column):
        return values.part(rows)
    if isinstance(values, np.ndarray) or isinstance(rows, slice):
        return values[rows]
    return [values[a] for a in rows.tolist()]


def _as_list(words: list[Any] | Texts) -> list[Any]:
    return words if isinstance(words, list) else words.tolist()


def value_key(value: Any) -> Hashable:
    """What equal values share: 1 and True are two, a list is what it holds, other things are themselves."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return type(value), *value
    try:
        hash(value)
    except TypeError:
        return None, id(value)
    return (None, id(value)) if isinstance(value, tuple) else value


class LazyColumn(Column):
    """Values that ``read`` gives when they are looked at; often nobody does."""

    def __init__(self, size: int, read: Callable[[], Column]) -> None:
        self._size, self._read = size, read

    @cached_property
    def _column(self) -> Column:
        found = self._read()
        if len(found) != self._size:
            raise ValueError(f"{self._size:,} values were expected, and {len(found):,} were read")
        return found

    def __len__(self) -> int:
        return self._size

    def part(self, rows: Part) -> Column:
        return self._column.part(rows)

    def tolist(self) -> list[Any]:
        return self._column.tolist()

    def missing(self) -> Bools:
        return self._column.missing()

    def _cell(self, row: int) -> Any:
        return self._column[row]

    def _encode(self) -> Coded:
        return self._column.factorize()
