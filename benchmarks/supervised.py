"""Supervised correlation clustering on real data: news, mentions, records. Needs CLUSTRUCT_DATA.

``python -m benchmarks.supervised`` prints tables:

- news: mean test Delta_P of the learned similarity with default settings, of the pair classifier, and of each
  item alone; two halves by group, each in turn trains;
- litbank, gum: Table 3.3 again, trained for one loss and scored on both;
- one large set: cora as one labelled set, whole and cut by whole clusters;
- choice of C: fixed values against cross-validation.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning

from benchmarks import tasks
from benchmarks.printing import command
from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.losses import MitreLoss, PairwiseLoss
from clustruct.model_selection import split_by_clusters

warnings.filterwarnings("ignore", category=ConvergenceWarning)


def held_out(task: tasks.Task, model: Any) -> tuple[np.ndarray, float]:
    """Losses of all sets, each scored by the model trained on the other half; seconds of training."""
    losses, seconds = np.zeros(len(task.sets)), 0.0
    for train, test in task.halves():
        started = time.perf_counter()
        model.fit(*task.take(train))
        seconds += time.perf_counter() - started
        losses[test] = model.set_losses(*task.take(test))
    return losses, seconds


def news() -> list[dict[str, Any]]:
    """Items 4 of the issue: default settings against the pair classifier."""
    rows = []
    for name, fields in (("googlenews", ("title", "text")), ("uci_aggregator", ("title",))):
        task = tasks.news(name, fields)
        models = {
            "learned, defaults": SupervisedCorrelationClustering(),
            "learned, C = 1": SupervisedCorrelationClustering(C=1.0),
            "learned, C = 1, greedy prediction": SupervisedCorrelationClustering(C=1.0, predictor="greedy"),
            "pair classifier, greedy": PairwiseClassifierClustering(),
            "pair classifier, local search": PairwiseClassifierClustering(predictor="local_search"),
            "each item alone": DefaultClustering(),
        }
        for kind, model in models.items():
            losses, seconds = held_out(task, model)
            rows.append(
                {"data": name, "model": kind, "test loss": float(losses.mean()), "fit seconds": seconds}
            )
    return rows


TRAINED = {
    "pairwise": {"loss": "pairwise"},
    "MITRE": {"loss": "mitre"},
    "MITRE, slack scaling": {"loss": "mitre", "scaling": "slack"},
    "MITRE, local search as oracle": {"loss": "mitre", "oracle": "local_search"},
}


def mentions(name: str, most: int, C: float | str = "cv") -> list[dict[str, Any]]:
    """Table 3.3: trained for one loss, scored on both; paired t-tests against the pairwise model."""
    task = tasks.mentions(name, most)
    predicted = {
        f"trained for {kind}": _held_out_labels(task, C, options) for kind, options in TRAINED.items()
    }
    predicted["each item alone"] = [np.arange(len(y)) for y in task.labels]
    predicted["all in one"] = [np.zeros(len(y), int) for y in task.labels]
    losses = {"mitre": MitreLoss(), "pairwise": PairwiseLoss()}
    scores = {
        kind: {
            k: np.array([f(t, p) for t, p in zip(task.labels, answers, strict=True)])
            for k, f in losses.items()
        }
        for kind, answers in predicted.items()
    }
    base = scores["trained for pairwise"]
    return [
        {
            "data": name,
            "model": kind,
            **{k: float(v.mean()) for k, v in found.items()},
            **{
                f"p on {k}": float(ttest_rel(v, base[k]).pvalue)
                for k, v in found.items()
                if found is not base
            },
        }
        for kind, found in scores.items()
    ]


def _held_out_labels(task: tasks.Task, C: float | str, options: dict[str, Any]) -> list[np.ndarray]:
    """Predictions for all sets, each by the model trained on the other half."""
    answers: list[Any] = [None] * len(task.sets)
    for train, test in task.halves():
        model = SupervisedCorrelationClustering(C, predictor="greedy", max_iter=200, **options)
        found = model.fit(*task.take(train)).predict([task.sets[i] for i in test])
        for i, labels in zip(test, found, strict=True):
            answers[i] = labels
    return answers


def one_large_set(name: str = "cora") -> list[dict[str, Any]]:
    """Five folds as one labelled set, whole or cut by whole clusters; five folds to test."""
    task = tasks.records(name, most=10_000)
    whole = tasks.records_as_one_set(name, range(5))
    test = task.take(list(range(5, 10)))
    rows = []
    for parts in (1, 2, 5, 10, 20):
        cut = split_by_clusters(whole.labels[0], parts)
        X = [whole.sets[0].subset(p) for p in cut]
        y = [whole.labels[0][p] for p in cut]
        started = time.perf_counter()
        model = SupervisedCorrelationClustering().fit(X, y)
        seconds = time.perf_counter() - started
        rows.append(
            {
                "data": name,
                "training sets": parts,
                "items each": float(np.mean([len(p) for p in cut])),
                "C": model.C_,
                "test loss": float(model.set_losses(*test).mean()),
                "fit seconds": seconds,
            }
        )
    return rows


def choice_of_C() -> list[dict[str, Any]]:
    """The same values of C on news, records and mentions, beside cross-validation."""
    rows = []
    for task in (
        tasks.news("googlenews", ("title", "text")),
        tasks.news("uci_aggregator", ("title",)),
        *(tasks.records(name, 300) for name in ("cora", "abt_buy", "dblp_acm")),
        tasks.mentions("litbank", 150),
    ):
        row: dict[str, Any] = {"data": task.name}
        for C in (0.01, 0.1, 1.0, 10.0, 100.0, "cv"):
            losses, _ = held_out(task, SupervisedCorrelationClustering(C=C, predictor="greedy"))
            row[f"C = {C}"] = float(losses.mean())
        rows.append(row)
    return rows


def _with_data(part: Callable[[], Any]) -> Callable[[bool], Any]:
    def run(quick: bool) -> Any:
        return part() if tasks.data_folder() is not None else "CLUSTRUCT_DATA is not set: not run"

    return run


PARTS = {
    "news": _with_data(news),
    "one large set": _with_data(one_large_set),
    "litbank": _with_data(lambda: mentions("litbank", 120)),
    "gum": _with_data(lambda: mentions("gum", 120, C=1.0)),
    "choice of C": _with_data(choice_of_C),
}


if __name__ == "__main__":
    command(PARTS, __doc__)
