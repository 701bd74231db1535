"""Tables and data frames: which column (or key) is what, which rows are wanted, and sets made of rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from clustruct.exceptions import DataError, DataWarning, NoLabels
from clustruct.records import RawSet, Source, is_missing
from clustruct.text import place

LabelUse = Literal["required", "partial", "skip", "ignored"]
Row = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
class Columns:
    """Names of columns in tables, of keys in JSON.

    set : which set an item belongs to (JSONL: the set's name, "id" where not given)
    id : the name of an item ("id" where not given and there)
    cluster : the right cluster (JSONL: "labels" or "clusters" of the set where not given)
    group : sets of one group stay together in cross-validation ("group" where not given and there)
    fields : the fields to keep; all others are left out. None: all
    left_out : further columns that are not fields
    remembered : names that were not given now but with the training; they count where they are there
    repeated_ids : number ids that appear more than once in a set, instead of refusing them
    where, without : values that a column must have, or must not have, for its rows to be read

    Columns named here are never fields, so that an answer is never taken for a feature.
    """

    set: str | None = None
    id: str | None = None
    cluster: str | None = None
    group: str | None = None
    fields: Sequence[str] | None = None
    left_out: frozenset[str] = frozenset()
    remembered: frozenset[str] = frozenset()
    repeated_ids: bool = False
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    without: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def roles(self) -> frozenset[str]:
        """All columns that say something about an item but are not fields of it."""
        named = (self.set, self.id, self.cluster, self.group)
        return self.left_out.union([n for n in named if n is not None], self.where, self.without)

    def present(self, names: Iterable[str]) -> Columns:
        """Without the remembered ones that are not among the names."""
        gone = self.remembered - frozenset(names)
        roles = ("set", "id", "cluster", "group")
        changes: dict[str, Any] = {role: None for role in roles if getattr(self, role) in gone}
        if self.fields is not None:
            changes["fields"] = [name for name in self.fields if name not in gone]
        return replace(self, **changes)

    def wants(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has the values asked for."""
        return all(_text(row.get(c)) in values for c, values in self.where.items()) and not any(
            _text(row.get(c)) in values for c, values in self.without.items()
        )

    def kept(self, item: Mapping[str, Any], also: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The fields of an item, those that play another part (or are named in ``also``) left out."""
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


def check_values(item: Mapping[str, Any], where: str) -> None:
    """Refuse numbers that are not finite where a missing value could not be meant, and complex ones."""
    for name, value in item.items():
        if isinstance(value, complex):
            raise DataError(f"{where}: the field {name!r} is a complex number")
        if isinstance(value, float) and math.isinf(value):
            raise DataError(f"{where}: the field {name!r} is infinite")
        if isinstance(value, list) and any(isinstance(v, float) and not math.isfinite(v) for v in value):
            raise DataError(f"{where}: the field {name!r} has an entry that is not a finite number")


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
    for a, name in enumerate(header):
        if name in header[:a]:
            raise DataError(f"{where}: two columns are named {name!r}")


def _tell_of_sets(columns: Columns, header: Sequence[str], path: Path | None) -> None:
    """Say that the column which named the sets in training is not there."""
    if columns.set in columns.remembered and columns.set not in header:
        said = f"there is no column {columns.set!r}, which named the sets in training; the table is one set"
        warnings.warn(f"{place(path)}: {said} (--set NAME)", DataWarning, stacklevel=2)


def sets_from_rows(
    rows: Iterable[Row], header: list[str], columns: Columns, labels: LabelUse, path: Path | None
) -> Iterator[RawSet]:
    """Sets in order of first appearance; their rows need not stand together. One set without a set column.

    ``rows`` gives (line, values by column).
    """
    line = None if path is None else 1
    _tell_of_sets(columns, header, path)
    columns = columns.present(header)
    if columns.id is None and "id" in header and columns.cluster != "id":
        columns = replace(columns, id="id")
    named = (columns.set, columns.id, columns.group)
    check_present(header, [*named, *columns.where, *columns.without, *(columns.fields or ())], path, line)
    if labels != "ignored":
        if columns.cluster is None:
            raise NoLabels(f"{place(path, line)}: name the column of the clusters (--cluster NAME)")
        check_present(header, [columns.cluster], path, line, NoLabels)
    sets: dict[Hashable, list[Row]] = {}
    for number, row in rows:
        if columns.wants(row) and not (labels == "skip" and is_missing(row[columns.cluster or ""])):
            sets.setdefault(_set_of(row, columns, path, number), []).append((number, row))
    if not sets:
        raise DataError(f"{place(path)}: no rows to use")
    for name, numbered in sets.items():
        yield _raw_set(name, numbered, columns, labels, path)


def _set_of(row: Mapping[str, Any], columns: Columns, path: Path | None, line: int) -> Hashable:
    if columns.set is None:
        return None
    name = row[columns.set]
    if is_missing(name):
        raise DataError(f"{place(path, line)}: the row has no set (column {columns.set!r} is empty)")
    return str(name)


def _raw_set(
    name: Hashable, numbered: list[Row], columns: Columns, labels: LabelUse, path: Path | None
) -> RawSet:
    rows, where = [row for _, row in numbered], [place(path, line) for line, _ in numbered]
    title = f"set {name}" if name is not None else "the table"
    ids = None
    if columns.id is not None:
        ids = check_ids([r[columns.id] for r in rows], where, title, columns.repeated_ids)
    found = None
    if labels != "ignored" and columns.cluster is not None:
        found = check_labels([r[columns.cluster] for r in rows], ids, where, labels)
    return RawSet(
        [columns.kept(r) for r in rows],
        labels=found,
        name="" if name is None else str(name),
        # Rows without an id are known by their place, so that predictions can be put beside them.
        ids=ids if ids is not None else [line for line, _ in numbered],
        group=_group(rows, columns, title, where),
        source=None if path is None else Source(str(path), lines=[line for line, _ in numbered]),
    )


def _group(
    rows: Sequence[Mapping[str, Any]], columns: Columns, title: str, where: list[str]
) -> Hashable | None:
    if columns.group is None:
        return None
    groups = [row[columns.group] for row in rows]
    for a, group in enumerate(groups):
        if group != groups[0]:
            raise DataError(f"{where[a]}: {title} is in two groups, {groups[0]!r} and {group!r}")
    return None if is_missing(groups[0]) else groups[0]


class Frame(Protocol):
    """What pandas and others call a data frame."""

    def to_dict(self, orient: Any) -> Any: ...


def sets_from_frame(
    frame: Frame,
    *,
    set: str | None = None,
    cluster: str | None = None,
    id: str | None = None,
    group: str | None = None,
    fields: Sequence[str] | None = None,
) -> list[RawSet]:
    """Raw sets from the rows of a data frame (pandas, or anything with ``columns`` and ``to_dict("list")``).

    ``set``, ``cluster``, ``id`` and ``group`` name columns; all others are fields, or those of
    ``fields`` alone. Without ``set`` the frame is one set, without ``cluster`` there are no labels; a label
    that is missing (or -1) is not known.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"fold": [0, 0, 1], "who": ["x", "x", "y"], "name": ["Ann", "Anne", "Bob"]})
    >>> first, second = sets_from_frame(frame, set="fold", cluster="who")
    >>> first.items, first.labels
    ([{'name': 'Ann'}, {'name': 'Anne'}], ['x', 'x'])
    """
    check_header([str(c) for c in getattr(frame, "columns", ())], "the table")
    values: dict[str, list[Any]] = {str(c): list(v) for c, v in frame.to_dict("list").items()}
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    for number, row in enumerate(rows):
        check_values(row, f"row {number}")
    columns = Columns(set=set, id=id, cluster=cluster, group=group, fields=fields)
    labels: LabelUse = "partial" if cluster else "ignored"
    return list(sets_from_rows(enumerate(rows), list(values), columns, labels, None))
