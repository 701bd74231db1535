"""``--source``, ``--within-source`` and ``--map``: tables of several sources, whose rows are linked."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.text import count, short

from .output import UsageError

if TYPE_CHECKING:
    from clustruct.records import RawSet

AUTO, NONE, FILE = "auto", "none", "file"
WITHIN = ("auto", "apart", "uncompared")
SHOWN = 5


def mapping(text: str) -> tuple[str | None, str, str]:
    """(table, name of the model, name in the table) of "[a:|b:]NAME=COLUMN"."""
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise argparse.ArgumentTypeError(f"takes NAME=COLUMN or b:NAME=COLUMN, not {text!r}")
    if name[:2] in ("a:", "b:") and len(name) > 2:
        return name[0], name[2:], column
    return None, name, column


def add_map(parser: Any) -> None:
    """Other names of columns."""
    said = "the column COLUMN of the second table is what NAME is in the first (b:NAME=, or a: for the first)"
    parser.add_argument("--map", type=mapping, action="append", default=[], metavar="NAME=COLUMN", help=said)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Where items come from."""
    group = parser.add_argument_group("several sources, whose items are linked")
    column = (
        "only items of different sources are compared: the column that names them, file (each file is one), "
        "none, or auto (default: a column of few values that the labels bear out)"
    )
    group.add_argument("--source", default=AUTO, metavar="COLUMN", help=column)
    within = "two items of one source are never grouped (apart), or not compared; auto: as the labels say"
    group.add_argument("--within-source", choices=WITHIN, default=AUTO, help=within)
    add_map(group)


def of_recipe(args: argparse.Namespace) -> dict[str, Any]:
    """What a recipe is told of sources."""
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


def joined(args: argparse.Namespace, trained: Mapping[str, Any], sets: Iterable[RawSet]) -> Iterator[RawSet]:
    """The sets as they are read; where each file is a source, all files as one set."""
    named = getattr(args, "source", None) or trained.get("source")
    if named != FILE:
        yield from sets
        return
    if getattr(args, "set", None):
        raise UsageError("--set cuts a table into sets, --source file makes one of several: give one of them")
    tables = by_file(sets)
    if len(tables) < 2:
        raise clustruct.exceptions.DataError(f"{args.data[0]}: each file is a source, and there is one file")
    tables = mapped(tables, getattr(args, "map", []))
    for path, table in tables.items():
        if table.has(FILE):
            told = "a column is called 'file', which names the source of a row with --source file: rename it"
            raise clustruct.exceptions.DataError(f"{path}: {told}")
    _check_common(tables)
    names = [Path(path).name for path in tables]
    names = names if len(set(names)) == len(names) else list(tables)
    yield clustruct.incremental.side_by_side(list(tables.values()), FILE, names)


def by_file(sets: Iterable[RawSet]) -> dict[str, RawSet]:
    """One table for each file."""
    found: dict[str, list[RawSet]] = {}
    for raw in sets:
        found.setdefault(raw.source.path if raw.source is not None else "", []).append(raw)
    for path, parts in found.items():
        if len(parts) > 1:
            told = f"{count(len(parts), 'set')}, but a table is one set"
            raise clustruct.exceptions.DataError(f"{path}: {told}")
    return {path: parts[0] for path, parts in found.items()}


def mapped(tables: Mapping[str, RawSet], names: Sequence[tuple[str | None, str, str]]) -> dict[str, RawSet]:
    """The tables with the names of columns that they have in common."""
    if names and len(tables) > 2:
        raise UsageError(f"--map goes with two tables, and there are {len(tables)}")
    found = {}
    for letter, (path, table) in zip("ab", tables.items(), strict=False):
        own = {new: old for side, new, old in names if (side or "b") == letter}
        found[path] = clustruct.incremental.renamed(table, own) if own else table
    return found if len(tables) <= 2 else dict(tables)


def _check_common(tables: Mapping[str, RawSet]) -> None:
    (first, one), *others = tables.items()
    for path, other in others:
        if not set(one.fields()) & set(other.fields()):
            mine, theirs = (", ".join(raw.fields()[:SHOWN]) for raw in (one, other))
            told = f"no column in common: {first} has {mine}, {path} has {theirs} (--map NAME=COLUMN)"
            raise clustruct.exceptions.DataError(told)


def in_words(source: Mapping[str, Any]) -> str:
    """What was found or taken as the source, and what follows."""
    sizes = [f"{short(name)} {n:,}" for name, n in source["sizes"].items()]
    listed = ", ".join(sizes[:SHOWN]) + (", ..." if len(sizes) > SHOWN else "")
    name, within = short(source["field"]), source["pairs"] - source["across"]
    looks = "looks like a source" if source["found"] else "is the source"
    lines = (
        f"the column {name!r} {looks} ({listed}): {within:,} of {count(source['pairs'], 'labelled pair')} "
    )
    lines += "lie within one\nrows of one source are "
    lines += "never grouped" if source["within"] == "apart" else "not compared, but may share a group"
    return lines + (" (--source none compares all rows)" if source["found"] else "")
