"""``clustruct look``: what the columns of a table are taken for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table, harmless

from .arguments import ITEM_KINDS, add_data, unlabelled_sets
from .column_words import add_kinds, comparison_in_words, holds_in_words, notes
from .output import print_json

if TYPE_CHECKING:
    from clustruct.data import Fields, Table

SUMMARY = "what the columns of a table are taken for"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = ("--id", "--cluster", "--fields", "--ignore", "--as", "--delimiter")
DESCRIPTION = """\
Show each column of a table: what it holds, how many rows have a value, how many values differ and how much
they tell apart (their entropy: 1 bit halves the rows), whether rows are compared by it, and if not, why.
fit reads columns in the same way and keeps it in the model; --as COLUMN=KIND overrules it here and there."""
EXAMPLES = """\
examples
  clustruct look people.csv
  clustruct look people.csv --id nr --cluster person --as born=day-first --as shelf=code
  clustruct look people.csv --json"""
SHOWN_IDS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, and what columns hold where that is known."""
    add_data(parser)
    group = parser.add_argument_group("columns")
    group.add_argument(
        "--kind", choices=ITEM_KINDS, default="auto", help="what the items are (default: a guess)"
    )
    add_kinds(group)


def run(args: argparse.Namespace) -> None:
    """One line for each column."""
    sets = list(unlabelled_sets(args))
    readings = clustruct.data.learn_readings(sets, args.fields, dict(args.kinds))
    data = clustruct.features.look_at_fields(sets, args.kind, args.fields, (), readings)
    compared = data.compared_fields()
    if args.json:
        print_json({"items": data.items, "rows": sum(map(len, sets)), "columns": _columns(data, compared)})
        return
    rows, of = sum(map(len, sets)), "" if len(sets) == 1 else f" in {count(len(sets), 'set')}"
    print(f"{count(rows, 'row')}{of}, {count(len(readings), 'column')}, taken for {data.items}\n")
    print(_table(data, compared))
    lines = [*notes(readings.values()), *_odd_ids(sets)]
    if lines:
        print("\n" + "\n".join(map(harmless, lines)))


def _table(data: Fields, compared: Sequence[str]) -> str:
    rows = [
        (
            harmless(one.name),
            holds_in_words(one),
            f"{100 * (1 - one.missing):.0f} %",
            one.distinct,
            f"{one.bits:.1f}",
            comparison_in_words(one, compared),
        )
        for one in data.readings.values()
    ]
    return format_table(["column", "holds", "full", "different", "bits", "compared"], rows)


def _columns(data: Fields, compared: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            **asdict(one),
            "missing": one.missing,
            "compared": one.name in compared,
            "in_record": one.name in data.holding(),
        }
        for one in data.readings.values()
    ]


def _odd_ids(sets: Sequence[Table]) -> list[str]:
    """Ids that differ in how they are written alone."""
    named = [table.ids for table in sets if table.ids is not None]
    found = [pair for ids in named for pair in clustruct.data.alike_ids(ids)]
    if not found:
        return []
    shown = ", ".join(f"{a!r} and {b!r}" for a, b in found[:SHOWN_IDS])
    return [f"ids: {count(len(found), 'id')} like another but for zeros, blanks or .0 (such as {shown})"]
