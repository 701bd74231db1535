"""``clustruct show``: what a model file holds."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clustruct.core.formatting import count, duration, format_table, harmless

from .arguments import SavedModel, add_model, read_model, whole
from .column_words import KIND_WORDS, holds_in_words
from .fit import weight_rows
from .output import UsageError, print_json

if TYPE_CHECKING:
    from clustruct.data import Readings
    from clustruct.estimators.training_shape import TrainingShape
    from clustruct.features.needs import FieldNeed

SUMMARY = "what a model file holds"
DESCRIPTION = (
    "Show how a model was trained, what it was shown, the fields that it needs, and its weights, largest "
    "effect first."
)
EXAMPLES = "example\n  clustruct show news.model"

TITLES = {
    "held_out_pairwise_f": "held out pairwise F",
    "held_out_low": "with 90 % confidence at least",
    "held_out_high": "and at most",
    "guess_share": "found without labels",
    "seconds": "took",
    "calibration": "probabilities, from held-out pairs",
    "field_sizes": "how much each field counts",
}
SHARES = ("held_out_pairwise_f", "held_out_low", "held_out_high", "guess_share")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The model file, and how much of it."""
    add_model(parser, required=False)
    parser.add_argument("file", nargs="?", metavar="MODEL", help="the same: the model file")
    parser.add_argument("--top", type=whole(1), default=20, metavar="N", help="weights shown (20)")


def run(args: argparse.Namespace) -> None:
    """How it was trained, what it was shown and needs, and its weights."""
    saved = read_model(_path(args))
    held = saved.about.get("training")
    training = dict(held) if isinstance(held, dict) else {}
    rows = weight_rows(saved.pipeline)
    needs: Sequence[FieldNeed] = saved.pipeline[0].needs_
    shown: TrainingShape | None = getattr(saved.pipeline[-1], "shown_", None)
    if args.json:
        weights = {name: weight for name, weight, _ in rows}
        more = {"needs": [vars(need) for need in needs], "shown": _numbers(shown)}
        print_json({"training": training, "versions": dict(saved.versions), **more, "weights": weights})
        return
    _print_training(saved, training)
    if shown is not None:
        print(_in_words(shown))
    if needs:
        table = _field_table(needs, saved.pipeline[0].readings_)
        print(f"\nfields that it needs, as they were in training\n{table}")
    if rows:
        print("\nweights\n" + format_table(["feature", "weight", "effect"], rows, most=args.top))


def _path(args: argparse.Namespace) -> str:
    """The model file, whichever way it is named."""
    if args.file is not None and args.model is not None and args.file != args.model:
        raise UsageError(f"show takes one model file, not {args.file} and --model {args.model}")
    if args.file is None and args.model is None:
        raise UsageError("show needs a model file: clustruct show FILE")
    return str(args.file or args.model)


def _print_training(saved: SavedModel, training: Mapping[str, Any]) -> None:
    model = saved.pipeline[-1]
    print(f"{type(model).__name__}, {count(model.n_features_in_, 'feature')}")
    for name, value in training.items():
        # The first line has said some of it.
        if value is not None and value is not False and name not in ("features", "learner"):
            title = TITLES.get(name, str(name).replace("_", " "))
            print(harmless(f"{title}: {_as_text(name, value)}"))
    versions = ", ".join(f"{name} {version}" for name, version in saved.versions.items())
    print(harmless(f"written by {versions}"))


def _as_text(name: str, value: object) -> object:
    """A value of the training as people say it."""
    if isinstance(value, float):
        if name == "seconds":
            return duration(value)
        return f"{100 * value:.1f} %" if name in SHARES else f"{value:.4g}"
    if name == "source" and isinstance(value, dict):
        return f"the column {value.get('field')!r}, rows of one source {value.get('within')}"
    if isinstance(value, dict):
        return ", ".join(f"{str(key).replace('_', ' ')} {_as_text('', held)}" for key, held in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _in_words(shown: TrainingShape) -> str:
    sets, clusters = _sizes(shown.set_sizes.tolist()), _sizes(shown.cluster_sizes.tolist())
    pairs = f"{_percent(shown.compared)} of the pairs compared"
    return f"shown in training: sets of {sets}, clusters of {clusters}; {pairs}"


def _sizes(quarters: Sequence[float]) -> str:
    """Least and most, and between what half of them lie."""
    least, low, _, high, most = (round(size) for size in quarters)
    if least == most:
        return count(least, "item")
    within = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{least:,} to {count(most, 'item')} (half of them {within})"


def _field_table(needs: Sequence[FieldNeed], readings: Readings) -> str:
    rows = []
    for need in needs:
        holds = holds_in_words(readings[need.name]) if need.name in readings else KIND_WORDS[need.kind]
        rows.append((need.name, holds, "-" if need.kind == "context" else _percent(need.missing)))
    return format_table(["field", "holds", "missing"], rows)


def _percent(share: float) -> str:
    """A share; what is not quite nothing or all is not said to be."""
    if 0.0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1.0 else f"{100 * share:.0f} %"


def _numbers(shown: TrainingShape | None) -> dict[str, object] | None:
    if shown is None:
        return None
    sizes = {name: getattr(shown, name).tolist() for name in ("set_sizes", "cluster_sizes")}
    return {**sizes, "compared": shown.compared}
