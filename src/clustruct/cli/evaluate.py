"""``clustruct evaluate``: how good are the predictions of a model or a file, and which of two is better."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table

from . import curve, searches
from .arguments import Model, add_data, add_needs, labelled_sets, read_model
from .output import print_json
from .progress import ProgressOutput

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.core.typing import LabelsLike
    from clustruct.data import Table
    from clustruct.evaluate.metrics import Evaluation, PairedComparison

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
    curve.add_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Predict, score, and compare where two are given."""
    curve.check(args)
    saved = None if args.model is None else read_model(args.model, args.allow_missing_fields)
    searches.set_rounding(args, None if saved is None else saved.pipeline)
    other = None if args.against is None else _second(args.against, args.allow_missing_fields)
    known = saved if saved is not None or isinstance(other, str) else other
    sets = labelled_sets(args, None if known is None else known.columns)
    first = Scored(sets, _predicted(saved or args.predictions, sets, args))
    second = None if other is None else Scored(sets, _predicted(other, sets, args))
    recall = None if saved is None else blocking_recall(saved.pipeline, sets)
    drawn = None if args.curve is None or saved is None else curve.found(args, saved, sets)
    if drawn is not None:
        curve.draw(args, drawn)
    if args.json:
        found = {**first.as_json(), **({} if recall is None else {"blocking": recall})}
        found |= {} if drawn is None else {"curve": drawn.as_json()}
        if second is not None:
            tests = _compared(first, second).items()
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
            curve.show(args, drawn)


def _second(name: str, allow_missing_fields: bool) -> Model | str:
    """The model, or the name of the predictions, to compare with."""
    with open(name, "rb") as f:
        is_model = f.read(16) == clustruct.core.storage.container.MAGIC
    return read_model(name, allow_missing_fields) if is_model else name


def _predicted(source: Model | str, sets: Sequence[Table], args: argparse.Namespace) -> Sequence[LabelsLike]:
    """The clusters of every set, from a model or a file."""
    if isinstance(source, str):
        return clustruct.data.io.match_predictions(source, sets, args.delimiter)
    pipeline = clustruct.features.check_tables(source.pipeline, sets)
    group = clustruct.pipeline.group
    return [group(pipeline, table).labels for table in ProgressOutput(args.quiet).each(sets, "grouping")]


def blocking_recall(pipeline: Pipeline, sets: Iterable[Table]) -> dict[str, float] | None:
    """How many pairs are compared in sets large enough for blocking, and the share of the right ones."""
    blocking = getattr(pipeline[0], "blocking_", None)
    large = [table for table in sets if blocking is not None and blocking.lists(table)]
    if blocking is None or not large:
        return None
    pairs = [blocking.pairs(table) for table in large]
    shares = [
        clustruct.features.pair_recall(table, listed) for table, listed in zip(large, pairs, strict=True)
    ]
    return {"sets": len(large), "pairs": sum(map(len, pairs)), "recall": sum(shares) / len(shares)}


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


def _compared(first: Scored, second: Scored) -> dict[str, PairedComparison]:
    """Every score tested over what is independent: groups of sets where there are groups, else sets."""
    from clustruct.learning.model_selection.training_tables import groups_of

    groups = groups_of(first.sets)
    n = len(first.sets if groups is None else set(groups))
    if n < FEWEST_GROUPS:
        what = count(n, "independent set" if groups is None else "independent group")
        said = f"{what} of sets" if groups is not None else what
        warnings.warn(f"two are compared over {said}: too few for a test to say much", stacklevel=2)
    return first.scores.against(second.scores, groups)


def _print_comparison(name: str, first: Scored, second: Scored) -> None:
    tests = _compared(first, second)
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
