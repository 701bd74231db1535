"""A table of columns cut into sets: rows chosen, gathered by set, and each set checked."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clustruct.core.exceptions import DataError, DataWarning, NoLabels
from clustruct.core.text import place
from clustruct.core.typing import Ints
from clustruct.data.records import ArrayColumn, Column, RawSet, Rows, Source

from .tables import Columns, LabelUse, check_ids, check_labels, check_present


class ParsedTable(NamedTuple):
    """Columns by name, and the line of each row."""

    columns: Mapping[str, Column]
    lines: Ints

    def take(self, rows: Ints) -> ParsedTable:
        """Some of the rows."""
        return ParsedTable(
            {name: column.part(rows) for name, column in self.columns.items()}, self.lines[rows]
        )


def _tell_of_sets(columns: Columns, header: Sequence[str], path: Path | None) -> None:
    """Say that the column which named the sets in training is not there."""
    if columns.set in columns.remembered and columns.set not in header:
        said = f"there is no column {columns.set!r}, which named the sets in training; the table is one set"
        warnings.warn(f"{place(path)}: {said} (--set NAME)", DataWarning, stacklevel=2)


def known_columns(columns: Columns, header: Sequence[str], labels: LabelUse, path: Path | None) -> Columns:
    """The columns that are what, for a table with these names; `DataError` where one that is named is not."""
    line = None if path is None else 1
    _tell_of_sets(columns, header, path)
    columns = columns.present(header)
    if columns.id is None and "id" in header and columns.cluster != "id":
        columns = replace(columns, id="id")
    named = (columns.set, columns.id, columns.group)
    chosen = [*columns.where, *columns.without, *sorted(columns.left_out - columns.remembered)]
    check_present(header, [*named, *chosen, *(columns.fields or ())], path, line)
    if labels != "ignored":
        if columns.cluster is None:
            raise NoLabels(f"{place(path, line)}: name the column of the clusters (--cluster NAME)")
        check_present(header, [columns.cluster], path, line, NoLabels)
    return columns


def _check_single(table: ParsedTable, names: Sequence[str | None], path: Path | None) -> None:
    """Names and clusters are single values, not vectors."""
    for name in names:
        column = None if name is None else table.columns.get(name)
        if isinstance(column, ArrayColumn) and column.array.ndim == 2:
            raise DataError(f"{place(path)}: the column {name!r} holds a vector for each item, not one value")


def sets_from_table(
    table: ParsedTable, columns: Columns, labels: LabelUse, path: Path | None
) -> Iterator[RawSet]:
    """Sets in order of first appearance; their rows need not stand together. One set without a set column.

    ``columns`` are those of `known_columns`. Rows are put in order once, so that a set is a range of them.
    """
    _check_single(table, [columns.set, columns.id, columns.group], path)
    _check_single(table, [columns.cluster if labels != "ignored" else None], path)
    chosen = columns.chosen(table.columns)
    if labels == "skip" and columns.cluster is not None:
        there = ~table.columns[columns.cluster].missing()
        chosen = there if chosen is None else chosen & there
    if chosen is not None and not chosen.all():
        table = table.take(np.flatnonzero(chosen))
    if not len(table.lines):
        raise DataError(f"{place(path)}: no rows to use")
    if columns.set is None:
        yield _Cutter(table, columns, labels, path).raw_set(None, 0, len(table.lines))
        return
    owner, names = _owners(table, columns.set, path)
    order = np.argsort(owner, kind="stable")
    if not np.array_equal(order, np.arange(len(order))):
        table = table.take(order)
    cut, ends = _Cutter(table, columns, labels, path), np.cumsum(np.bincount(owner)).tolist()
    for name, low, high in zip(names, [0, *ends], ends, strict=False):
        yield cut.raw_set(name, low, high)


def _owners(table: ParsedTable, column: str, path: Path | None) -> tuple[Ints, list[str]]:
    """The set of each row, and the names of the sets in order of first appearance."""
    codes, words = table.columns[column].coded()
    if (codes < 0).any():
        line = int(table.lines[int(np.argmin(codes))])
        raise DataError(f"{place(path, line)}: the row has no set (column {column!r} is empty)")
    names = dict.fromkeys(map(str, words))
    if len(names) == len(words):
        return codes, list(names)
    number = {name: k for k, name in enumerate(names)}
    return np.array([number[str(word)] for word in words])[codes], list(names)


class _Cutter:
    """Makes sets of ranges of rows."""

    def __init__(self, table: ParsedTable, columns: Columns, labels: LabelUse, path: Path | None) -> None:
        self.table, self.columns, self.path = table, columns, path
        self.use: LabelUse = labels
        self.fields = columns.kept(table.columns)
        self.ids, self.group = (None if n is None else table.columns[n] for n in (columns.id, columns.group))
        self.labels: list[Hashable] | None = None
        if labels != "ignored" and columns.cluster is not None:
            # Of many small sets they are looked at together: it is the common case that all are right.
            held = table.columns[columns.cluster]
            self.labels = held.tolist()
            self.labels_are_right = held.can_be_labels(partly=labels == "partial")

    def raw_set(self, name: str | None, low: int, high: int) -> RawSet:
        """The set of the rows from one to another."""
        part, lines = slice(low, high), self.table.lines[low:high]
        title = f"set {name}" if name is not None else "the table"
        # Rows without an id are known by their place, so that predictions can be put beside them.
        ids = ArrayColumn(lines) if self.ids is None else self._ids(self.ids.part(part), lines, title)
        labels = None if self.labels is None else self.labels[part]
        if labels is not None and not self.labels_are_right:
            labels = check_labels(labels, None if self.ids is None else ids, self._places(lines), self.use)
        return RawSet(
            Rows(self.fields, high - low, range(low, high)),
            labels=labels,
            name="" if name is None else name,
            ids=ids,
            group=None if self.group is None else self._group(self.group.part(part), lines, title),
            source=None if self.path is None else Source(str(self.path), lines=lines),
        )

    def _places(self, lines: Ints) -> list[str]:
        return [place(self.path, line) for line in lines.tolist()]

    def _ids(self, column: Column, lines: Ints, title: str) -> Sequence[Hashable]:
        if column.names_items():
            return column
        return check_ids(column.tolist(), self._places(lines), title, self.columns.repeated_ids)

    def _group(self, column: Column, lines: Ints, title: str) -> Hashable | None:
        codes, words = column.coded()
        other = np.flatnonzero(codes != codes[0])
        if len(other):
            two = [None if c < 0 else words[c] for c in (codes[0], codes[other[0]])]
            at = place(self.path, int(lines[other[0]]))
            raise DataError(f"{at}: {title} is in two groups, {two[0]!r} and {two[1]!r}")
        return words[0] if words else None
