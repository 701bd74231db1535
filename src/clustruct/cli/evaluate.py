"""``clustruct evaluate``: how good are the predictions of a model or a file, and which of two is better."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clustruct
from clustruct.core.formatting import count, format_table

from . import searches
from .arguments import SavedModel, add_data, add_needs, labelled_sets, read_model
from .output import UsageError, print_json, print_remarks
from .progress import ProgressOutput

if TYPE_CHECKING:
    from clustruct.core.typing import LabelsLike
    from clustruct.data import Table
    from clustruct.evaluate.metrics import Evaluation, PairedComparison
    from clustruct.learning.calibration import PrecisionCurve

SUMMARY = "how good is a model? a verdict, and scores per set and over all"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = ("--set", "--id", "--cluster", "--where", "--predictions", "--against", "--all", "--curve")
DESCRIPTION = """\
Compare predicted clusters with the right ones: a verdict in one line, then pairwise precision, recall and F,
B-cubed F and the adjusted Rand index; with --all also MUC, CEAF, LEA, NMI, ...
Two models are compared set by set (Wilcoxon signed ranks, t-test)."""
EXAMPLES = """\
examples
  clustruct evaluate test.jsonl --model news.model
  clustruct evaluate test.jsonl --model news.model --against old.model
  clustruct evaluate test.jsonl --model news.model --curve precision.svg
  clustruct evaluate test.csv --set day --id url --cluster story --predictions groups.csv"""
# Losses beside the scores, as in the papers: in percent, lower is better.
LOSSES = {"pairwise_loss": "pairwise", "mitre_loss": "mitre"}
# With fewer, no outcome of Wilcoxon's test is below 0.05 (two tails).
FEWEST_GROUPS = 6
PER_SET = ("pairwise_loss", "pairwise_f1", "b_cubed_f1", "conll_f1", "adjusted_rand")
PICTURES = (".svg", ".png", ".pdf")
DOUBTFUL = (0.05, 0.95)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, and the models or predictions to judge."""
    add_data(parser)
    judged = parser.add_mutually_exclusive_group(required=True)
    judged.add_argument("--model", metavar="FILE", help="the model file")
    judged.add_argument("--predictions", metavar="FILE", help="judge the clusters of this file, not a model")
    parser.add_argument("--against", metavar="FILE", help="a second model (or predictions) to compare with")
    add_needs(parser)
    parser.add_argument("--all", action="store_true", help="print all scores, not the five that matter most")
    searches.add_rounding(parser.add_argument)
    drawn = "precision and recall by threshold, and how good probabilities are; drawn to FILE (.svg, .png)"
    parser.add_argument("--curve", nargs="?", const="", metavar="FILE", help=drawn)


def run(args: argparse.Namespace) -> None:
    """Predict, score, and compare where two are given."""
    _check_curve(args)
    saved = None if args.model is None else read_model(args.model, args.allow_missing_fields)
    searches.set_rounding(args, None if saved is None else saved.pipeline)
    other = None if args.against is None else _second(args.against, args.allow_missing_fields)
    known = saved if saved is not None or isinstance(other, str) else other
    sets = labelled_sets(args, None if known is None else known.columns)
    first = Scored(sets, _predict(saved or args.predictions, sets, args))
    second = None if other is None else Scored(sets, _predict(other, sets, args))
    recall = None if saved is None else clustruct.pipeline.blocking_recall(saved.pipeline, sets)
    drawn = None if args.curve is None or saved is None else _measure_curve(args, saved, sets)
    if drawn is not None:
        _draw_curve(args, drawn)
    if args.json:
        found = {**first.as_json(), **({} if recall is None else {"blocking": recall})}
        found |= {} if drawn is None else {"curve": drawn.as_json()}
        if second is not None:
            tests = _test_scores(first, second).items()
            found |= {"against": second.as_json(), "comparison": {name: _test(test) for name, test in tests}}
        print_json(found)
    else:
        _print(first, args.all)
        if second is not None:
            _print_comparison(args.against, first, second)
        if recall is not None:
            share, pairs = 100 * recall["recall"], f"{recall['pairs']:,} pairs in all"
            print(f"\nof the pairs that belong together {share:.2f}% were compared ({pairs})")
        if drawn is not None:
            _print_curve(args, drawn)


def _second(name: str, allow_missing_fields: bool) -> SavedModel | str:
    """The model, or the name of the predictions, to compare with."""
    with open(name, "rb") as f:
        is_model = f.read(16) == clustruct.core.storage.container.MAGIC
    return read_model(name, allow_missing_fields) if is_model else name


def _predict(
    source: SavedModel | str, sets: Sequence[Table], args: argparse.Namespace
) -> Sequence[LabelsLike]:
    """The clusters of every set, from a model or a file."""
    if isinstance(source, str):
        return clustruct.data.io.match_predictions(source, sets, args.delimiter)
    pipeline = clustruct.features.check_tables(source.pipeline, sets)
    remarks = clustruct.data.Remarks()
    labels: list[LabelsLike] = []
    for table in ProgressOutput(args.quiet).each(sets, "grouping"):
        found = clustruct.pipeline.group(pipeline, table)
        remarks.add(found)
        labels.append(found.labels)
    print_remarks(args, remarks)
    return labels


class Scored:
    """Predictions and all their scores and losses."""

    def __init__(self, sets: Sequence[Table], predicted: Sequence[LabelsLike]) -> None:
        self.sets, self.predicted = sets, predicted
        truth = [list(table.labels or ()) for table in sets]
        self.scores: Evaluation = clustruct.evaluate.metrics.evaluate(truth, predicted, LOSSES)

    def sizes(self) -> list[list[object]]:
        """Of each set: name, items, true clusters, predicted clusters."""
        return [
            [table.name, len(table), len(set(table.labels or ())), len(set(labels))]
            for table, labels in zip(self.sets, self.predicted, strict=True)
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything, by name."""
        sizes = ("set", "items", "clusters", "predicted_clusters")
        per_set = self.scores.per_set.items()
        rows = [
            {**dict(zip(sizes, row, strict=True)), **{name: values[i] for name, values in per_set}}
            for i, row in enumerate(self.sizes())
        ]
        return {"mean": self.scores.mean, "pooled": self.scores.micro, "per_set": rows}


def _print(scored: Scored, everything: bool) -> None:
    scores = scored.scores
    print(
        f"{count(len(scored.sets), 'set')}, {count(sum(map(len, scored.sets)), 'item')}: {scores.verdict()}\n"
    )
    rows = [
        [row[0] or "table", *row[1:], *(percent(name, scores.per_set[name][i]) for name in PER_SET)]
        for i, row in enumerate(scored.sizes())
    ]
    print(format_table(["set", "items", "clusters", "predicted", *map(title, PER_SET)], rows, most=20))
    print("\nover all sets (scores and losses in percent; pooled: sets counted together)")
    pooled = {name: percent(name, value) for name, value in scores.micro.items()}
    chosen = scores.mean if everything else clustruct.evaluate.metrics.evaluation.LEADING
    rows = [[title(name), percent(name, scores.mean[name]), pooled.get(name)] for name in chosen]
    print(format_table(["score", "mean", "pooled"], rows))
    if not everything:
        print(
            f"(--all: {len(scores.mean) - len(clustruct.evaluate.metrics.evaluation.LEADING)} further scores)"
        )


def _test(found: PairedComparison) -> dict[str, object]:
    names = ("difference", "n_groups", "wins", "ties", "losses")
    counted = {name: getattr(found, name) for name in names}
    return {**counted, "p_wilcoxon": found.p_two_tailed, "p_t_test": found.p_t_test}


def _test_scores(first: Scored, second: Scored) -> dict[str, PairedComparison]:
    """Every score tested over what is independent: groups of sets where there are groups, else sets."""
    from clustruct.learning.model_selection.training_tables import groups_of

    groups = groups_of(first.sets)
    n = len(first.sets if groups is None else set(groups))
    if n < FEWEST_GROUPS:
        what = count(n, "independent set" if groups is None else "independent group")
        what = f"{what} of sets" if groups is not None else what
        warnings.warn(f"two are compared over {what}: too few for a test to say much", stacklevel=2)
    return first.scores.against(second.scores, groups)


def _print_comparison(name: str, first: Scored, second: Scored) -> None:
    tests = _test_scores(first, second)
    n = next(iter(tests.values())).n_groups
    what = "sets" if n == len(first.sets) else f"means of the {n} groups of sets"
    print(f"\nagainst {name}: won, tied and lost {what}; p of Wilcoxon's signed ranks and of the t-test")
    rows = []
    for score, test in tests.items():
        means = [percent(score, one.scores.mean[score]) for one in (first, second)]
        levels = ["-" if p is None else f"{p:.3g}" for p in (test.p_two_tailed, test.p_t_test)]
        rows.append([title(score), *means, f"{test.wins}/{test.ties}/{test.losses}", *levels])
    print(format_table(["score", "mean", "against", "won/tied/lost", "p Wilcoxon", "p t-test"], rows))


def title(name: str) -> str:
    """A score as tables name it."""
    return name.replace("_", " ")


def percent(name: str, value: float) -> float:
    """Percent, but for losses (percent already) and the variation of information (nats)."""
    return float(value) * (1.0 if clustruct.evaluate.metrics.lower_is_better(name) else 100.0)


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
        at = {"thresholds": self.held_out.thresholds, "probability": self.probability}
        quality = {"calibration_error": self.error, "brier_skill": self.skill, "doubtful": self.doubtful}
        return at | curves | quality


def _check_curve(args: argparse.Namespace) -> None:
    """What does not go together."""
    if args.curve is None:
        return
    if args.model is None:
        raise UsageError("--curve goes with --model")
    if args.curve:
        clustruct.core.storage.check_target(Path(args.curve), [*args.data, args.model])
        if Path(args.curve).suffix.lower() not in PICTURES:
            raise UsageError(f"--curve draws to {', '.join(PICTURES)}, not to {args.curve}")


def _measure_curve(args: argparse.Namespace, saved: SavedModel, sets: Sequence[Table]) -> Curve:
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


def _print_curve(args: argparse.Namespace, curve: Curve) -> None:
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


def _draw_curve(args: argparse.Namespace, curve: Curve) -> None:
    """The picture, where it has a file."""
    if not args.curve:
        return
    from matplotlib.figure import Figure

    display = clustruct.evaluate.plot.PrecisionDisplay(curve.held_out, curve.here)
    ax = Figure(figsize=(5.6, 4.2), layout="constrained").subplots()
    with clustruct.core.storage.targets.replacing(Path(args.curve)) as file:
        kind = Path(args.curve).suffix.lower().removeprefix(".")
        display.plot(ax=ax).figure_.savefig(file, format=kind)
