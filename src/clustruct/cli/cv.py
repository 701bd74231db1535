"""``clustruct cv``: how good would a model be that is learned from this data?"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from clustruct.model_selection.choose_c import split_sets
from clustruct.records import RawSet

from . import learning
from .data import groups_of, labelled_sets
from .evaluate import PER_SET, Scored, percent
from .main import INTERRUPTED, OK
from .output import count, print_json, table
from .progress import Progress, duration


def run(args: argparse.Namespace) -> int:
    """Train and test in turn; every set is tested once, by a model that has not seen its group."""
    progress, started = Progress(args.quiet), time.perf_counter()
    sets = labelled_sets(args)
    learning.check_learnable(sets)
    if len(sets) == 1:
        sets = learning.cut(sets[0], args, least=2 * args.folds)
    if len(sets) < 2:
        raise ValueError("cross-validation needs two sets at least")
    predicted: list[Any] = [None] * len(sets)
    folds = list(split_sets(len(sets), args.folds, args.seed, groups_of(sets)))
    for train, test in folds:
        pipeline = learning.train(args, [sets[i] for i in train], progress)
        if learning.interrupted(pipeline):
            return INTERRUPTED
        for i in test:
            predicted[i] = pipeline.predict([sets[i]])[0]
    scored = Scored(sets, predicted)
    seconds = time.perf_counter() - started
    if args.json:
        tests = [[sets[i].name for i in test] for _, test in folds]
        print_json({"folds": tests, "seconds": seconds, **scored.as_json()})
    else:
        _print(sets, folds, scored, seconds)
    return OK


def _print(sets: list[RawSet], folds: list[Any], scored: Scored, seconds: float) -> None:
    print(f"{count(len(sets), 'set')} in {count(len(folds), 'fold')}, {duration(seconds)}\n")
    titles = [name.replace("_", " ") for name in PER_SET]
    rows = [
        [f"fold {n}", len(test)] + [percent(k, float(np.mean(scored.per_set[k][test]))) for k in PER_SET]
        for n, (_, test) in enumerate(folds, 1)
    ]
    rows.append(["all sets", len(sets)] + [percent(k, scored.mean[k]) for k in PER_SET])
    print(table(["tested", "sets", *titles], rows))
