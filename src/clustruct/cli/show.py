"""``clustruct show``: what a model file holds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from clustruct.text import count, harmless, table

from .arguments import Model, add_model, read_model, whole
from .fit import weight_rows
from .output import print_json

SUMMARY = "what a model file holds"
DESCRIPTION = "Show how a model was trained and its weights, largest effect first."
EXAMPLES = "example\n  clustruct show --model news.model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model file, and how much of it."""
    add_model(parser)
    parser.add_argument("--top", type=whole(1), default=20, metavar="N", help="weights shown (20)")


def run(args: argparse.Namespace) -> None:
    """How it was trained, and its weights."""
    saved = read_model(args.model)
    held = saved.about.get("training")
    training = dict(held) if isinstance(held, dict) else {}
    rows = weight_rows(saved.pipeline)
    if args.json:
        weights = {name: weight for name, weight, _ in rows}
        print_json({"training": training, "versions": dict(saved.versions), "weights": weights})
    else:
        _print(saved, training)
        if rows:
            print("\n" + table(["feature", "weight", "effect"], rows, most=args.top))


def _print(saved: Model, training: Mapping[str, object]) -> None:
    model = saved.pipeline[-1]
    print(f"{type(model).__name__}, {count(model.n_features_in_, 'feature')}")
    for name, value in training.items():
        if value is not None:
            said = f"{value:.4g}" if isinstance(value, float) else value
            print(harmless(f"{str(name).replace('_', ' ')}: {said}"))
    versions = ", ".join(f"{name} {version}" for name, version in saved.versions.items())
    print(harmless(f"written by {versions}"))
