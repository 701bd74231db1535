"""Tables: which column (or key) is what, which rows are wanted, and the sets that they are cut into."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from clustruct.core.exceptions import DataError, DataWarning, NoLabels
from clustruct.core.formatting import count, place
from clustruct.core.typing import Bools, Ints
from clustruct.data import Column, Source, Table, fold, is_missing
from clustruct.data.column_types import ArrayColumn, as_column, as_names
from clustruct.data.frames import frame_column, open_frame
from clustruct.data.table import TableRows

T = TypeVar("T")
LabelUse = Literal["required", "partial", "skip", "ignored"]
# Words for no label; clusters may well be called "missing" or "default".
NO_LABEL = frozenset(
    ("null", "(null)", "<null>", "na", "n/a", "#n/a", "<na>", "nan", "none", "nil", "-1", "-", "?")
)


@dataclass(frozen=True)
class ColumnRoles:
    """Names of columns in tables, of keys in JSON. What is named here is never a field.

    By default "id", "group" and, in JSONL, "labels" or "clusters" are taken where they are there. Sets of one
    ``group`` stay together in cross-validation; ``left_out`` are further columns that are no fields.
    ``remembered`` are names given with the training, not now: they count where they are there.
    ``repeated_ids`` numbers ids that appear more than once in a set, instead of refusing them. ``whole``
    takes all columns but those of sets and ids, for rows that are written again with all they had. ``where``
    and ``without`` hold values that a column must, or must not, have for its rows to be read.
    """

    set: str | None = None
    id: str | None = None
    cluster: str | None = None
    group: str | None = None
    fields: Sequence[str] | None = None
    left_out: frozenset[str] = frozenset()
    remembered: frozenset[str] = frozenset()
    repeated_ids: bool = False
    whole: bool = False
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def roles(self) -> frozenset[str]:
        """All columns that say something about an item but are not fields of it."""
        if self.whole:
            return frozenset([n for n in (self.set, self.id) if n is not None])
        named = (self.set, self.id, self.cluster, self.group)
        return self.left_out.union([n for n in named if n is not None], self.where, self.without)

    def present(self, names: Iterable[str]) -> ColumnRoles:
        """Without the remembered ones that are not among the names."""
        absent = self.remembered - frozenset(names)
        roles = ("set", "id", "cluster", "group")
        changes: dict[str, Any] = {role: None for role in roles if getattr(self, role) in absent}
        if self.fields is not None:
            changes["fields"] = [name for name in self.fields if name not in absent]
        return replace(self, **changes)

    def wants(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has the values asked for."""
        return all(_text(row.get(c)) in values for c, values in self.where.items()) and not any(
            _text(row.get(c)) in values for c, values in self.without.items()
        )

    def select_rows(self, columns: Mapping[str, Column]) -> Bools | None:
        """Which rows have the values asked for, each distinct value looked at once; None: all."""
        found: Bools | None = None
        for named, wanted in ((self.where, True), (self.without, False)):
            for name, values in named.items():
                codes, words = columns[name].factorize()
                right = np.array(
                    [*((_text(word) in values) == wanted for word in words), ("" in values) == wanted]
                )
                found = right[codes] if found is None else found & right[codes]
        return found

    def columns_to_read(self, header: Iterable[str]) -> frozenset[str]:
        """The columns of a table that are looked at at all."""
        fields = frozenset(header if self.fields is None else self.fields) - self.left_out
        roles = (self.set, self.id or "id", self.cluster, self.group)
        return fields.union([n for n in roles if n is not None], self.where, self.without)

    def fields_of(self, item: Mapping[str, T], also: frozenset[str] = frozenset()) -> dict[str, T]:
        """The fields of an item or a table, without those that play another part or are named in ``also``."""
        left_out = self.roles() | also
        if self.fields is None:
            return {name: value for name, value in item.items() if name not in left_out}
        return {name: item[name] for name in self.fields if name in item and name not in left_out}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def check_labels(
    labels: Sequence[Any],
    ids: Sequence[Hashable] | None,
    where: Sequence[str],
    use: LabelUse = "required",
) -> list[Hashable]:
    """Labels that are there (or None, where they are "partial") and can be compared; otherwise an error with
    the place of the item.
    """
    for a, label in enumerate(labels):
        name = f"item {a + 1}" if ids is None else f"item {ids[a]!r}"
        if use != "partial" and is_missing(label):
            raise NoLabels(f"{where[a]}: {name} has no cluster (--skip-unlabelled leaves such items out)")
        if isinstance(label, list | dict):
            raise DataError(f"{where[a]}: the cluster of {name} must be a number or a string")
    return [None if is_missing(label) else label for label in labels]


def check_ids(ids: Sequence[Any], where: Sequence[str], title: str, repeated: bool = False) -> list[Hashable]:
    """Ids that are there and different; where ``repeated``, the second "7" becomes "7 (2)"."""
    seen: dict[Hashable, int] = {}
    found: list[Hashable] = []
    for a, name in enumerate(ids):
        if is_missing(name) or isinstance(name, list | dict):
            raise DataError(f"{where[a]}: item {a + 1} of {title} has no id")
        times = 1
        while repeated and name in seen:
            times += 1
            name = f"{ids[a]} ({times})"
        found.append(name)
        first = seen.setdefault(name, a)
        if first != a:
            before = "" if where[first] == where[a] else f" (first at {where[first]})"
            raise DataError(
                f"{where[a]}: the id {name!r} appears twice in {title}{before}; --number-ids allows it"
            )
    return found


def check_present(
    columns: Sequence[str],
    wanted: Sequence[str | None],
    path: Path | None,
    line: int | None,
    fault: type[DataError] = DataError,
) -> None:
    """Every named column is there."""
    for name in wanted:
        if name is not None and name not in columns:
            shown = ", ".join(map(str, columns[:20])) + (" ..." if len(columns) > 20 else "")
            raise fault(f"{place(path, line)}: there is no column {name!r}; there are {shown}")


def check_header(header: Sequence[str], where: str) -> None:
    """No two columns have one name."""
    seen = set[str]()
    for name in header:
        if name in seen:
            raise DataError(f"{where}: two columns are named {name!r}")
        seen.add(name)


class ParsedTable(NamedTuple):
    """Columns by name, and the line of each row."""

    columns: Mapping[str, Column]
    lines: Ints

    def take(self, rows: Ints) -> ParsedTable:
        """Some of the rows."""
        return ParsedTable(
            {name: column.part(rows) for name, column in self.columns.items()}, self.lines[rows]
        )


def _warn_of_sets(columns: ColumnRoles, header: Sequence[str], path: Path | None) -> None:
    """Warn where the column that named the sets in training is not there."""
    if columns.set in columns.remembered and columns.set not in header:
        message = (
            f"there is no column {columns.set!r}, which named the sets in training; the table is one set"
        )
        warnings.warn(f"{place(path)}: {message} (--set NAME)", DataWarning, stacklevel=2)


def known_columns(
    columns: ColumnRoles, header: Sequence[str], labels: LabelUse, path: Path | None
) -> ColumnRoles:
    """The columns that are what, for a table with these names; `DataError` where one that is named is not."""
    line = None if path is None else 1
    _warn_of_sets(columns, header, path)
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


def _without_null_labels(table: ParsedTable, name: str, path: Path | None) -> ParsedTable:
    """The table with no label where the cell says so in a word: as labels, "null" were one large group."""
    codes, words = table.columns[name].factorize()
    null = np.array([*(isinstance(word, str) and fold(word) in NO_LABEL for word in words), False])
    if not null.any():
        return table
    rows = null[codes]
    shown = ", ".join(repr(words[k]) for k in np.flatnonzero(null).tolist())
    text = (
        f"{count(int(rows.sum()), 'row')} with {shown} in the column {name!r}: taken as rows without a label"
    )
    warnings.warn(f"{place(path)}: {text}" if path else text, DataWarning, stacklevel=2)
    cells = [None if out else cell for cell, out in zip(table.columns[name].tolist(), rows, strict=True)]
    return table._replace(columns={**table.columns, name: as_column(cells)})


def sets_from_table(
    table: ParsedTable, columns: ColumnRoles, labels: LabelUse, path: Path | None
) -> Iterator[Table]:
    """Sets in order of first appearance; their rows need not stand together. One set without a set column.

    ``columns`` are those of `known_columns`. Rows are put in order once, so that a set is a range of them.
    """
    _check_single(table, [columns.set, columns.id, columns.group], path)
    _check_single(table, [columns.cluster if labels != "ignored" else None], path)
    chosen = columns.select_rows(table.columns)
    if labels != "ignored" and columns.cluster is not None:
        table = _without_null_labels(table, columns.cluster, path)
    if labels == "skip" and columns.cluster is not None:
        there = ~table.columns[columns.cluster].missing()
        chosen = there if chosen is None else chosen & there
    if chosen is not None and not chosen.all():
        table = table.take(np.flatnonzero(chosen))
    if not len(table.lines):
        raise DataError(f"{place(path)}: no rows to use")
    if columns.set is None:
        yield _Cutter(table, columns, labels, path).cut_table(None, 0, len(table.lines))
        return
    owner, names = _owners(table, columns.set, path)
    order = np.argsort(owner, kind="stable")
    if not np.array_equal(order, np.arange(len(order))):
        table = table.take(order)
    cut, ends = _Cutter(table, columns, labels, path), np.cumsum(np.bincount(owner)).tolist()
    for name, low, high in zip(names, [0, *ends], ends, strict=False):
        yield cut.cut_table(name, low, high)


def _owners(table: ParsedTable, column: str, path: Path | None) -> tuple[Ints, list[str]]:
    """The set of each row, and the names of the sets in order of first appearance."""
    codes, words = table.columns[column].factorize()
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

    def __init__(self, table: ParsedTable, columns: ColumnRoles, labels: LabelUse, path: Path | None) -> None:
        self.table, self.columns, self.path = table, columns, path
        self.use: LabelUse = labels
        self.fields = columns.fields_of(table.columns)
        self.ids, self.group = (None if n is None else table.columns[n] for n in (columns.id, columns.group))
        self.labels: list[Hashable] | None = None
        if labels != "ignored" and columns.cluster is not None:
            # Of many small sets they are looked at together: it is the common case that all are right.
            held = table.columns[columns.cluster]
            self.labels = held.tolist()
            self.labels_are_right = held.can_be_labels(partly=labels == "partial")

    def cut_table(self, name: str | None, low: int, high: int) -> Table:
        """The set of the rows from one to another."""
        part, lines = slice(low, high), self.table.lines[low:high]
        title = f"set {name}" if name is not None else "the table"
        # Rows without an id are known by their place, so that predictions can be put beside them.
        ids = ArrayColumn(lines) if self.ids is None else self._ids(self.ids.part(part), lines, title)
        labels = None if self.labels is None else self.labels[part]
        if labels is not None and not self.labels_are_right:
            labels = check_labels(labels, None if self.ids is None else ids, self._places(lines), self.use)
        return Table(
            TableRows(self.fields, high - low, range(low, high)),
            labels=labels,
            name="" if name is None else name,
            ids=ids,
            group=None if self.group is None else self._group(self.group.part(part), lines, title),
            source=None if self.path is None else Source(str(self.path), lines=lines),
        )

    def _places(self, lines: Ints) -> list[str]:
        return [place(self.path, line) for line in lines.tolist()]

    def _ids(self, column: Column, lines: Ints, title: str) -> Sequence[Hashable]:
        column = as_names(column)
        if column.names_items():
            return column
        return check_ids(column.tolist(), self._places(lines), title, self.columns.repeated_ids)

    def _group(self, column: Column, lines: Ints, title: str) -> Hashable | None:
        codes, words = column.factorize()
        other = np.flatnonzero(codes != codes[0])
        if len(other):
            two = [None if c < 0 else words[c] for c in (codes[0], codes[other[0]])]
            at = place(self.path, int(lines[other[0]]))
            raise DataError(f"{at}: {title} is in two groups, {two[0]!r} and {two[1]!r}")
        return words[0] if words else None


def sets_of(
    frame: Any,
    *,
    set: str | None = None,
    cluster: str | None = None,
    id: str | None = None,
    group: str | None = None,
    fields: Sequence[str] | None = None,
    labels: LabelUse | None = None,
    columns: ColumnRoles | None = None,
) -> list[Table]:
    """Sets from the rows of a data frame: of pandas, polars, Arrow or whatever narwhals knows.

    Without ``set`` the frame is one set, without ``cluster`` there are no labels; a label that is missing
    or -1 is not known.

    Parameters
    ----------
    frame : object
        The data frame.
    set : str, optional
        The column that says which set a row belongs to.
    cluster : str, optional
        The column of the labels.
    id : str, optional
        The column that names items.
    group : str, optional
        The column of what is held out together.
    fields : sequence of str, optional
        The columns that are fields; all others by default.
    labels : LabelUse, optional
        As for `read_sets`.
    columns : ColumnRoles, optional
        Which columns are what, instead of the names above.

    Returns
    -------
    list of Table
        One set for each value of the column ``set``, in the order of first appearance.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"fold": [0, 0, 1], "who": ["x", "x", "y"], "name": ["Ann", "Anne", "Bob"]})
    >>> first, second = sets_of(frame, set="fold", cluster="who")
    >>> first.items, first.labels
    ([{'name': 'Ann'}, {'name': 'Anne'}], ['x', 'x'])
    """
    named = columns or ColumnRoles(set=set, id=id, cluster=cluster, group=group, fields=fields)
    use = labels or ("partial" if named.cluster else "ignored")
    held = open_frame(frame)
    header = list(map(str, held.columns))
    named = known_columns(named, header, use, None)
    wanted, found = named.columns_to_read(header), dict[str, Column]()
    for name in held.columns:
        if str(name) in wanted:
            found[str(name)] = frame_column(held[name])
    return list(sets_from_table(ParsedTable(found, np.arange(len(held))), named, use, None))
