"""The learned similarity with default settings, the choice of C, Table 3.3 with simple mention features."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.losses import MitreLoss, PairwiseLoss
from studies import tasks
from studies.results import Results

NEWS = {"googlenews": ("title", "text"), "uci_aggregator": ("title",)}
MODELS: dict[str, Any] = {
    "learned, defaults": SupervisedCorrelationClustering(),
    "learned, C = 1": SupervisedCorrelationClustering(C=1.0),
    "learned, C = 1, greedy prediction": SupervisedCorrelationClustering(C=1.0, predictor="greedy"),
    "pair classifier, greedy": PairwiseClassifierClustering(),
    "pair classifier, local search": PairwiseClassifierClustering(predictor="local_search"),
    "each item alone": DefaultClustering(),
}


def held_out(task: tasks.Task, model: Any) -> tuple[np.ndarray, float]:
    """Losses of all sets, each scored by the model trained on the other half; CPU seconds of training."""
    losses, seconds = np.zeros(len(task.sets)), 0.0
    for train, test in task.halves():
        started = time.process_time()
        model.fit(*task.take(train))
        seconds += time.process_time() - started
        losses[test] = model.set_losses(*task.take(test))
    return losses, seconds


def by_default(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Both sets of news, every model; --quick: without cross-validation, on ten sets of googlenews."""
    rows = []
    for name in ("googlenews",) if quick else NEWS:
        task = tasks.news(name, NEWS[name])
        task = task.first(10) if quick else task
        for kind, model in MODELS.items():
            if quick and kind == "learned, defaults":
                continue
            row = {"data": name, "model": kind}
            rows.append({**row, **results.get(f"{name}, {kind}", lambda t=task, m=model: _mean(t, m))})
    return rows


def _mean(task: tasks.Task, model: Any) -> dict[str, float]:
    losses, seconds = held_out(task, model)
    return {"test loss": float(losses.mean()), "CPU seconds of both fits": seconds}


TRAINED: dict[str, dict[str, Any]] = {
    "pairwise": {"loss": "pairwise"},
    "MITRE": {"loss": "mitre"},
    "MITRE, slack scaling": {"loss": "mitre", "scaling": "slack"},
    "MITRE, local search as oracle": {"loss": "mitre", "oracle": "local_search"},
}


def mentions(results: Results, quick: bool, *, name: str, C: float | str = "cv") -> list[dict[str, Any]]:
    """Table 3.3: trained for one loss, scored on both; paired t-tests against the pairwise model.

    At most 120 mentions of a document; --quick: 20, of eight documents.
    """
    task = tasks.mentions(name, 20).first(8) if quick else tasks.mentions(name, 120)
    scores = {
        f"trained for {kind}": results.get(kind, lambda o=options: _losses(task, _answers(task, C, o)))
        for kind, options in TRAINED.items()
    }
    scores["each item alone"] = _losses(task, [np.arange(len(y)) for y in task.labels])
    scores["all in one"] = _losses(task, [np.zeros(len(y), int) for y in task.labels])
    base = scores["trained for pairwise"]
    return [
        {
            "model": kind,
            **{k: float(np.mean(v)) for k, v in found.items()},
            **{f"p on {k}": _p_value(v, base[k]) for k, v in found.items() if found is not base},
        }
        for kind, found in scores.items()
    ]


def _p_value(first: list[float], second: list[float]) -> float | None:
    p = float(ttest_rel(first, second).pvalue)
    return None if np.isnan(p) else p


def _losses(task: tasks.Task, answers: list[np.ndarray]) -> dict[str, list[float]]:
    pairs = list(zip(task.labels, answers, strict=True))
    return {k: [f(t, p) for t, p in pairs] for k, f in (("mitre", MitreLoss()), ("pairwise", PairwiseLoss()))}


def _answers(task: tasks.Task, C: float | str, options: dict[str, Any]) -> list[np.ndarray]:
    """Predictions for all sets, each by the model trained on the other half."""
    answers: list[Any] = [None] * len(task.sets)
    for train, test in task.halves():
        model = SupervisedCorrelationClustering(C, predictor="greedy", max_iter=200, **options)
        found = model.fit(*task.take(train)).predict([task.sets[i] for i in test])
        for i, labels in zip(test, found, strict=True):
            answers[i] = labels
    return answers


def choice_of_C(results: Results, quick: bool) -> list[dict[str, Any]]:
    """The same values of C on news, records and mentions, beside cross-validation. --quick: googlenews."""
    makers: dict[str, Any] = {name: lambda n=name: tasks.news(n, NEWS[n]) for name in NEWS}
    makers |= {name: lambda n=name: tasks.records(n, 300) for name in ("cora", "abt_buy", "dblp_acm")}
    makers["litbank"] = lambda: tasks.mentions("litbank", 150)
    rows = []
    for name in ("googlenews",) if quick else makers:
        task, row = makers[name](), {"data": name}
        for C in (1.0,) if quick else (0.01, 0.1, 1.0, 10.0, 100.0, "cv"):
            model = SupervisedCorrelationClustering(C=C, predictor="greedy")
            row[f"C = {C}"] = results.get(
                f"{name}, C = {C}", lambda t=task, m=model: float(held_out(t, m)[0].mean())
            )
        rows.append(row)
    return rows
