"""``clustruct evaluate --curve``: what precision costs in recall, and how good the probabilities are."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clustruct
from clustruct.core.formatting import format_table

from .arguments import Model
from .output import UsageError
from .progress import ProgressOutput

if TYPE_CHECKING:
    from clustruct.data import Table
    from clustruct.learning.calibration import PrecisionCurve

PICTURES = (".svg", ".png", ".pdf")
DOUBTFUL = (0.05, 0.95)


class Curve(NamedTuple):
    """Precision and recall by threshold of held-out clusters and of the data, and how good probabilities are.

    error : calibration error of the pairs with a probability between .05 and .95, of which there are doubtful
    """

    held_out: PrecisionCurve
    here: PrecisionCurve
    probability: list[float]
    error: float
    skill: float
    doubtful: int

    def as_json(self) -> dict[str, Any]:
        """All numbers."""
        curves = {
            name: {"precision": one.precision, "recall": one.recall, "lower": one.lower}
            for name, one in (("held_out", self.held_out), ("here", self.here))
        }
        told = {"thresholds": self.held_out.thresholds, "probability": self.probability, **curves}
        return {**told, "calibration_error": self.error, "brier_skill": self.skill, "doubtful": self.doubtful}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Whether the curve is shown, and where it is drawn."""
    said = "precision and recall by threshold, and how good probabilities are; drawn to FILE (.svg, .png)"
    parser.add_argument("--curve", nargs="?", const="", metavar="FILE", help=said)


def check(args: argparse.Namespace) -> None:
    """What does not go together."""
    if args.curve is None:
        return
    if args.model is None:
        raise UsageError("--curve goes with --model")
    if args.curve:
        clustruct.core.storage.check_target(Path(args.curve), [*args.data, args.model])
        if Path(args.curve).suffix.lower() not in PICTURES:
            raise UsageError(f"--curve draws to {', '.join(PICTURES)}, not to {args.curve}")


def found(args: argparse.Namespace, saved: Model, sets: Sequence[Table]) -> Curve:
    """The curve on labelled sets."""
    try:
        model = saved.pipeline[-1]
        if not hasattr(model, "probabilities"):
            raise ValueError(f"{type(model).__name__} has no probabilities")
        held_out = model.probabilities().curve
    except ValueError as error:
        raise ValueError(f"{args.model}: {error}") from None
    pipeline = clustruct.features.check_tables(saved.pipeline, sets)
    each = ProgressOutput(args.quiet).each(sets, "curve")
    here, same, p = clustruct.pipeline.judge_pairs(pipeline, each, held_out.thresholds)
    metrics, doubtful = clustruct.evaluate.metrics, (p > DOUBTFUL[0]) & (p < DOUBTFUL[1])
    off = metrics.calibration_error(same, p, between=DOUBTFUL)
    known = model.calibration_.probability(held_out.thresholds).tolist()
    return Curve(held_out, here, known, off, metrics.brier_skill(same, p), int(doubtful.sum()))


def show(args: argparse.Namespace, curve: Curve) -> None:
    """The table."""
    held, here = curve.held_out, curve.here
    columns = (curve.probability, held.precision, held.lower, held.recall, here.precision, here.recall)
    rows = [[f"{v:.3f}" for v in row] for row in zip(*columns, strict=True)]
    print("\npairs put together, by threshold (a probability): on held-out clusters, and on this data")
    print(
        format_table(["threshold", "precision", "at least", "recall", "precision here", "recall here"], rows)
    )
    print(
        f"\nprobabilities of the compared pairs: calibration error {100 * curve.error:.1f} % over "
        f"{curve.doubtful:,} doubtful ones (.05 to .95), Brier skill {curve.skill:.3f}"
    )
    if args.curve and not args.quiet:
        print(f"drawn to {args.curve}")


def draw(args: argparse.Namespace, curve: Curve) -> None:
    """The picture, where it has a file."""
    if not args.curve:
        return
    from matplotlib.figure import Figure

    display = clustruct.evaluate.plot.PrecisionDisplay(curve.held_out, curve.here)
    ax = Figure(figsize=(5.6, 4.2), layout="constrained").subplots()
    with clustruct.core.storage.targets.replacing(Path(args.curve)) as file:
        kind = Path(args.curve).suffix.lower().removeprefix(".")
        display.plot(ax=ax).figure_.savefig(file, format=kind)
