"""``--source``, ``--within-source`` and ``--map``: tables of several sources, whose rows are linked."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import clustruct
from clustruct.core.formatting import count, short

from .output import UsageError

if TYPE_CHECKING:
    from clustruct.data import Table
    from clustruct.data.io import ColumnRoles, LabelUse

AUTO, NONE, FILE = "auto", "none", "file"
WITHIN = ("auto", "apart", "uncompared")
SHOWN = 5
# The table ("a", "b" or None), the name in common, the name of the column.
Name: TypeAlias = tuple[str | None, str, str]


def mapping(text: str) -> Name:
    """What "[a:|b:]NAME=COLUMN" says."""
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"takes NAME=COLUMN or b:NAME=COLUMN, not {text!r}")
    if name[:2] in ("a:", "b:") and len(name) > 2:
        return name[0], name[2:], column
    return None, name, column


def add_map(parser: Any) -> None:
    """Other names of columns."""
    text = "the second table's COLUMN is what NAME is for the first and the model (a:NAME= for the first's)"
    parser.add_argument("--map", type=mapping, action="append", default=[], metavar="NAME=COLUMN", help=text)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Where items come from."""
    group = parser.add_argument_group("several sources to link")
    column = (
        "only items of different sources are compared: the column that names them; file (each file is one); "
        "none; auto (default): a column of few values, if the labels support it"
    )
    group.add_argument("--source", default=AUTO, metavar="COLUMN", help=column)
    within = "two items of one source are never grouped (apart), or not compared; auto: decided by the labels"
    group.add_argument("--within-source", choices=WITHIN, default=AUTO, help=within)
    add_map(group)


def of_recipe(args: argparse.Namespace) -> dict[str, Any]:
    """Options of a recipe for sources."""
    if args.source == NONE and args.within_source != AUTO:
        raise UsageError("--within-source says something of sources, and there is --source none")
    if args.map and args.source != FILE:
        raise UsageError("--map goes with --source file: the other names are those of the second file")
    return {"source": None if args.source == NONE else args.source, "within_source": args.within_source}


def column(args: argparse.Namespace, trained: Mapping[str, Any]) -> str | None:
    """The column of the sources, where one is named now or was in the training."""
    named = getattr(args, "source", None)
    named = trained.get("source") if named in (None, AUTO) else named
    return named if isinstance(named, str) and named not in (AUTO, NONE, FILE) else None


def read(
    args: argparse.Namespace,
    trained: Mapping[str, Any],
    columns: ColumnRoles,
    labels: LabelUse,
    *,
    fewest: int = 2,
) -> Iterator[Table]:
    """The sets of the files; where each file is a source, all files as one set, ``fewest`` of them."""
    if (getattr(args, "source", None) or trained.get("source")) != FILE:
        return clustruct.read_sets(*args.data, columns=columns, labels=labels, delimiter=args.delimiter)
    if getattr(args, "set", None):
        raise UsageError("--set cuts a table into sets, --source file makes one of several: give one of them")
    tables = read_tables(args, columns, labels)
    if len(tables) == 1 and not hasattr(args, "source") and next(iter(tables.values())).has(FILE):
        return iter(tables.values())  # the tables were put together, with a column for the file
    if len(tables) < fewest:
        raise clustruct.core.exceptions.DataError(
            f"{args.data[0]}: each file is a source, and there is one file"
        )
    return iter([_join_tables(map_fields(tables, getattr(args, "map", []), columns))])


def _join_tables(tables: Mapping[str, Table]) -> Table:
    """The tables as one set, with a column for the file."""
    for path, table in tables.items():
        if table.has(FILE):
            text = "a column is called 'file', which names the source of a row with --source file: rename it"
            raise clustruct.core.exceptions.DataError(f"{path}: {text}")
    _check_common(tables)
    names = [Path(path).name for path in tables]
    names = names if len(set(names)) == len(names) else list(tables)
    return clustruct.groups.side_by_side(list(tables.values()), FILE, names)


def _check_common(tables: Mapping[str, Table]) -> None:
    (first, one), *others = tables.items()
    for path, other in others:
        if not set(one.fields()) & set(other.fields()):
            mine, theirs = (", ".join(table.fields()[:SHOWN]) for table in (one, other))
            text = f"no column in common: {first} has {mine}; {path} has {theirs} (--map NAME=COLUMN)"
            raise clustruct.core.exceptions.DataError(text)


def read_tables(args: argparse.Namespace, columns: ColumnRoles, labels: LabelUse) -> dict[str, Table]:
    """One table for each file. One of two may have other names for the columns of ids and clusters."""
    found: dict[str, Table] = {}
    for letter, path in zip(chain("ab", repeat("")), args.data, strict=False):
        if any(clustruct.core.storage.targets.is_same(path, other) for other in found):
            raise clustruct.core.exceptions.DataError(f"{path}: the file is given twice")
        own = _names(getattr(args, "map", []), letter)
        roles = {role: own.get(getattr(columns, role), getattr(columns, role)) for role in ("id", "cluster")}
        asked = replace(columns, **roles)
        sets = list(clustruct.read_sets(path, columns=asked, labels=labels, delimiter=args.delimiter))
        if len(sets) > 1:
            text = f"{path}: {count(len(sets), 'set')}, but a table is one set"
            raise clustruct.core.exceptions.DataError(text)
        found[path] = sets[0]
    return found


def _names(given: Sequence[Name], letter: str) -> dict[str, str]:
    """The columns of a table by their names in common; where none is said, those of the second table."""
    found: dict[str, str] = {}
    for side, new, old in given:
        if (side or "b") == letter and found.setdefault(new, old) != old:
            raise UsageError(f"--map: {new!r} cannot be two columns, {found[new]!r} and {old!r}")
    return found


def map_fields(tables: Mapping[str, Table], given: Sequence[Name], columns: ColumnRoles) -> dict[str, Table]:
    """The tables with the names of fields that they have in common."""
    if given and len(tables) > 2:
        raise UsageError(f"--map goes with two tables, and there are {len(tables)}")
    found = dict(tables)
    for letter, (path, table) in zip("ab", tables.items(), strict=False):
        own = {n: c for n, c in _names(given, letter).items() if n not in (columns.id, columns.cluster)}
        found[path] = clustruct.groups.rename_fields(table, own) if own else table
    return found


def in_words(source: Mapping[str, Any]) -> str:
    """What was found or taken as the source, and what follows."""
    sizes = [f"{short(name)} {n:,}" for name, n in source["sizes"].items()]
    listed = ", ".join(sizes[:SHOWN]) + (", ..." if len(sizes) > SHOWN else "")
    name, looks = short(source["field"]), "looks like a source" if source["found"] else "is the source"
    within, pairs = source["pairs"] - source["across"], count(source["pairs"], "labelled pair")
    text = f"the column {name!r} {looks} ({listed}): {within:,} of {pairs} lie within one\n"
    text += "rows of one source are "
    text += "never grouped" if source["within"] == "apart" else "not compared, but may share a group"
    return text + (" (--source none compares all rows)" if source["found"] else "")
