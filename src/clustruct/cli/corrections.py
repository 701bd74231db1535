"""``clustruct fit --corrections``: learn from what people said of pairs and groups; ``--start``: go on."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count

from .arguments import columns, names_between_commas, partly_labelled_sets, read_model
from .output import UsageError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.groups import Corrections, KnownItems
    from clustruct.pipeline import Recipe

SHOWN_NOTES = 10
# What is decided by the model that --start names.
OF_START = [
    *(
        "kind",
        "learner",
        "linkage",
        "loss",
        "surrogates",
        "C",
        "merge_cost",
        "scaling",
        "nonnegative",
        "predictor",
        "block",
    ),
    *("neighbours", "calibrate", "for_size", "oracle", "formulation", "loss_in_oracle", "rounding"),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What people said, and where to go on from."""
    add = parser.add_argument_group("corrections").add_argument
    files = (
        "labelled pairs, decisions or groups (.csv, .tsv, .jsonl; dedupe's training as .json), or a store; "
        "may be given several times"
    )
    add("--corrections", metavar="FILE|STORE", action="append", default=[], help=files)
    ids = "the two columns of ids of labelled pairs, if they are not recognised"
    add("--pair-columns", type=names_between_commas, metavar="A,B", help=ids)
    words = "the column of labelled pairs that says whether they are the same (yes/no, 1/0, a probability)"
    add("--answer", metavar="COLUMN", help=words)
    items = "the items that corrections refer to, with the groups shown to people, if not in DATA"
    add("--corrected", metavar="FILE", action="append", default=[], help=items)
    who = "if people disagree about a pair: refuse (default), or take the majority"
    add("--disagreement", choices=("error", "majority"), default="error", help=who)
    model = "warm start from this model: same DATA; its features, loss, C and probabilities are kept"
    add("--start", metavar="MODEL", help=model)


def is_asked(args: argparse.Namespace) -> bool:
    """Whether there is something to learn from beside labels."""
    if args.disagreement != "error" and not args.corrections:
        raise UsageError("--disagreement goes with --corrections")
    for name in ("corrected", "pair_columns", "answer"):
        if getattr(args, name) and not args.corrections:
            raise UsageError(f"--{name.replace('_', '-')} goes with --corrections")
    if args.pair_columns and len(args.pair_columns) != 2:
        raise UsageError("--pair-columns takes two columns: A,B")
    return bool(args.corrections or args.start)


def inputs(args: argparse.Namespace) -> list[str]:
    """The files that are read, which no output may replace."""
    return [*args.corrections, *args.corrected, *filter(None, [args.start])]


def fit(args: argparse.Namespace, learned: Recipe) -> None:
    """Read data and corrections, and learn from both."""
    if args.checkpoint is not None:
        raise UsageError("--checkpoint does not go with --corrections or --start")
    saved = None if args.start is None else read_model(args.start)
    trained = {} if saved is None else saved.columns
    if saved is not None:
        _warn_of_options(args, saved.pipeline[-1])
    sets = partly_labelled_sets(args, trained, may_lack=True)
    found = _corrections(args, sets, trained)
    free = saved is not None and _needs_no_labels(saved.pipeline[-1])
    if free and not args.corrections:
        raise UsageError(f"{args.start} was made without labels: it goes on from --corrections")
    if saved is not None and not free and not any(_has_labels(table) for table in found.sets):
        raise clustruct.core.exceptions.NoLabels(
            f"{args.data[0]}: no item has a cluster; --start needs the data that the model was trained on, "
            "or it forgets what it learned from them"
        )
    if not args.quiet and args.corrections:
        print(f"clustruct: {found}", file=sys.stderr)
        for note in found.notes[:SHOWN_NOTES]:
            print(f"clustruct: {clustruct.core.formatting.harmless(note)}", file=sys.stderr)
        if len(found.notes) > SHOWN_NOTES:
            print(f"clustruct: and {len(found.notes) - SHOWN_NOTES} more labels", file=sys.stderr)
    learned.fit(
        found.sets, corrections=found.evidence, start=None if saved is None else _pipeline(saved.pipeline)
    )


def _warn_of_options(args: argparse.Namespace, model: Any) -> None:
    """Of options that --start leaves without effect, since the model that it goes on from decides."""
    given = [name for name in OF_START if getattr(args, name) != args.parser.get_default(name)]
    same = {"C": getattr(model, "C_", None), "nonnegative": bool(getattr(model, "nonnegative", False))}
    same["calibrate"] = getattr(model, "calibration_", None) is not None
    unused = [f"--{name.replace('_', '-')}" for name in given if same.get(name) != getattr(args, name)]
    if unused:
        message = f"{', '.join(unused)} not used: with --start they are those of {args.start}"
        warnings.warn(message, clustruct.core.exceptions.ChoiceWarning, stacklevel=2)


def _pipeline(pipeline: Pipeline) -> Pipeline:
    model = pipeline[-1]
    if getattr(model, "past_", None) is None and not _needs_no_labels(model):
        raise clustruct.core.exceptions.DataError(
            f"{type(model).__name__} keeps nothing to go on from (--start): fit it again without --start"
        )
    return pipeline


def _needs_no_labels(model: Any) -> bool:
    return not getattr(model, "needs_labels", True)


def judged_line(found: Mapping[str, Any]) -> str:
    """What pairs alone taught, and what the model makes of those that are held out."""
    judged = found["judged_pairs"]
    guess = {
        "all": "they move nothing: on held-out pairs the guess without labels is as good",
        "part": "on held-out pairs the guess without labels is about as good, and counts as well",
        "none": "they are learned from beside the guess without labels, which is worse on held-out pairs",
    }
    line = f"{count(judged['compared'], 'judged pair')} compared; "
    held = judged["held_out"]
    if held is None:
        return f"{line}too few to hold some out: the guess without labels counts as well"
    return (
        f"{line}{guess[judged['guess']]}\n"
        f"on held-out pairs pairwise F {100.0 * found['held_out_pairwise_f']:.1f} %: "
        f"{held['found']:,.0f} of {held['same']:,.0f} found that are the same, "
        f"{held['joined']:,.0f} of {held['different']:,.0f} put together that are different\n"
        "(pairs that somebody chose to judge need not be like the others)"
    )


def _has_labels(table: Any) -> bool:
    return table.labels is not None and any(label is not None for label in table.labels)


def _corrections(args: argparse.Namespace, sets: list[Any], trained: Mapping[str, Any]) -> Corrections:
    return clustruct.groups.corrections(
        sets,
        *args.corrections,
        seen=[_read_shown_groups(args, path, trained) for path in args.corrected],
        unlabelled="unknown" if args.unlabelled == "unknown" else "apart",
        disagreement=args.disagreement,
        pair=tuple(args.pair_columns) if args.pair_columns else None,
        answer=args.answer,
    )


def _read_shown_groups(args: argparse.Namespace, path: str, trained: Mapping[str, Any]) -> KnownItems:
    """Items with the groups that people saw, where the file has such a column."""
    named = columns(args, trained)
    bare = clustruct.data.io.ColumnRoles(
        id=named.id, remembered=named.remembered, repeated_ids=named.repeated_ids
    )
    names = [*filter(None, [named.cluster]), "cluster", "group"]
    known = clustruct.groups.known_of_table
    try:
        return known(path, bare, names, args.delimiter)
    except clustruct.core.exceptions.NoLabels:
        read = clustruct.read_sets(path, columns=bare, labels="ignored", delimiter=args.delimiter)
        table = clustruct.groups.known.one_set(path, read)
        return clustruct.groups.KnownItems(table, clustruct.groups.State())
