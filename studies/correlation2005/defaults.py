"""The learned similarity with default settings, and the choice of C."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.estimators.baselines import DefaultClustering, PairwiseClassifierClustering
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
