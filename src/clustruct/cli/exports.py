"""``clustruct predict``: further files, of scored pairs, groups, whole rows, and a graph."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.callbacks import working

from .output import UsageError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Grouping, Table
    from clustruct.data.io import GraphFile

NAMES = ("pairs", "groups", "wide", "graph")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where further files go."""
    add = parser.add_argument_group("other output files (.csv, .tsv, .jsonl, .parquet)").add_argument
    pairs = "the compared pairs: ids, probability, score, what each feature adds"
    add("--pairs", metavar="FILE", help=pairs)
    add("--groups", metavar="FILE", help="the groups, their sizes and confidence")
    add("--wide", metavar="FILE", help="the rows of the data with all columns, group and confidence")
    add("--graph", metavar="FILE", help="a .graphml file: items, and pairs that are together or likely so")


def targets(args: argparse.Namespace) -> list[str]:
    """The files that are asked for."""
    return [path for path in (getattr(args, name) for name in NAMES) if path is not None]


def check(args: argparse.Namespace, inputs: list[str]) -> None:
    """Refuse files that cannot be written, or are read, before any work."""
    asked = targets(args)
    if asked and args.existing is not None:
        raise UsageError("--pairs, --groups, --wide and --graph do not go with --existing")
    written = [*asked, *filter(None, [args.out])]
    if any(clustruct.core.storage.targets.is_same(*both) for both in combinations(written, 2)):
        raise UsageError("two of the files to be written are the same one")
    for name in asked:
        clustruct.core.storage.check_target(Path(name), inputs)
    for name in filter(None, (args.pairs, args.groups, args.wide)):
        clustruct.data.io.check_table(name)
    if args.graph is not None:
        clustruct.data.io.check_graph(args.graph)


class Exports:
    """The files that are open, each of them None where it was not asked for."""

    def __init__(self, args: argparse.Namespace, stack: ExitStack, id: str | None) -> None:
        self.id = id or "id"
        tables = {name: getattr(args, name) for name in NAMES[:3]}
        self.write: dict[str, Any] = {
            name: stack.enter_context(clustruct.data.io.table_file(path))
            for name, path in tables.items()
            if path is not None
        }
        self.graph: GraphFile | None = None
        if args.graph is not None:
            nodes = {"id": "string", "set": "string", "cluster": "long", "confidence": "double"}
            edges = {"score": "double", "probability": "double"}
            self.graph = stack.enter_context(clustruct.data.io.graph_file(args.graph, nodes, edges))

    def __bool__(self) -> bool:
        return bool(self.write) or self.graph is not None

    def _id_of(self, table: Table) -> str:
        """The column of the ids; rows without one are known by their lines."""
        lines = None if table.source is None else table.source.lines
        return "id" if lines is not None and list(table.item_ids) == list(lines) else self.id

    def add(self, pipeline: Pipeline, table: Table, found: Grouping) -> None:
        """Write all that was asked for of one set."""
        recipe = clustruct.pipeline
        with working("writing"):
            if "pairs" in self.write:
                for chunk in recipe.scored_pairs(pipeline, table, found):
                    self.write["pairs"](chunk)
            if "groups" in self.write:
                self.write["groups"](recipe.group_table(table, found))
            if "wide" in self.write:
                self.write["wide"](recipe.wide_table(table, found, self._id_of(table)))
            if self.graph is not None:
                recipe.add_to_graph(self.graph, pipeline[-1], table, found)


@contextmanager
def opened(args: argparse.Namespace, id: str | None) -> Iterator[Exports]:
    """The further files of a prediction; they appear when all is written, or not at all."""
    with ExitStack() as stack:
        yield Exports(args, stack, id)
