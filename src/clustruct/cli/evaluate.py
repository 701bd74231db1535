"""``clustruct evaluate``: how good are the predictions of a model or a file, and which of two is better."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.features import pair_recall
from clustruct.io import match_predictions
from clustruct.losses import MitreLoss, PairwiseLoss
from clustruct.metrics import Evaluation, evaluate
from clustruct.records import RawSet
from clustruct.storage import StoredFile
from clustruct.storage.container import MAGIC

from .data import labelled_sets, read_model, trained_with
from .main import OK
from .output import count, print_json, table
from .progress import Progress

# Losses beside the scores, as in the papers: in percent, lower is better.
LOSSES: dict[str, Any] = {"pairwise_loss": PairwiseLoss(), "mitre_loss": MitreLoss()}
PER_SET = ("pairwise_loss", "pairwise_f1", "b_cubed_f1", "conll_f1", "adjusted_rand")


def run(args: argparse.Namespace) -> int:
    """Predict, score, and compare where two are given."""
    progress = Progress(args.quiet)
    saved = read_model(args.model) if args.model else None
    other = _second(args.against)
    source = saved or (other if isinstance(other, StoredFile) else None)
    sets = labelled_sets(args, trained_with(source) if source else None)
    first = Scored(sets, predictions(saved or args.predictions, sets, args, progress))
    second = None if other is None else Scored(sets, predictions(other, sets, args, progress))
    recall = None if saved is None else blocking_recall(saved.object, sets)
    found = {**first.as_json(), **({} if recall is None else {"blocking": recall})}
    if second is not None:
        found["against"] = second.as_json()
        found["comparison"] = compare_scores(first.per_set, second.per_set)
    if args.json:
        print_json(found)
    else:
        _print(args, first, second)
        if recall is not None:
            share = 100 * recall["recall"]
            pairs = f"{recall['pairs']:,} pairs in all"
            print(f"\nof the pairs that belong together {share:.2f}% were compared ({pairs})")
    return OK


def _second(name: str | None) -> StoredFile[Pipeline] | str | None:
    """The model, or the name of the predictions, to compare with."""
    if name is None:
        return None
    with open(name, "rb") as f:
        return read_model(name) if f.read(len(MAGIC)) == MAGIC else name


def predictions(
    source: Any, sets: Sequence[RawSet], args: argparse.Namespace, progress: Progress
) -> list[Any]:
    """The clusters of every set, from a model or a file."""
    if not isinstance(source, StoredFile):
        return match_predictions(source, sets, args.delimiter)
    return [source.object.predict([raw])[0] for raw in progress.each(sets, "grouping")]


def blocking_recall(pipeline: Any, sets: Sequence[RawSet]) -> dict[str, Any] | None:
    """How many pairs are compared in sets large enough for blocking, and the share of the right ones."""
    blocking = getattr(pipeline[0], "blocking_", None)
    large = [raw for raw in sets if blocking is not None and blocking.lists(raw)]
    if blocking is None or not large:
        return None
    pairs = [blocking.pairs(raw) for raw in large]
    shares = [pair_recall(raw, listed) for raw, listed in zip(large, pairs, strict=True)]
    return {"sets": len(large), "pairs": sum(map(len, pairs)), "recall": float(np.mean(shares))}


class Scored:
    """All scores and losses of predictions, per set and over all."""

    def __init__(self, sets: Sequence[RawSet], predicted: Sequence[Any]) -> None:
        self.sets, self.predicted = sets, predicted
        truth = [list(raw.labels or ()) for raw in sets]
        self.scores: Evaluation = evaluate(truth, predicted)
        losses = {
            name: np.array([loss(t, p) for t, p in zip(truth, predicted, strict=True)])
            for name, loss in LOSSES.items()
        }
        self.per_set: dict[str, Any] = {**losses, **self.scores.per_set}
        self.mean = {name: float(values.mean()) for name, values in self.per_set.items()}

    def as_json(self) -> dict[str, Any]:
        """Everything, by name."""
        rows = [
            {
                "set": raw.name,
                "items": len(raw),
                "clusters": len(set(raw.labels or ())),
                "predicted_clusters": len(set(np.asarray(p).tolist())),
                **{name: values[i] for name, values in self.per_set.items()},
            }
            for i, (raw, p) in enumerate(zip(self.sets, self.predicted, strict=True))
        ]
        return {"mean": self.mean, "pooled": dict(self.scores.micro), "per_set": rows}


def compare_scores(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Paired tests of each score over the sets: who wins how often, Wilcoxon and t-test (two-sided)."""
    return {name: _paired(values, second[name], name) for name, values in first.items()}


def _paired(a: Any, b: Any, name: str) -> dict[str, Any]:
    from scipy.stats import ttest_rel

    from clustruct.model_selection.nested_cv import compare

    lower = name.endswith("_loss") or name == "variation_of_information"
    won = compare(a, b) if lower else compare(-np.asarray(a), -np.asarray(b))
    spread = float(np.ptp(np.asarray(a) - np.asarray(b))) if len(a) > 1 else 0.0
    return {
        "difference": float(np.mean(a) - np.mean(b)),
        "wins": won.wins,
        "ties": won.ties,
        "losses": won.losses,
        "p_wilcoxon": min(1.0, 2.0 * won.p_wilcoxon),
        "p_t_test": float(ttest_rel(a, b).pvalue) if spread > 0.0 else None,
    }


def _print(args: argparse.Namespace, first: Scored, second: Scored | None) -> None:
    print(f"{count(len(first.sets), 'set')}, {count(sum(len(r) for r in first.sets), 'item')}\n")
    rows = [
        [raw.name or "table", len(raw), len(set(raw.labels or ())), len(set(np.asarray(p).tolist()))]
        + [percent(name, first.per_set[name][i]) for name in PER_SET]
        for i, (raw, p) in enumerate(zip(first.sets, first.predicted, strict=True))
    ]
    titles = [name.replace("_", " ") for name in PER_SET]
    print(table(["set", "items", "clusters", "predicted", *titles], rows, most=20))
    pooled = first.scores.micro
    print("\nover all sets (scores and losses in percent; pooled: sets counted together)")
    print(
        table(
            ["score", "mean", "pooled"],
            [
                [
                    name.replace("_", " "),
                    percent(name, value),
                    percent(name, pooled[name]) if name in pooled else None,
                ]
                for name, value in first.mean.items()
            ],
        )
    )
    if second is not None:
        _print_comparison(args, first, second)


def _print_comparison(args: argparse.Namespace, first: Scored, second: Scored) -> None:
    found = compare_scores(first.per_set, second.per_set)
    print(
        f"\nagainst {args.against}: won, tied and lost sets; p of Wilcoxon's signed ranks and of the t-test"
    )
    rows = []
    for name, test in found.items():
        p_t = "-" if test["p_t_test"] is None else f"{test['p_t_test']:.3g}"
        counts = f"{test['wins']}/{test['ties']}/{test['losses']}"
        row = [name.replace("_", " "), percent(name, first.mean[name]), percent(name, second.mean[name])]
        rows.append([*row, counts, f"{test['p_wilcoxon']:.3g}", p_t])
    print(table(["score", "mean", "against", "won/tied/lost", "p Wilcoxon", "p t-test"], rows))


def percent(name: str, value: float) -> float:
    """Percent, but for losses (percent already) and the variation of information (nats)."""
    return (
        float(value) if name.endswith("_loss") or name == "variation_of_information" else 100.0 * float(value)
    )
