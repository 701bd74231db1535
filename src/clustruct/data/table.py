"""Tables: items as they came from a file or a frame, before any features.

Items of a table are seen as mappings: a dict is made for an item when it is looked at, and not kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from clustruct.core.formatting import MOST_ROWS, html_table, place
from clustruct.core.typing import Floats, Ints

from .column_types import (
    SHOWN,
    ArrayColumn,
    ChainedColumn,
    Coded,
    Column,
    Part,
    as_column,
    as_names,
    part_of,
)
from .values import is_missing

AT_ONCE = 1000


class TableRows(Sequence[Mapping[str, Any]]):
    """Some rows of columns as items; every item has every field, None where missing."""

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

    def take(self, rows: Part) -> TableRows:
        """Some of the rows."""
        held: range | Ints = range(self._size) if self._rows is None else self._rows
        if isinstance(held, range) and not isinstance(rows, slice):
            chosen: range | Ints = held.start + held.step * np.where(rows < 0, rows + len(held), rows)
        else:
            chosen = held[rows]  # type: ignore[assignment, index, unused-ignore]
        return TableRows(self._whole, len(chosen), chosen)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> TableRows: ...

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
        return TableRows, ({name: self.column(name) for name in self._whole}, self._size)


def _slice(rows: range | Ints) -> Part:
    """What numpy takes without a copy, where rows follow each other."""
    if not isinstance(rows, range) or not rows:
        return np.asarray(rows, dtype=np.int64)
    stop = rows[-1] + (1 if rows.step > 0 else -1)
    return slice(rows[0], stop if stop >= 0 else None, rows.step)


@dataclass(frozen=True)
class Source:
    """Where a set was read: the file, and the line of the set or, in a table, that of each item.

    >>> Source("a.jsonl", 3).place(), Source("a.csv", lines=[2, 5]).place(1)
    ('a.jsonl:3', 'a.csv:5')
    """

    path: str
    line: int | None = None
    lines: Sequence[int] | Ints | None = None

    def place(self, item: int | None = None) -> str:
        """File and line, of one item where they are known."""
        return place(self.path, self.line if item is None or self.lines is None else int(self.lines[item]))

    def part(self, items: Sequence[int] | Ints) -> Source:
        """Where some of the items were read."""
        rows = np.asarray(items, dtype=np.int64)
        return self if self.lines is None else Source(self.path, lines=part_of(self.lines, rows))


@dataclass(frozen=True)
class Table:
    """Items to be grouped together, each a mapping from field names to values.

    Parameters
    ----------
    items : sequence of mapping
        One mapping per item; a field that is absent, None, NaN or an empty string is missing.
    labels : sequence of hashable, optional
        The right cluster of each item, any hashable; None, NaN or -1 for an item whose cluster is not
        known, None for a set without labels.
    name : str, default=""
        How the set is called in messages.
    ids : sequence of hashable, optional
        Names of the items.
    group : hashable, optional
        Sets of one group share something (stories, say) and must not be split between train and test.
    context : mapping
        What belongs to the set as a whole: the tokens of a document, the links between pages.
    source : Source, optional
        The file it was read from, for messages.

    Notes
    -----
    A set of many items is held by columns (`from_columns`): its items are then made when they are looked at.

    Examples
    --------
    >>> table = Table([{"title": "a b"}, {"title": ""}], labels=["x", "x"], name="first")
    >>> len(table), table.column("title")
    (2, ['a b', None])
    """

    items: Sequence[Mapping[str, Any]]
    labels: Sequence[Hashable] | None = None
    name: str = ""
    ids: Sequence[Hashable] | None = None
    group: Hashable | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = field(default=None, repr=False, compare=False)
    _columns: dict[str, Column] = field(default_factory=dict, init=False, repr=False, compare=False)

    def _repr_html_(self) -> str:
        """What notebooks show: the first items with their fields, and the cluster of each."""
        fields, n = self.fields(), min(len(self), MOST_ROWS)
        labels = [] if self.labels is None else ["cluster"]
        header = [*(["id"] if self.ids is not None else []), *labels, *fields]
        rows = [
            [
                *([self.item_ids[a]] if self.ids is not None else []),
                *([self.labels[a]] if self.labels is not None else []),
                *(self.items[a].get(field) for field in fields),
            ]
            for a in range(n)
        ]
        return html_table(f"{self.name or 'set'}: {len(self):,} items", header, rows, len(self))

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any] | NDArray[Any]], **more: Any) -> Self:
        """A set from the values of each field; a 2-D array is a field of vectors, one row for each item.

        ``more`` are further parameters of `Table`: labels, ids, name.
        """
        held = {name: as_column(values) for name, values in columns.items()}
        sizes = {len(column) for column in held.values()}
        if len(sizes) != 1:
            listed = ", ".join(f"{name!r} has {len(column)}" for name, column in list(held.items())[:10])
            raise ValueError(f"columns must have one number of values: {listed or 'there are none'}")
        return cls(TableRows(held, sizes.pop()), **more)

    @classmethod
    def from_frame(cls, frame: Any, id: str | None = None, cluster: str | None = None, **more: Any) -> Self:
        """A set from the rows of a data frame (pandas, polars, Arrow), whose columns are the fields.

        ``id`` and ``cluster`` name the columns of names and labels; `clustruct.sets_of` makes several sets.
        """
        from .frames import frame_column, open_frame

        held = open_frame(frame)
        columns = {str(name): frame_column(held[name]) for name in held.columns}
        roles = {"ids": id, "labels": cluster}
        for role, name in roles.items():
            if name is not None:
                if name not in columns:
                    raise ValueError(f"there is no column {name!r}; there are {', '.join(columns)}")
                more[role] = (as_names(columns[name]) if role == "ids" else columns[name]).tolist()
        fields = {name: column for name, column in columns.items() if name not in (id, cluster)}
        return cls(TableRows(fields, len(held)), **more)

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError(f"{self.title}: no items")
        for what, given in (("labels", self.labels), ("ids", self.ids)):
            if given is not None and len(given) != len(self.items):
                raise ValueError(f"{self.title}: {len(self.items)} items but {len(given)} {what}")
            if isinstance(given, np.ndarray) or hasattr(given, "to_list"):  # an array, or a column of a frame
                object.__setattr__(self, what, np.asarray(given).tolist())

    @property
    def short_title(self) -> str:
        """The set by its name alone."""
        return f"set {self.name}" if self.name else "a set"

    @property
    def title(self) -> str:
        """The set as messages begin: file and line where it was read, and its name."""
        if self.source is None:
            return self.short_title
        where = self.source.place()
        return f"{where}: {self.short_title}" if self.name and not where.endswith(self.name) else where

    def item_title(self, item: int) -> str:
        """An item, counted from 0, as messages begin."""
        where = "" if self.source is None else self.source.place(item) + ": "
        return f"{where}item {item + 1 if self.ids is None else repr(self.ids[item])} of {self.short_title}"

    def __len__(self) -> int:
        return len(self.items)

    def column(self, field: str) -> list[Any]:
        """The values of one field, None where missing."""
        if isinstance(self.items, TableRows) and self.items.has(field):
            return self.items.column(field).tolist()
        return self.some(field, slice(0, len(self)))

    def some(self, field: str, part: slice) -> list[Any]:
        """The values of one field in some of the items, None where missing."""
        if isinstance(self.items, TableRows):
            there = self.items.has(field)
            return self.items.column(field).part(part).tolist() if there else [None] * len(self.items[part])
        values = [item.get(field) for item in self.items[part]]
        return [None if is_missing(v) else v for v in values]

    def factorize(self, field: str) -> Coded:
        """The values of one field by the distinct ones, worked out once for a set and a field."""
        return self.field_column(field).factorize()

    def matrix(self, field: str) -> Floats | None:
        """The vectors of a field as rows, where it is held as one array; None where it is not."""
        column = self.field_column(field) if isinstance(self.items, TableRows) else None
        return column.array if isinstance(column, ArrayColumn) and column.array.ndim == 2 else None

    def field_column(self, field: str) -> Column:
        """The values of one field as they are held."""
        if isinstance(self.items, TableRows) and self.items.has(field):
            return self.items.column(field)
        if field not in self._columns:
            bare = isinstance(self.items, TableRows)
            self._columns[field] = as_column(
                [None] * len(self) if bare else [item.get(field) for item in self.items]
            )
        return self._columns[field]

    def has(self, field: str) -> bool:
        """Whether some item has the field, with or without a value."""
        if isinstance(self.items, TableRows):
            return self.items.has(field)
        return any(field in item for item in self.items)

    def count_having(self, field: str) -> int:
        """How many items have the field, with or without a value."""
        if isinstance(self.items, TableRows):
            return len(self) if self.items.has(field) else 0
        return sum(field in item for item in self.items)

    def take(self, items: Sequence[int] | Ints) -> Table:
        """Some of the items, counted from 0, as a set of the same name."""
        rows = np.asarray(items, dtype=np.int64)
        return replace(
            self,
            items=self.items.take(rows) if isinstance(self.items, TableRows) else part_of(self.items, rows),
            labels=None if self.labels is None else part_of(self.labels, rows),
            ids=None if self.ids is None else part_of(self.ids, rows),
            source=None if self.source is None else self.source.part(rows),
        )

    @property
    def item_ids(self) -> Sequence[Hashable]:
        """The names of the items, or their numbers from 1."""
        return self.ids if self.ids is not None else range(1, len(self) + 1)

    def fields(self) -> list[str]:
        """All fields that some item has, in the order of appearance."""
        if isinstance(self.items, TableRows):
            return self.items.names
        return list(dict.fromkeys(name for item in self.items for name in item))


def join_tables(first: Table, second: Table) -> Table:
    """One set of the items of two, without labels.

    >>> join_tables(Table([{"t": 1}], ids=["a"]), Table([{"u": 2}], ids=["b"])).column("t")
    [1, None]
    """
    fields = list(dict.fromkeys([*first.fields(), *second.fields()]))
    ids: list[Hashable] = [*first.item_ids, *second.item_ids]
    source = JoinedSource.of(first, second)
    if not fields:
        return Table([{}] * len(ids), ids=ids, source=source)
    columns = {field: _joined_column(first, second, field) for field in fields}
    context = {**first.context, **second.context}
    return replace(Table.from_columns(columns, ids=ids, context=context), source=source)


@dataclass(frozen=True)
class JoinedSource(Source):
    """Where the items of a set were read that is made of several: file and line of each of them."""

    sources: tuple[Source, ...] = ()
    which: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, first: Table, second: Table) -> JoinedSource | None:
        """That of all items of two sets; None where one of them came from no file."""
        if first.source is None or second.source is None:
            return None
        sizes = [len(first), len(second)]
        rows = np.concatenate([np.arange(n) for n in sizes])
        return cls(
            first.source.path, None, None, (first.source, second.source), np.repeat([0, 1], sizes), rows
        )

    def place(self, item: int | None = None) -> str:
        """File and line of an item; of no item that of the first set."""
        source = self.sources[0 if item is None else self.which[item]]
        return source.place(None if item is None else int(self.rows[item]))

    def part(self, items: Sequence[int] | Ints) -> JoinedSource:
        """Where some of the items were read."""
        return replace(self, which=self.which[items], rows=self.rows[items])


def _joined_column(first: Table, second: Table, field: str) -> Any:
    """The values of two columns, none of them looked at; vectors side by side where both are arrays."""
    rows, more = first.matrix(field), second.matrix(field)
    if rows is not None and more is not None:
        return np.concatenate([rows, more])
    return ChainedColumn.of(first.field_column(field), second.field_column(field))
