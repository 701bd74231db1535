"""``clustruct predict``: group new sets."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.callbacks import training_callback, working
from clustruct.core.formatting import count, harmless

from . import existing, grouping_options, on_dask, searches
from .arguments import add_data, add_model, add_needs, add_verbose, columns, read_model, unlabelled_sets
from .output import UsageError, print_json, print_remarks
from .progress import ProgressOutput

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Evidence, Grouping, GroupingOptions, Remarks, Table
    from clustruct.data.io import GraphFile, Prediction
    from clustruct.learning.calibration import Dial

    from .arguments import SavedModel

SUMMARY = "group new sets"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = (
    "--set",
    "--id",
    "--confidence",
    "--precision",
    "--threshold",
    "--max-size",
    "--reject-below",
    "--pairs",
    "--wide",
    "--existing",
    "--constraints",
    "--dry-run",
)
DESCRIPTION = (
    "Group the items of each set with a learned model. Columns are those of the training, unless given."
)
EXAMPLES = """\
examples
  clustruct predict new.jsonl --model news.model --out groups.csv
  clustruct predict people.csv --model people.model --confidence > groups.csv
  clustruct predict people.csv --model people.model --precision 0.99 --pairs pairs.parquet --out groups.csv
  clustruct predict new.csv --model people.model --existing groups.csv --out groups2.csv
  clustruct predict new.csv --model people.model --existing people.db --constraints fix.csv
  clustruct predict 'part-*.parquet' --model people.model --dask tcp://host:8786 --out groups"""
EXPORTS = ("pairs", "groups", "wide", "graph")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, model file, and where the groups go."""
    add_data(parser)
    add_model(parser)
    add_needs(parser)
    parser.add_argument(
        "--out", metavar="FILE", help=".csv, .tsv or .jsonl (default: CSV on stdout); a directory with --dask"
    )
    parser.add_argument("--confidence", action="store_true", help="add the confidence in each item's place")
    add_verbose(parser)
    searches.add_rounding(parser.add_argument)
    grouping_options.add_arguments(parser)
    _add_exports(parser)
    existing.add_arguments(parser)
    on_dask.add_table_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Check what is asked, and group in the way that it needs."""
    existing.check(args)
    on_dask.check(args)
    asked = grouping_options.check(args)
    known = [name for name in (args.existing, args.constraints) if name is not None]
    if args.out is not None and args.dask is None:
        clustruct.core.storage.check_target(Path(args.out), [*args.data, args.model, *known])
    _check_exports(args, [*args.data, args.model, *known])
    saved, dial = grouping_options.move_threshold(
        args, read_model(args.model, args.allow_missing_fields), asked
    )
    searches.set_rounding(args, saved.pipeline)
    if args.dask is not None:
        on_dask.predict(args, saved)
        return
    if args.existing is not None:
        existing.run(args, saved)
        return
    _group_sets(args, saved, asked.without_cut(), dial)


def _group_sets(
    args: argparse.Namespace, saved: SavedModel, asked: GroupingOptions, dial: Dial | None
) -> None:
    """Read set by set, group by a model that was moved to where it is to cut, write."""
    # A file is judged as a whole, a set of it may lack what others have.
    pipeline, watched = clustruct.features.check_tables(saved.pipeline), saved.pipeline[0].check_stream
    progress = ProgressOutput(args.quiet or (args.out is None and sys.stdout.isatty()))
    # Nothing is printed before all is known: a fault must not leave half a file behind a "> file".
    answers: list[Prediction] = []
    remarks = clustruct.data.Remarks()
    sets = items = clusters = 0
    constraints, doubtful = existing.ConstraintsBySet(args.constraints), list[object]()
    target = nullcontext(answers.append) if args.out is None else clustruct.data.io.prediction_file(args.out)
    together = clustruct.core.storage.targets.together()
    with training_callback(progress), together, target as write, ExitStack() as stack:
        further = Exports(args, stack, columns(args, saved.columns).id)
        # Where fields are named, these are all that there is.
        whole = args.wide is not None and args.fields is None
        for table in watched(unlabelled_sets(args, saved.columns, whole=whole)):
            progress.on_step("grouping", sets, None)
            found = _group(args, pipeline, table, constraints.evidence(table), asked)
            answer = _prediction(args, table, found)
            if further:
                further.add(pipeline, table, found)
            with working("writing"):
                write(answer)
            remarks.add(found)
            doubtful += [table.item_ids[a] for a in found.rejected.nonzero()[0]]
            if args.json and args.out is not None:
                answers.append(answer)
            sets, items, clusters = sets + 1, items + len(table), clusters + found.n_groups
        constraints.check_all_apply()
    progress.close_stage()
    _print(args, answers, dial, remarks)
    print_remarks(args, remarks)
    grouping_options.print_rejected_items(args, doubtful)
    silent = args.out is None or args.json or args.quiet
    if not silent and clustruct.core.storage.descriptor(Path(args.out)) != 1:
        print(f"{count(items, 'item')} of {count(sets, 'set')} in {count(clusters, 'cluster')}")
        print(f"written to {', '.join([args.out, *_export_targets(args)])}")
    if args.verbose:
        progress.costs.print()


def _print(args: argparse.Namespace, answers: list[Prediction], dial: Dial | None, remarks: Remarks) -> None:
    """The answers as JSON, or as CSV where they have no file."""
    if args.json:
        listed = [{"set": p.table.name, "ids": p.table.ids, "clusters": p.labels, **p.more} for p in answers]
        cost = {} if dial is None else {"held_out": dial._asdict()}
        print_json({"model": str(args.model), **cost, **remarks.as_json(), "sets": listed})
    elif args.out is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogatepass")  # as files are written
        printable = map(_make_printable, answers) if sys.stdout.isatty() else answers
        sys.stdout.writelines(clustruct.data.io.prediction_lines(printable))


def _make_printable(answer: Prediction) -> Prediction:
    """An answer for a terminal, which names must not steer; files and pipes get them as they are."""
    table = answer.table
    names = [harmless(str(name)) for name in table.item_ids]
    return answer._replace(table=replace(table, name=harmless(table.name), ids=names))


def _group(
    args: argparse.Namespace,
    pipeline: Pipeline,
    table: Table,
    evidence: Evidence | None,
    asked: GroupingOptions,
) -> Grouping:
    """The groups of one set, with what the files that are asked for need."""
    further = bool(_export_targets(args))
    if further and pipeline[-1].linear_similarity() is None:
        name = type(pipeline[-1]).__name__
        raise ValueError(f"{name} has no similarities that are linear in pair features")
    sure = args.confidence or further
    try:
        return clustruct.pipeline.group(pipeline, table, evidence, asked, confidence=sure, pairs=further)
    except ValueError as error:
        if not asked or isinstance(error, clustruct.core.exceptions.DataError):
            raise
        text = grouping_options.as_options(str(error))
        raise clustruct.core.exceptions.DataError(f"{table.title}: {text}") from None


def _prediction(args: argparse.Namespace, table: Table, found: Grouping) -> Prediction:
    """What is written of the groups of one set."""
    more: dict[str, Any] = {"confidence": found.confidence} if args.confidence else {}
    more |= {} if args.reject_below is None else {"rejected": found.rejected.astype(int)}
    labels: Any = found.labels
    return clustruct.data.io.Prediction(table, labels, more)


def _add_exports(parser: argparse.ArgumentParser) -> None:
    """Where further files go."""
    add = parser.add_argument_group("other output files (.csv, .tsv, .jsonl, .parquet)").add_argument
    pairs = "the compared pairs: ids, probability, score, what each feature adds"
    add("--pairs", metavar="FILE", help=pairs)
    add("--groups", metavar="FILE", help="the groups, their sizes and confidence")
    add("--wide", metavar="FILE", help="the rows of the data with all columns, group and confidence")
    add("--graph", metavar="FILE", help="a .graphml file: items, and pairs that are together or likely so")


def _export_targets(args: argparse.Namespace) -> list[str]:
    """The files that are asked for."""
    return [path for path in (getattr(args, name) for name in EXPORTS) if path is not None]


def _check_exports(args: argparse.Namespace, inputs: list[str]) -> None:
    """Refuse files that cannot be written, or are read, before any work."""
    asked = _export_targets(args)
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
        tables = {name: getattr(args, name) for name in EXPORTS[:3]}
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
