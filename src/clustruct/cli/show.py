"""``clustruct show``: what a model file holds."""

from __future__ import annotations

import argparse

from .data import read_model
from .main import OK
from .output import count, print_json, table
from .weights import weight_rows


def run(args: argparse.Namespace) -> int:
    """How it was trained, and its weights."""
    saved = read_model(args.model)
    held = saved.about.get("training")
    training = dict(held) if isinstance(held, dict) else {}
    rows = weight_rows(saved.object)
    if args.json:
        weights = {name: weight for name, weight, _ in rows}
        print_json({"training": training, "versions": dict(saved.versions), "weights": weights})
        return OK
    model = saved.object[-1]
    print(f"{type(model).__name__}, {count(model.n_features_in_, 'feature')}")
    for name, value in training.items():
        if value is not None:
            shown = f"{value:.4g}" if isinstance(value, float) else value
            print(f"{name.replace('_', ' ')}: {shown}")
    print("written by " + ", ".join(f"{name} {version}" for name, version in saved.versions.items()))
    if rows:
        print("\n" + table(["feature", "weight", "effect"], rows, most=args.top))
    return OK
