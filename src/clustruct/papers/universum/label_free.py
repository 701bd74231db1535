"""Choosing C, C_universum and balance without labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
from sklearn.metrics import adjusted_rand_score, silhouette_score

from clustruct.core.typing import Indices

from .concave_convex import CCCPResult, cccp
from .margin_problem import MarginProblem, kmeans_labels, natural_scale, scores_of

Rule = Literal["stability", "silhouette", "contrast", "objective", "stable_contrast"]
RULES: tuple[Rule, ...] = ("stability", "silhouette", "contrast", "objective", "stable_contrast")
# How much less stable than the best a setting may be for the rule "stable_contrast".
STABILITY_MARGIN = 0.02
# Silhouettes are computed on this many documents.
SAMPLE = 1500


@dataclass(frozen=True)
class GridTrial:
    """One setting tried from several starts, and what each rule says about it: more is better."""

    parameters: dict[str, float]
    labelings: list[Indices] = field(repr=False)
    objectives: list[float] = field(repr=False)
    seconds: list[float] = field(repr=False)
    scores: dict[str, float]

    @property
    def labels(self) -> Indices:
        """The labels of the start that ended lowest."""
        return self.labelings[int(np.argmin(self.objectives))]


def try_grid(
    X: Any,
    universum: Any,
    n_clusters: int,
    grid: Iterable[Mapping[str, float]],
    starts: int | list[Indices] = 5,
    random_state: int = 0,
) -> list[GridTrial]:
    """Fit every setting (``C``, ``C_universum``, ``balance``) of the grid from the same starts.

    ``starts`` is a number of k-means starts, or a list of labelings to start from.

    The rules, none of which sees labels:

    - stability: mean adjusted Rand index between the clusterings that two starts end in;
    - silhouette: mean silhouette of the documents (a sample of them), mean over starts;
    - contrast: how much farther from the borders documents lie than Universum documents do, the ratio of
      the means of max_p w_p . x - mean_p w_p . x over the two sets, mean over starts (0 without Universum);
    - stable_contrast: the contrast, among settings whose stability is within 0.02 of the best;
    - objective: one minus the objective over its value C (k-1)/k at W = 0, best start.
    """
    factor = natural_scale(X)
    X = X * factor
    universum = None if universum is None else universum * factor
    first = starts if isinstance(starts, list) else kmeans_starts(X, n_clusters, starts, random_state)
    return [_trial(X, universum, n_clusters, dict(point), first) for point in grid]


def kmeans_starts(X: Any, n_clusters: int, count: int, random_state: int = 0) -> list[Indices]:
    """Labels of k-means with the seeds random_state, random_state + 1, ..."""
    return [kmeans_labels(X, n_clusters, np.random.RandomState(random_state + s)) for s in range(count)]


def choose(trials: list[GridTrial], rule: Rule) -> GridTrial:
    """The trial that the rule likes best."""
    return trials[choose_by_scores([trial.scores for trial in trials], rule)]


def choose_by_scores(scores: list[dict[str, float]], rule: Rule) -> int:
    """The number of the setting that the rule likes best."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}, not {rule!r}")
    allowed, by = list(range(len(scores))), str(rule)
    if rule == "stable_contrast":
        most = max(score["stability"] for score in scores)
        allowed, by = [i for i in allowed if scores[i]["stability"] >= most - STABILITY_MARGIN], "contrast"
    return max(allowed, key=lambda i: scores[i][by])


def _trial(X: Any, universum: Any, k: int, parameters: dict[str, float], first: list[Indices]) -> GridTrial:
    settings = {"C": 8.0, "C_universum": 1.0, "balance": 0.1, **parameters}
    problem = MarginProblem(X, k, settings["C"], settings["balance"], universum, settings["C_universum"])
    results = [cccp(problem, labels) for labels in first]
    labelings = [result.labels for result in results]
    value = min(result.objective for result in results)
    scores = {
        "stability": stability(labelings),
        "silhouette": float(np.mean([silhouette(X, labels) for labels in labelings])),
        "contrast": float(np.mean([contrast(X, universum, result) for result in results])),
        "objective": 1.0 - value / (problem.C * (k - 1) / k),
    }
    objectives, seconds = [r.objective for r in results], [r.seconds for r in results]
    return GridTrial(parameters, labelings, objectives, seconds, scores)


def stability(labelings: list[Indices]) -> float:
    """Mean adjusted Rand index of all pairs; 1 where there is one labeling only."""
    pairs = [adjusted_rand_score(a, b) for a, b in combinations(labelings, 2)]
    return float(np.mean(pairs)) if pairs else 1.0


def silhouette(X: Any, labels: Indices) -> float:
    """Mean silhouette on at most 1500 documents, evenly taken; -1 where only one cluster is left."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(SAMPLE, X.shape[0])).astype(int))
    count = len(np.unique(labels[rows]))
    if not 1 < count < len(rows):
        return -1.0
    return float(silhouette_score(X[rows], labels[rows]))


def contrast(X: Any, universum: Any, result: CCCPResult) -> float:
    """The documents' mean distance from the borders over the Universum's."""
    if universum is None:
        return 0.0
    mean = [float(_heights(scores_of(Z, result.W)).mean()) for Z in (X, universum)]
    return mean[0] / mean[1] if mean[1] > 0.0 else 0.0


def _heights(scores: Any) -> Any:
    return scores.max(axis=1) - scores.mean(axis=1)
