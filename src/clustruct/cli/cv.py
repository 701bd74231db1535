"""``clustruct cv``: how good would a model be that is learned from this data?"""

from __future__ import annotations

import argparse
import time

from clustruct.text import count, duration, table

from .arguments import add_data, add_learning, labelled_sets, recipe, whole
from .evaluate import PER_SET, Scored, percent, title
from .output import print_json
from .progress import training_progress

SUMMARY = "cross-validation: how good would a model be?"
DESCRIPTION = "Train on a part of the sets and test on the rest, in turn. Sets of one group stay together."
EXAMPLES = """\
examples
  clustruct cv news.jsonl
  clustruct cv people.csv --set batch --cluster person --folds 3 --C 1"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, folds, and what a recipe takes."""
    add_data(parser)
    parser.add_argument("--folds", type=whole(2), default=5, metavar="N", help="parts of the sets (5)")
    add_learning(parser)


def run(args: argparse.Namespace) -> None:
    """Train and test in turn; every set is tested once, by a model that has not seen its group."""
    started, learner = time.perf_counter(), recipe(args)
    with training_progress(args.quiet):
        found = learner.cross_predict(labelled_sets(args), folds=args.folds)
    scored = Scored(found.sets, found.labels)
    seconds = time.perf_counter() - started
    if args.json:
        tests = [[found.sets[i].name for i in test] for test in found.folds]
        print_json({"folds": tests, "seconds": seconds, **scored.as_json()})
    else:
        _print(scored, found.folds, seconds)


def _print(scored: Scored, folds: list[list[int]], seconds: float) -> None:
    print(f"{count(len(scored.sets), 'set')} in {count(len(folds), 'fold')}, {duration(seconds)}\n")
    scores = scored.scores
    rows: list[list[object]] = [
        [f"fold {n}", len(test), *(percent(k, scores.per_set[k][test].mean()) for k in PER_SET)]
        for n, test in enumerate(folds, 1)
    ]
    rows.append(["all sets", len(scored.sets), *(percent(k, scores.mean[k]) for k in PER_SET)])
    print(table(["tested", "sets", *map(title, PER_SET)], rows))
