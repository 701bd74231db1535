"""``clustruct fit``: learn from sets whose groups are known."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from clustruct.records import RawSet
from clustruct.storage import save
from clustruct.storage.atomic import check_target

from . import learning
from .data import about, labelled_sets
from .main import INTERRUPTED, OK
from .output import count, print_json, table
from .progress import Progress, duration
from .weights import weight_rows


def run(args: argparse.Namespace) -> int:
    """Read, learn, write the model, and say what was learned."""
    check_target(Path(args.model), args.data)
    started, progress = time.perf_counter(), Progress(args.quiet)
    sets = labelled_sets(args)
    learning.check_learnable(sets)
    whole = len(sets)
    if whole == 1:
        sets = learning.cut(sets[0], args)
    pipeline = learning.train(args, sets, progress)
    found = _summary(pipeline, sets, time.perf_counter() - started)
    save(args.model, pipeline, about={"columns": about(args), "training": found})
    if args.json:
        print_json({"model": str(args.model), **found, "weights": _weights(pipeline)})
    else:
        _print(args, pipeline, found, cut=whole == 1)
    return INTERRUPTED if found["interrupted"] else OK


def _summary(pipeline: Pipeline, sets: list[RawSet], seconds: float) -> dict[str, Any]:
    model = pipeline[-1]
    result, held_out = getattr(model, "result_", None), getattr(model, "cv_results_", {})
    found = {
        "sets": len(sets),
        "items": sum(len(raw) for raw in sets),
        "features": int(model.n_features_in_),
        "learner": type(model).__name__,
        "loss": str(model.loss),
        "C": getattr(model, "C_", None),
        "held_out_loss": None,
        "rounds": None if result is None else result.n_iter,
        "gap": None if result is None else result.gap,
        "stop_reason": None if result is None else result.stop_reason,
        "interrupted": learning.interrupted(pipeline),
        "seconds": seconds,
    }
    if "mean_loss" in held_out:
        found["held_out_loss"] = float(min(held_out["mean_loss"]))
    return {k: None if isinstance(v, float) and not abs(v) < float("inf") else v for k, v in found.items()}


def _weights(pipeline: Pipeline) -> dict[str, float]:
    return {name: weight for name, weight, _ in weight_rows(pipeline)}


def _print(args: argparse.Namespace, pipeline: Pipeline, found: dict[str, Any], cut: bool) -> None:
    sets, items = count(found["sets"], "set"), count(found["items"], "item")
    how = " (one table cut by whole clusters)" if cut else ""
    print(f"learned from {sets} with {items}{how} in {duration(found['seconds'])}")
    rows = weight_rows(pipeline)[:8]
    if rows:
        print(f"\n{count(found['features'], 'feature')}; the strongest, by weight times usual size:")
        print(table(["feature", "weight", "effect"], rows))
    if found["C"] is not None:
        chosen = "" if found["held_out_loss"] is None else f", held-out loss {found['held_out_loss']:.2f}"
        print(f"\nC = {found['C']:g}{chosen}, {found['rounds']} rounds, {found['stop_reason']}")
    print(f"model written to {args.model}")
    if found["interrupted"]:
        print("clustruct: interrupted; the model so far was kept", file=sys.stderr)
