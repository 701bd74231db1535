"""``clustruct predict``: group new sets."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clustruct
from clustruct.callbacks import training_callback, working
from clustruct.text import count, harmless

from . import dials, existing, exports, on_dask, searches
from .arguments import add_data, add_model, add_needs, add_verbose, columns, read_model, unlabelled_sets
from .output import print_json
from .progress import ProgressOutput

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.calibration import Dial
    from clustruct.incremental import Constraints
    from clustruct.io import Prediction
    from clustruct.itemsets import PairScores
    from clustruct.recipe import Dials
    from clustruct.records import RawSet

    from .exports import Exports

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
    dials.add_arguments(parser)
    exports.add_arguments(parser)
    existing.add_arguments(parser)
    on_dask.add_table_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Read set by set, group, write."""
    existing.check(args)
    on_dask.check(args)
    asked = dials.check(args)
    known = [name for name in (args.existing, args.constraints) if name is not None]
    if args.out is not None and args.dask is None:
        clustruct.storage.check_target(Path(args.out), [*args.data, args.model, *known])
    exports.check(args, [*args.data, args.model, *known])
    saved, dial = dials.applied(args, read_model(args.model, args.allow_missing_fields), asked)
    searches.set_rounding(args, saved.pipeline)
    if args.dask is not None:
        on_dask.predict(args, saved)
        return
    if args.existing is not None:
        existing.run(args, saved)
        return
    # A file is judged as a whole, a set of it may lack what others have.
    pipeline, watched = clustruct.features.checked(saved.pipeline), saved.pipeline[0].watched
    progress = ProgressOutput(args.quiet or (args.out is None and sys.stdout.isatty()))
    # Nothing is printed before all is known: a fault must not leave half a file behind a "> file".
    answers: list[Prediction] = []
    sets = items = clusters = 0
    said, doubtful = existing.Said(args.constraints), list[object]()
    target = nullcontext(answers.append) if args.out is None else clustruct.io.prediction_file(args.out)
    together = clustruct.storage.targets.together()
    files = exports.opened(args, columns(args, saved.columns).id)
    with training_callback(progress), together, target as write, files as further:
        # Where fields are named, these are all that there is.
        whole = args.wide is not None and args.fields is None
        for raw in watched(unlabelled_sets(args, saved.columns, whole=whole)):
            progress.on_step("grouping", sets, None)
            found = _grouped(pipeline, raw, args.confidence, said, asked, further)
            with working("writing"):
                write(found)
            doubtful += [raw.item_ids[a] for a, out in enumerate(found.more.get("rejected", ())) if out]
            if args.json and args.out is not None:
                answers.append(found)
            sets, items, clusters = sets + 1, items + len(raw), clusters + len(set(map(int, found.labels)))
        said.check_all_heard()
    progress.done()
    _print(args, answers, dial)
    dials.tell_rejected(args, doubtful)
    silent = args.out is None or args.json or args.quiet
    if not silent and clustruct.storage.descriptor(Path(args.out)) != 1:
        print(f"{count(items, 'item')} of {count(sets, 'set')} in {count(clusters, 'cluster')}")
        print(f"written to {', '.join([args.out, *exports.targets(args)])}")
    if args.verbose:
        progress.costs.print()


def _print(args: argparse.Namespace, answers: list[Prediction], dial: Dial | None) -> None:
    """The answers as JSON, or as CSV where they have no file."""
    if args.json:
        listed = [{"set": p.raw.name, "ids": p.raw.ids, "clusters": p.labels, **p.more} for p in answers]
        cost = {} if dial is None else {"held_out": dial._asdict()}
        print_json({"model": str(args.model), **cost, "sets": listed})
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


def _grouped(
    pipeline: Pipeline, raw: RawSet, confidence: bool, said: existing.Said, asked: Dials, further: Exports
) -> Prediction:
    """The clusters of one set, with the confidence in each item's place where asked for: a probability, or,
    for a model without probabilities, the score lost by its best other place.
    """
    model = pipeline[-1]
    scores = clustruct.recipe.similarities(pipeline, raw)
    if scores is None:
        if further or asked:
            raise ValueError(f"{type(model).__name__} has no similarities that are linear in pair features")
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
            K = _searched(model, scores).signed() if confidence or len(held) else None
            labels = model.predict_scores([scores])[0]
        sources = x.sources if scores is None else scores.sources
        if len(held):
            labels = clustruct.incremental.constrained(model, K, raw.item_ids, held, sources=sources)
        found = Found(labels, None, None)
        if scores is not None:
            found = _as_asked(model, scores, labels, raw, held, asked, confidence or bool(further))
        work.keep(items=len(raw), clusters=len(set(found.labels.tolist())))
    if further and scores is not None:
        further.add(pipeline, raw, scores, found.labels, found.confidence)
    if confidence and found.confidence is None:
        objective = clustruct.explain.objective_of(model)
        lost = clustruct.explain.item_confidence(K, found.labels, objective, sources)
        found = found._replace(confidence=lost.confidence)
    more = {"confidence": found.confidence} if confidence else {}
    more |= {} if found.rejected is None else {"rejected": found.rejected.astype(int)}
    return clustruct.io.Prediction(raw, found.labels, more)


def _searched(model: Any, scores: PairScores) -> PairScores:
    """What the model clusters by, where that is more than scores."""
    found: PairScores = model.contested(scores) if hasattr(model, "contested") else scores
    return found


class Found(NamedTuple):
    """Groups, the probability that each item is in the right one, and which items were left alone."""

    labels: Any
    confidence: Any
    rejected: Any


def _as_asked(
    model: Any,
    scores: PairScores,
    labels: Any,
    raw: RawSet,
    held: Constraints,
    asked: Dials,
    confidence: bool,
) -> Found:
    """The groups within the bounds that were asked for; probabilities where the model has them."""
    sure = confidence and getattr(model, "calibration_", None) is not None
    if not asked and not sure:
        return Found(labels, None, None)
    numbers = {str(name): a for a, name in enumerate(raw.item_ids)} if len(held) else {}
    links = {"must_link": held.must_link(numbers), "cannot_link": held.cannot_link(numbers)}
    try:
        found = asked.grouped(model, scores, labels, **links, confidence=sure)
    except ValueError as error:
        raise clustruct.exceptions.DataError(f"{raw.title}: {dials.as_options(str(error))}") from None
    return Found(found.labels, found.confidence, None if asked.reject_below is None else found.rejected)
