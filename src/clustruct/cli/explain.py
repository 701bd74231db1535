"""``clustruct explain``: what went wrong, what is least sure, and why two items are together or apart."""

from __future__ import annotations

import argparse
from typing import Any

from clustruct.exceptions import DataError
from clustruct.records import RawSet

from . import explanations
from .data import read_model, sets_as_they_are, trained_with
from .main import OK
from .output import print_json
from .progress import Progress


def run(args: argparse.Namespace) -> int:
    """One pair, or all sets."""
    saved = read_model(args.model)
    sets = _chosen(args, sets_as_they_are(args, trained_with(saved)))
    if args.pair is not None:
        found = _pair(args, saved.object, sets)
        print_json(found) if args.json else explanations.print_pair(found, args.top)
        return OK
    looked = [
        explanations.look(saved.object, raw) for raw in Progress(args.quiet).each(sets, "looking at sets")
    ]
    found = explanations.summary(looked)
    print_json(found) if args.json else explanations.print_summary(found, args.top)
    return OK


def _chosen(args: argparse.Namespace, sets: list[RawSet]) -> list[RawSet]:
    if args.within is None:
        return sets
    chosen = [raw for raw in sets if raw.name == args.within]
    if not chosen:
        some = ", ".join(raw.name for raw in sets[:5])
        raise DataError(f"there is no set {args.within!r}; there are {some}{' ...' if len(sets) > 5 else ''}")
    return chosen


def _pair(args: argparse.Namespace, pipeline: Any, sets: list[RawSet]) -> dict[str, Any]:
    holding = [raw for raw in sets if {*args.pair} <= {str(i) for i in raw.item_ids}]
    if len(holding) > 1:
        names = ", ".join(raw.name for raw in holding[:3])
        raise DataError(f"the two items are together in several sets ({names}); choose one with --in")
    if not holding:
        known = {str(i) for raw in sets for i in raw.item_ids}
        for name in args.pair:
            if name not in known:
                raise DataError(f"no item has the id {name!r}")
        raise DataError(f"no set has both {args.pair[0]!r} and {args.pair[1]!r}")
    if args.pair[0] == args.pair[1]:
        raise DataError("a pair is two different items")
    numbers = {str(name): a for a, name in enumerate(holding[0].item_ids)}
    return explanations.pair(pipeline, holding[0], numbers[args.pair[0]], numbers[args.pair[1]])
