"""``clustruct link``: which rows of two tables belong together."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.callbacks import training_callback
from clustruct.core.formatting import count

from . import grouping_options
from .arguments import SavedModel, add_model, add_needs, add_verbose, delimiter_mark, read_model
from .output import print_json, print_remarks
from .progress import ProgressOutput
from .sources import Name, add_map, map_fields, read_tables

if TYPE_CHECKING:
    from clustruct.data.io import ColumnRoles
    from clustruct.groups import LinkedRows

SUMMARY = "link the rows of two tables"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = ("--id", "--map", "--one-to-one", "--unmatched", "--precision", "--threshold")
DESCRIPTION = """\
Find the rows of two tables that belong together, with a learned model, and write them side by side. Rows of
one table are not compared. The model is one of "clustruct fit": best of a table with a column for the source,
or of two tables (--source file)."""
EXAMPLES = """\
examples
  clustruct fit a.csv b.csv --source file --cluster person --model people.model
  clustruct link new_a.csv new_b.csv --model people.model --out pairs.csv
  clustruct link shop.csv stock.csv --model goods.model --map name=title --one-to-one --unmatched"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two tables, the model, and what becomes of the pairs."""
    parser.add_argument("data", nargs=2, metavar="TABLE", help="two files of rows (.csv, .parquet, ...)")
    add_model(parser)
    add_needs(parser)
    add_map(parser)
    parser.add_argument("--id", metavar="NAME", help="column that names a row")
    mark = "between the cells of .csv files (comma)"
    parser.add_argument("--delimiter", type=delimiter_mark, metavar="C", help=mark)
    parser.add_argument("--number-ids", action="store_true", help="allow ids that appear twice in a table")
    only = "each row belongs to one other at most: the best such pairs (default: as the model was trained)"
    parser.add_argument("--one-to-one", action=argparse.BooleanOptionalAction, default=None, help=only)
    alone = "also write the rows of both tables that belong to none"
    parser.add_argument("--unmatched", action="store_true", help=alone)
    out = ".csv, .tsv, .jsonl or .parquet (default: CSV on stdout)"
    parser.add_argument("--out", metavar="FILE", help=out)
    grouping_options.add_cuts(parser.add_argument)
    add_verbose(parser)


def run(args: argparse.Namespace) -> None:
    """Read both, link, write."""
    asked = grouping_options.check(args)
    if args.out is not None:
        clustruct.core.storage.check_target(Path(args.out), [*args.data, args.model])
        clustruct.data.io.check_table(args.out)
    saved, _ = grouping_options.move_threshold(args, read_model(args.model, args.allow_missing_fields), asked)
    progress = ProgressOutput(args.quiet or (args.out is None and sys.stdout.isatty()))
    with training_callback(progress):
        columns = _columns(args, saved)
        tables = read_tables(args, columns, "ignored")
        first, second = map_fields(tables, _checked_names(args, saved), columns).values()
        found = clustruct.groups.link(saved.pipeline, first, second, one_to_one=args.one_to_one)
    progress.close_stage()
    one, two = tables.values()
    print_remarks(args, found.remarks)
    _tell(args, found, clustruct.groups.link_columns(found, one, two, unmatched=args.unmatched))
    if args.verbose:
        progress.costs.print()


def _columns(args: argparse.Namespace, saved: SavedModel) -> ColumnRoles:
    """All columns are kept: what the model does not look at is written with the pairs."""
    name = args.id or saved.columns.get("id")
    remembered = frozenset() if args.id or name is None else frozenset([name])
    return clustruct.data.io.ColumnRoles(id=name, remembered=remembered, repeated_ids=args.number_ids)


def _checked_names(args: argparse.Namespace, saved: SavedModel) -> list[Name]:
    """The names of columns, which must be those of fields that the model looks at, or of the ids."""
    needs, source = saved.pipeline[0].needs_, saved.pipeline[0].sources_
    known = [need.name for need in needs if source is None or need.name != source.field]
    own = args.id or saved.columns.get("id")
    for _, name, column in args.map:
        if known and name not in (*known, own):
            text = f"--map {name}={column}: the model has no field {name!r}"
            raise clustruct.core.exceptions.DataError(text + clustruct.groups.linking.spelt(name, known))
    return list(args.map)


def _tell(args: argparse.Namespace, found: LinkedRows, columns: dict[str, Any]) -> None:
    """The pairs where they are to go, and how many they are."""
    alone = [len(found.unmatched_rows(side)) for side in (0, 1)]
    if args.out is not None:
        clustruct.data.io.write_table(args.out, columns)
    if args.json:
        pairs = [list(row) for row in zip(columns["id_a"], columns["id_b"], columns["score"], strict=True)]
        summary = {"rows": found.sizes, "one_to_one": found.one_to_one, "unmatched": alone}
        summary |= found.remarks.as_json()
        sure = {} if found.probabilities is None else {"probabilities": columns["probability"]}
        print_json({"model": str(args.model), **summary, "pairs": pairs, **sure})
        return
    if args.out is None:
        sys.stdout.writelines(clustruct.data.io.table_lines(columns))
        sys.stdout.flush()
    if args.quiet or (args.out is not None and clustruct.core.storage.descriptor(Path(args.out)) == 1):
        return
    report = sys.stderr if args.out is None else sys.stdout
    how = " one to one" if found.one_to_one else ""
    print(f"{count(len(found.pairs), 'pair')}{how} of {' and '.join(_rows(found))}", file=report)
    print(f"without a mate: {alone[0]:,} of the first table, {alone[1]:,} of the second", file=report)
    unlikely = 0 if found.probabilities is None else sum(p < 0.5 for p in found.probabilities.tolist())
    if unlikely:
        many = f"{count(unlikely, 'pair')} more likely wrong than right (probability below 0.5)"
        print(f"{many}: --threshold 0.5 leaves such pairs out", file=report)
    if args.out is not None:
        print(f"written to {args.out}", file=report)


def _rows(found: LinkedRows) -> list[str]:
    return [count(n, "row") for n in found.sizes]
