"""Rows of a table put together to sets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clustruct.exceptions import DataError, NoLabels, place
from clustruct.records import RawSet, is_missing

from .columns import Columns, LabelUse, check_ids, check_labels, check_present

__all__ = ["Row", "sets_from_rows"]

Row = tuple[int, Mapping[str, Any]]


@dataclass
class _Gathered:
    """The rows of one set so far."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def sets_from_rows(
    rows: Iterable[Row], header: list[str], columns: Columns, labels: LabelUse, path: Path | None
) -> Iterator[RawSet]:
    """Sets in order of first appearance; their rows need not stand together. One set without a set column.

    ``rows`` gives (line, values by column).
    """
    line = None if path is None else 1
    columns = _with_defaults(columns, header)
    wanted = [
        columns.set,
        columns.id,
        columns.group,
        *columns.where,
        *columns.without,
        *(columns.fields or ()),
    ]
    check_present(header, wanted, path, line)
    if labels != "ignored":
        if columns.cluster is None:
            raise NoLabels(f"{place(path, line)}: name the column of the clusters (--cluster NAME)")
        check_present(header, [columns.cluster], path, line, NoLabels)
    sets: dict[Hashable, _Gathered] = {}
    for number, row in rows:
        if not columns.wants(row) or (labels == "skip" and is_missing(row[columns.cluster or ""])):
            continue
        mine = sets.setdefault(_set_of(row, columns, path, number), _Gathered())
        mine.rows.append(row)
        mine.lines.append(number)
    if not sets:
        raise DataError(f"{place(path)}: no rows to use")
    for name, gathered in sets.items():
        yield _raw_set(name, gathered, columns, labels, path)


def _with_defaults(columns: Columns, header: list[str]) -> Columns:
    columns = columns.present(header)
    if columns.id is None and "id" in header and columns.cluster != "id":
        columns = replace(columns, id="id")
    return columns


def _set_of(row: Mapping[str, Any], columns: Columns, path: Path | None, line: int) -> Hashable:
    if columns.set is None:
        return None
    name = row[columns.set]
    if is_missing(name):
        raise DataError(f"{place(path, line)}: the row has no set (column {columns.set!r} is empty)")
    return str(name)


def _raw_set(
    name: Hashable, gathered: _Gathered, columns: Columns, labels: LabelUse, path: Path | None
) -> RawSet:
    rows, where = gathered.rows, [place(path, n) for n in gathered.lines]
    title = f"set {name}" if name is not None else "the table"
    ids = None
    if columns.id is not None:
        ids = check_ids([r[columns.id] for r in rows], where, title, columns.repeated_ids)
    found = None
    if labels != "ignored" and columns.cluster is not None:
        found = check_labels([r[columns.cluster] for r in rows], ids, where)
    return RawSet(
        [columns.kept(r) for r in rows],
        labels=found,
        name="" if name is None else str(name),
        # Rows without an id are known by their place, so that predictions can be put beside them.
        ids=ids if ids is not None else list(gathered.lines),
        group=_group(gathered, columns, title, where),
    )


def _group(gathered: _Gathered, columns: Columns, title: str, where: list[str]) -> Hashable | None:
    if columns.group is None:
        return None
    groups = [row[columns.group] for row in gathered.rows]
    for a, group in enumerate(groups):
        if group != groups[0]:
            raise DataError(f"{where[a]}: {title} is in two groups, {groups[0]!r} and {group!r}")
    return None if is_missing(groups[0]) else groups[0]
