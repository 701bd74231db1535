"""``clustruct predict``: group new sets."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.callbacks import training_callback, working
from clustruct.text import count, harmless

from . import existing
from .arguments import add_data, add_model, add_needs, add_verbose, read_model, unlabelled_sets
from .output import print_json
from .progress import Progress

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.io import Prediction
    from clustruct.records import RawSet

SUMMARY = "group new sets"
DESCRIPTION = (
    "Group the items of each set with a learned model. Columns are those of the training, unless given."
)
EXAMPLES = """\
examples
  clustruct predict new.jsonl --model news.model --out groups.csv
  clustruct predict people.csv --model people.model --confidence > groups.csv
  clustruct predict new.csv --model people.model --existing groups.csv --out groups2.csv
  clustruct predict new.csv --model people.model --existing people.db --constraints fix.csv"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, model file, and where the groups go."""
    add_data(parser)
    add_model(parser)
    add_needs(parser)
    parser.add_argument("--out", metavar="FILE", help=".csv, .tsv or .jsonl (default: CSV on stdout)")
    parser.add_argument("--confidence", action="store_true", help="add the confidence in each item's place")
    add_verbose(parser)
    existing.add_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Read set by set, group, write."""
    existing.check(args)
    if args.out is not None:
        known = [name for name in (args.existing, args.constraints) if name is not None]
        clustruct.storage.check_target(Path(args.out), [*args.data, args.model, *known])
    saved = read_model(args.model, args.allow_missing_fields)
    if args.existing is not None:
        existing.run(args, saved)
        return
    # A file is judged as a whole, a set of it may lack what others have.
    pipeline, watched = clustruct.features.checked(saved.pipeline), saved.pipeline[0].watched
    progress = Progress(args.quiet or (args.out is None and sys.stdout.isatty()))
    # Nothing is printed before all is known: a fault must not leave half a file behind a "> file".
    answers: list[Prediction] = []
    sets = items = clusters = 0
    said = existing.Said(args.constraints)
    target = nullcontext(answers.append) if args.out is None else clustruct.io.prediction_file(args.out)
    with training_callback(progress), target as write:
        for raw in watched(unlabelled_sets(args, saved.columns)):
            progress.on_step("grouping", sets, None)
            found = _grouped(pipeline, raw, args.confidence, said)
            with working("writing"):
                write(found)
            if args.json and args.out is not None:
                answers.append(found)
            sets, items, clusters = sets + 1, items + len(raw), clusters + len(set(map(int, found.labels)))
        said.check_all_heard()
    progress.done()
    _print(args, answers)
    silent = args.out is None or args.json or args.quiet
    if not silent and clustruct.storage.descriptor(Path(args.out)) != 1:
        print(f"{count(items, 'item')} of {count(sets, 'set')} in {count(clusters, 'cluster')}")
        print(f"written to {args.out}")
    if args.verbose:
        progress.costs.print()


def _print(args: argparse.Namespace, answers: list[Prediction]) -> None:
    """The answers as JSON, or as CSV where they have no file."""
    if args.json:
        listed = [{"set": p.raw.name, "ids": p.raw.ids, "clusters": p.labels, **p.more} for p in answers]
        print_json({"model": str(args.model), "sets": listed})
    elif args.out is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogatepass")  # as files are written
        shown = map(_shown, answers) if sys.stdout.isatty() else answers
        sys.stdout.writelines(clustruct.io.prediction_lines(shown))


def _shown(answer: Prediction) -> Prediction:
    """An answer for a terminal, which names must not steer; files and pipes get them as they are."""
    raw = answer.raw
    names = [harmless(str(name)) for name in raw.item_ids]
    return answer._replace(raw=replace(raw, name=harmless(raw.name), ids=names))


def _grouped(pipeline: Pipeline, raw: RawSet, confidence: bool, said: existing.Said) -> Prediction:
    """The clusters of one set, with the score lost by the best other place of each item where asked for."""
    model, explain = pipeline[-1], clustruct.explain
    scores = clustruct.recipe.similarities(pipeline, raw)
    if scores is None:
        with working("features") as work:
            x = pipeline[0].transform([raw])[0]
            work.keep(items=len(raw), pairs=0 if x.pairs is None else x.pairs.shape[0])
    with working("grouping") as work:
        held = said.about(raw)
        K: Any = None
        if scores is None:
            K = model.decision_function([x])[0] if confidence or len(held) else None
            labels = model.predict([x])[0]
        else:
            K = scores.signed() if confidence or len(held) else None
            labels = model.predict_scores([scores])[0]
        if len(held):
            sources = x.sources if scores is None else scores.sources
            labels = clustruct.incremental.constrained(model, K, raw.item_ids, held, sources=sources)
        work.keep(items=len(raw), clusters=len(set(labels.tolist())))
    if not confidence:
        return clustruct.io.Prediction(raw, labels)
    found = explain.item_confidence(K, labels, explain.objective_of(model))
    return clustruct.io.Prediction(raw, labels, {"confidence": found.confidence})
