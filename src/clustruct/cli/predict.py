"""``clustruct predict``: group new sets."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustruct.io import Prediction, prediction_lines, write_predictions
from clustruct.records import RawSet
from clustruct.storage.atomic import check_target

from .data import read_model, trained_with, unlabelled_sets
from .main import OK
from .output import count, print_json
from .progress import Progress


def run(args: argparse.Namespace) -> int:
    """Read set by set, group, write."""
    if args.out is not None:
        check_target(Path(args.out), [*args.data, args.model])
    saved = read_model(args.model)
    progress = Progress(args.quiet or (args.out is None and sys.stdout.isatty()))
    given = progress.counted(unlabelled_sets(args, trained_with(saved)), "grouping")
    done = _Counted(_predictions(saved.object, given, args.confidence))
    if args.json:
        answers = [
            {"set": raw.name, "ids": raw.ids, "clusters": labels, **more} for raw, labels, more in done
        ]
        print_json({"model": str(args.model), "sets": answers})
    elif args.out is None:
        # Nothing is printed before all is known: a fault must not leave half a file behind a "> file".
        sys.stdout.writelines(list(prediction_lines(done)))
    if args.out is not None:
        write_predictions(args.out, done)
        if not args.quiet and not args.json:
            items, sets = count(done.items, "item"), count(done.sets, "set")
            print(f"{items} of {sets} in {count(done.clusters, 'cluster')}")
            print(f"written to {args.out}")
    return OK


def _predictions(pipeline: Any, sets: Iterator[RawSet], sure: bool) -> Iterator[Prediction]:
    for raw in sets:
        x = pipeline[0].transform([raw])[0]
        labels = pipeline[-1].predict([x])[0]
        more = {"confidence": _confidence(pipeline[-1], x, labels)} if sure else {}
        yield raw, labels, more


def _confidence(model: Any, x: Any, labels: Any) -> Any:
    """The score lost by the best other place of each item."""
    from clustruct.explain import item_confidence, objective_of

    return item_confidence(model.decision_function([x])[0], labels, objective_of(model)).confidence


class _Counted:
    """Predictions passed on, and counted."""

    def __init__(self, predictions: Iterator[Prediction]) -> None:
        self.predictions = predictions
        self.sets = self.items = self.clusters = 0

    def __iter__(self) -> Iterator[Prediction]:
        for raw, labels, more in self.predictions:
            self.sets, self.items = self.sets + 1, self.items + len(raw)
            self.clusters += len(set(labels))
            yield raw, labels, more
