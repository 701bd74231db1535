"""``clustruct predict --existing``: new items for known groups, which keep ids and members."""

from __future__ import annotations

import argparse
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table, short

from . import sources
from .arguments import SavedModel, columns
from .diff import as_json
from .output import UsageError, print_json

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Evidence, Table
    from clustruct.groups import Decision, KnownItems, Outcome, PairJudgement, Store

SHOWN = 10
# Columns of a file that an earlier run wrote beside the groups.
RESULT_COLUMNS = ("confidence",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is known already."""
    group = parser.add_argument_group("known groups")
    known = "items with their groups (see --wide), or a store: groups keep ids and members, new items join"
    group.add_argument("--existing", metavar="FILE", help=known)
    decided = "pairs or decisions that the groups must satisfy (.csv, .tsv, .jsonl)"
    group.add_argument("--constraints", metavar="FILE", help=decided)
    revised = "also merge and split known groups where that scores higher, and say what became of their ids"
    group.add_argument("--revise", action="store_true", help=revised)
    settle = "items grouped by one of the last N runs of the store may still be revised, others stay"
    group.add_argument("--settle", metavar="N", type=int, help=settle)
    update = "with --existing: items that are known already take the values that they have in the new file"
    group.add_argument("--update", action="store_true", help=update)
    dry = "with --existing: say what would change, write nothing"
    group.add_argument("--dry-run", action="store_true", help=dry)


def check(args: argparse.Namespace) -> None:
    """What does not go together."""
    for name in ("revise", "update", "dry_run"):
        if getattr(args, name) and args.existing is None:
            raise UsageError(f"--{name.replace('_', '-')} goes with --existing only")
    _check_settle(args)


def _check_settle(args: argparse.Namespace) -> None:
    if args.settle is None:
        return
    if args.existing is None:
        raise UsageError("--settle goes with --existing only")
    if args.revise:
        raise UsageError("--settle and --revise do not go together: --revise may change all groups")
    if args.settle < 1:
        raise UsageError(f"--settle must be a number of runs from 1 on, not {args.settle}")
    if not clustruct.groups.is_store(args.existing):
        raise UsageError(f"--settle needs a store: {args.existing} does not say when items were grouped")


def decisions(path: str | None) -> list[Decision]:
    """The decisions of a file of constraints."""
    if path is None:
        return []
    found = clustruct.groups.read_labels(path)
    if found.form == "records" or (found.form == "clusters" and not found.decisions):
        held = "records by value" if found.form == "records" else "groups"
        why = f"holds {held}, not pairs or decisions (--existing takes groups)"
        raise clustruct.core.exceptions.DataError(f"{path}: {why}")
    return list(found.decisions)


class ConstraintsBySet:
    """A file of constraints, set by set: each pair must be of items of one set."""

    def __init__(self, path: str | None) -> None:
        given = decisions(path)
        for decision in given:
            if decision.kind not in clustruct.groups.decisions.JUDGEMENTS:
                why = f"{decision} is about groups: it goes with --existing only"
                raise clustruct.core.exceptions.DataError(why)
        self.judgements = clustruct.groups.replay(given).judgements() if given else []
        self.used = set[tuple[int, str, str]]()

    def evidence(self, table: Table) -> Evidence | None:
        """What the file says of the items of a set."""
        numbers = {str(name): a for a, name in enumerate(table.item_ids)}
        mine = [j for j in self.judgements if j.a in numbers and j.b in numbers]
        if not mine:
            return None
        self.used.update(map(_key, mine))
        holding = [j for j in clustruct.groups.settle(mine) if j.answer != "unsure"]
        return clustruct.groups.decisions.evidence_of(holding, numbers)

    def check_all_apply(self) -> None:
        """Refuse what is said of items that are in no set, or in two."""
        for judged in self.judgements:
            if _key(judged) not in self.used:
                why = f"{judged.by} names {judged.a!r} and {judged.b!r}, and no set has both items"
                raise clustruct.core.exceptions.DataError(why)


def _key(judged: PairJudgement) -> tuple[int, str, str]:
    return judged.by.number, judged.a, judged.b


def run(args: argparse.Namespace, saved: SavedModel) -> None:
    """Read what is known and what is new, group, write and tell."""
    is_store = clustruct.groups.is_store(args.existing)
    with clustruct.groups.Store(args.existing) if is_store else nullcontext() as store:
        known, new = _known_and_new(args, saved, store)
        for void_number, why in known.state.void.items():
            void = f"decision {void_number} of {args.existing} says nothing any more: {why}"
            warnings.warn(void, clustruct.core.exceptions.DataWarning, stacklevel=2)
        found = clustruct.groups.add_to_groups(
            _check_fields(args, saved, known, new),
            known,
            new,
            decisions=decisions(args.constraints),
            revise=args.revise,
            settle=args.settle,
            update=args.update,
            confidence=args.confidence,
            fresh=None if store is None else store.fresh_id,
        )
        number = None if args.dry_run else _write(args, known, found, store)
    _print_outcome(args, known, new, found, number)


def _check_fields(args: argparse.Namespace, saved: SavedModel, known: KnownItems, new: Table) -> Pipeline:
    """The pipeline, for known and new items that have the fields it needs."""
    needs = clustruct.features.needs
    try:
        clustruct.features.check_tables(saved.pipeline, _tables_to_check(saved, known))
    except needs.FieldsMissing as error:
        why = "--existing needs the items with their fields, as predict --wide FILE writes them"
        raise clustruct.core.exceptions.DataError(str(error).replace(needs.KNOW, why)) from None
    return clustruct.features.check_tables(saved.pipeline, [new])


def _tables_to_check(saved: SavedModel, known: KnownItems) -> list[Table]:
    """The known items, but not where an index was made of all that the model needs: then they were looked
    at.
    """
    if known.table is None:
        return []
    there = frozenset(known.table.fields())
    made = known.index is not None and bool(known.index.pieces)
    return [] if made and all(need.name in there for need in saved.pipeline[0].needs_) else [known.table]


def _write(args: argparse.Namespace, known: KnownItems, found: Outcome, store: Store | None) -> int | None:
    """Write the file and the run, or neither: the file is ready, and gets its name when the run is kept."""
    file = clustruct.groups.known.known_file
    target = (args.out, _with_confidence(found), found.update.groups, known.id, known.cluster)
    with nullcontext() if args.out is None else file(*target):
        return None if store is None else clustruct.groups.record(store, found, source=", ".join(args.data))


def _with_confidence(found: Outcome) -> Table:
    """The items, with the confidence in the place of those that the run has placed, if that was asked for."""
    table, sure = found.table, found.update.confidence
    if sure is None:
        return table
    (name,) = RESULT_COLUMNS
    if table.has(name):
        why = "the data has a column of this name: rename it, or leave --confidence out"
        raise clustruct.core.exceptions.DataError(f"{name!r}: {why}")
    columns: dict[str, Any] = {field: table.field_column(field) for field in table.fields()}
    digits = {item: float(f"{value:.6g}") for item, value in sure.items()}  # as groups are printed
    columns |= {name: [digits.get(str(item)) for item in table.item_ids]}
    made = clustruct.data.Table.from_columns(columns, ids=table.ids, context=table.context)
    return replace(made, source=table.source)


def _known_and_new(
    args: argparse.Namespace, saved: SavedModel, store: Store | None
) -> tuple[KnownItems, Table]:
    """What is known and what is new. What an earlier run has said of its groups is no column of the items,
    unless the new ones have it, too.
    """
    needed = {need.name for need in saved.pipeline[0].needs_}
    written = frozenset(RESULT_COLUMNS) - needed
    known = _read_known_items(args, saved, store, written)
    new = _new_items(args, saved, known)
    own = frozenset(name for name in written if new.has(name))
    return (_read_known_items(args, saved, store, written - own) if own and store is None else known), new


def _read_known_items(
    args: argparse.Namespace, saved: SavedModel, store: Store | None, left_out: frozenset[str]
) -> KnownItems:
    """The items that are known, with all columns that they have but those left out."""
    named = columns(args, saved.columns)
    if store is not None:
        return clustruct.groups.known_of_store(store, named.id or "id", runs=args.settle or 0)
    # Where a file has groups beside the labels that the model was trained with, an earlier run wrote them.
    clusters = ["cluster", *filter(None, [named.cluster]), "group"]
    if any(need.name == "cluster" for need in saved.pipeline[0].needs_):
        clusters = [*clusters[1:-1], "cluster", "group"]
    clusters = [args.cluster] if args.cluster else clusters
    bare = clustruct.data.io.ColumnRoles(
        id=named.id,
        left_out=left_out,
        remembered=named.remembered | left_out,
        repeated_ids=named.repeated_ids,
    )
    return clustruct.groups.known_of_table(args.existing, bare, clusters, args.delimiter)


def _new_items(args: argparse.Namespace, saved: SavedModel, known: KnownItems) -> Table:
    """All items of the data, whatever its sets, with all columns that they have; with their labels where
    these are a column of the known ones, beside their groups.
    """
    named = replace(columns(args, saved.columns), set=None, fields=None, left_out=frozenset())
    if named.cluster is not None and known.table is not None and known.table.has(named.cluster):
        named = replace(named, cluster=None)
    sets = sources.read(args, saved.columns, named, "ignored", fewest=1)
    return clustruct.groups.known.one_set(args.data[0], sets)


def _print_outcome(
    args: argparse.Namespace, known: KnownItems, new: Table, found: Outcome, number: int | None
) -> None:
    """The groups of the new items on stdout where they have no file, and what the run did."""
    if args.json:
        print_json(_json(args, found))
        return
    report = sys.stdout
    if args.out is None:
        labels = [found.update.groups[str(name)] for name in new.item_ids]
        sure = found.update.confidence
        more = {} if sure is None else {RESULT_COLUMNS[0]: [sure.get(str(name)) for name in new.item_ids]}
        answer = clustruct.data.io.Prediction(replace(new, name="", labels=None), labels, more)
        sys.stdout.writelines(clustruct.data.io.prediction_lines([answer]))
        sys.stdout.flush()
        report = sys.stderr
    # What was asked for is printed in any case: what would be done, or what became of ids.
    if not args.quiet or args.dry_run:
        print("\n".join(_lines(args, found, number)), file=report)
    elif (args.revise or args.settle) and args.out is not None and (changed := _change_lines(found)):
        print("\n".join(changed).strip("\n"))


def _json(args: argparse.Namespace, found: Outcome) -> dict[str, object]:
    return {
        "model": str(args.model),
        "existing": str(args.existing),
        "new": {item: found.update.groups[item] for item in found.new},
        **({} if found.update.confidence is None else {"confidence": dict(found.update.confidence)}),
        **as_json(found.changes),
        "other_values": {"items": list(found.changed.items), "fields": dict(found.changed.fields or {})},
        "updated": found.updated,
        "constraints": found.n_constraints,
        "compared_with_nothing": found.update.n_uncompared,
        "proposals": [proposal.__dict__ for proposal in found.update.proposals],
    }


def _lines(args: argparse.Namespace, found: Outcome, number: int | None) -> list[str]:
    """The report of a run, for a person."""
    groups, opened = found.update.groups, {g.id for g in found.changes.of("new")}
    joining = sum(groups[item] not in opened for item in found.new)
    alone = {groups[item] for item in found.new} & opened
    parts = [f"{joining:,} joined known groups"] * bool(joining)
    parts += [f"{len(found.new) - joining:,} opened {count(len(alone), 'new group')}"] * bool(alone)
    lines = [f"{count(len(found.new), 'new item')}{': ' if parts else ''}{', '.join(parts)}"]
    if found.known:
        lines.append(f"{count(found.known, 'item')} of the data known already: they stay where they are")
    if found.updated and found.changed:
        lines.append(f"{count(len(found.changed), 'known item')} updated in {found.changed}")
    lines.append(found.changes.summary())
    if found.update.n_uncompared:
        lines.append(clustruct.data.uncompared_line(found.update.n_uncompared))
    if found.n_constraints:
        lines.append(f"{count(found.n_constraints, 'constraint')} held")
    lines += _change_lines(found) + _proposal_lines(found)
    if args.dry_run:
        lines.append("nothing was written (--dry-run)")
    elif args.out is not None:
        lines.append(f"written to {args.out}")
    if number is not None:
        lines.append(f"run {number} of {args.existing}")
    return lines


def _change_lines(found: Outcome) -> list[str]:
    """What became of the ids of known groups that were merged, split or lost items."""
    rows = []
    for group in found.changes.groups:
        if group.before and group.status in ("merged", "split", "renamed", "changed", "shrunk", "gone"):
            now = [short(name, 24) for name in ([group.id] if group.after else []) + list(group.targets)]
            rows.append([short(group.id), group.status, group.before, group.after, ", ".join(now[:6])])
    if not rows:
        return []
    return [
        "",
        format_table(["known group", "", "before", "after", "its items are in"], rows, most=4 * SHOWN),
        "",
    ]


def _proposal_lines(found: Outcome) -> list[str]:
    """Changes of known groups that were not made."""
    proposals = found.update.proposals
    if not proposals:
        return []
    rows = []
    for p in proposals:
        names = ", ".join(short(g, 24) for g in p.groups[:4])
        rows.append([p.kind, names, float(p.gain), _parts(p.parts)])
    head = f"{count(len(rows), 'change')} of known groups would score more; not made (--revise makes them):"
    return ["", head, format_table(["what", "groups", "gain", "parts"], rows, most=SHOWN), ""]


def _parts(parts: tuple[tuple[str, ...], ...]) -> str:
    shown = [", ".join(short(item, 16) for item in part[:3]) for part in parts]
    more = [" ..." if len(part) > 3 else "" for part in parts]
    return " | ".join(map(str.__add__, shown, more))
