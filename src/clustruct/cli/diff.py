"""``clustruct diff``: what changed between two files of groups."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import clustruct
from clustruct.core.formatting import count, format_table, short

from .arguments import whole
from .output import print_json

if TYPE_CHECKING:
    from clustruct.groups import Changes, GroupChange
    from clustruct.groups.changes import Status

SUMMARY = "what changed between two files of groups"
DESCRIPTION = (
    "Compare two files of groups by their ids: which groups are unchanged, grown, shrunk, merged,\n"
    "split, new and gone, and which items moved. Files are predictions, tables with ids and groups,\n"
    "or stores."
)
EXAMPLES = """\
examples
  clustruct diff monday.csv tuesday.csv
  clustruct diff old.csv new.csv --match     for ids that are numbers of one run: matched by items"""
# Kinds of groups that are listed one by one, and the word for the group.
LISTED: tuple[Status, ...] = ("merged", "split", "renamed", "changed", "shrunk", "grown", "new", "gone")
SHOWN_NAMES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two files, and how they are read."""
    parser.add_argument("old", metavar="OLD", help="groups before (.csv, .tsv, .jsonl, .parquet or a store)")
    parser.add_argument("new", metavar="NEW", help="groups after")
    named = "column that names an item (id, else the first column in common)"
    parser.add_argument("--id", metavar="NAME", help=named)
    parser.add_argument("--cluster", metavar="NAME", help="column of the group (cluster, else group)")
    match = "first give the new groups the ids of the old ones that share most items"
    parser.add_argument("--match", action="store_true", help=match)
    parser.add_argument("--top", type=whole(1), default=10, metavar="N", help="groups of a kind shown (10)")


def run(args: argparse.Namespace) -> None:
    """Read, compare, tell."""
    groups = clustruct.groups
    files = (args.old, args.new)
    ids = (args.id, args.id) if args.id else groups.files.id_columns(*files)
    old, new = (
        groups.read_groups(path, id=id, cluster=args.cluster) for path, id in zip(files, ids, strict=True)
    )
    if args.match:
        kept = groups.match_groups(old, new)
        state = groups.ledger.digest(old)
        taken = set(old.values())
        new = groups.with_ids(new, kept, lambda item: groups.ledger.fresh_id(state, item, taken=taken))
    found = groups.compare(old, new)
    if args.json:
        print_json(as_json(found))
    else:
        print("\n".join(group_lines(found, args.top)))
        stayed = len(old) - len(found.removed)
        if not args.match and not args.quiet and 2 * len(found.moved) > stayed:
            print("\nmost items moved; where ids are numbers of one run each, --match tells what is the same")


def as_json(found: Changes) -> dict[str, object]:
    """Changes for machines."""
    return {
        "groups": found.count(),
        "items": {"moved": len(found.moved), "added": len(found.added), "removed": len(found.removed)},
        "changed": [group._asdict() for group in found.groups if group.status != "unchanged"],
        "moved": [move._asdict() for move in found.moved],
        "added": found.added,
        "removed": found.removed,
    }


def group_lines(found: Changes, most: int) -> list[str]:
    """Changes for a person: how many of each kind, then those groups that changed."""
    lines = [found.summary()]
    for status in LISTED:
        groups = sorted(found.of(status), key=lambda g: -max(g.before, g.after))
        groups = [g for g in groups if g.before or status != "renamed"]
        if groups:
            rows = [[short(g.id), g.before, g.after, _what(g)] for g in groups]
            lines += ["", f"{status} ({count(len(groups), 'group')})"]
            lines += [format_table(["group", "before", "after", "what happened"], rows, most=most)]
    return lines


def _what(group: GroupChange) -> str:
    """What happened to one group, in a few words."""
    parts = []
    if group.targets and not group.after:
        parts.append(f"now in {_names(group.targets)}")
    elif group.targets:
        parts.append(f"{count(len(group.lost), 'item')} went to {_names(group.targets)}")
    elif group.lost and group.after:
        parts.append(f"lost {_names(group.lost)}")
    if group.sources:
        parts.append(
            f"with items of {_names(group.sources)}" if group.before else f"from {_names(group.sources)}"
        )
    elif group.gained:
        parts.append(f"{'gained ' if group.before else ''}{_names(group.gained)}")
    return "; ".join(parts) or _names(group.lost)


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(short(name, 24) for name in names[:SHOWN_NAMES])
    return shown if len(names) <= SHOWN_NAMES else f"{shown} and {len(names) - SHOWN_NAMES} more"
