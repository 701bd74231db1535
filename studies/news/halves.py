"""News and author names: default features, two halves by group, each in turn trains."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.data import Table
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.evaluate.metrics import evaluate
from clustruct.features import PairFeatures, guess_blocks
from studies import raw_data
from studies.records.folds import labels_of
from studies.results import Results

# The kind of features and the fields that are looked at (None: whatever the guess finds).
TASKS: dict[str, tuple[Any, list[str] | None]] = {
    "googlenews": ("text", ["title", "text"]),
    "uci_aggregator": ("text", ["title"]),
    "ecbplus_articles": ("text", ["title", "text"]),
    "author_names": ("records", None),
}


# 36 training sets of up to 484 publications: the choice of C by cross-validation takes too long for a study.
FIXED_C = {"author_names": (1.0,)}


def halves(sets: list[Table]) -> list[tuple[list[int], list[int]]]:
    """Sorted groups, even against odd; each half in turn trains."""
    even = set(sorted({table.group for table in sets}, key=str)[::2])
    first = [i for i, table in enumerate(sets) if table.group in even]
    second = [i for i, table in enumerate(sets) if table.group not in even]
    return [(first, second), (second, first)]


def compare(name: str, quick: bool) -> list[dict[str, Any]]:
    """The learned similarity and the pair classifier on the same features."""
    kind, fields = TASKS[name]
    sets = raw_data.item_sets(raw_data.PATHS[name])
    sets = sets[::4] if quick and len(sets) > 12 else sets
    truth = labels_of(sets)
    models = {
        "learned": SupervisedCorrelationClustering(*FIXED_C.get(name, ())),
        "pair classifier": PairwiseClassifierClustering(predictor="local_search"),
    }
    answers: dict[str, list[Any]] = {key: [None] * len(sets) for key in models}
    for train, test in halves(sets):
        known = [sets[i] for i in train]
        features = PairFeatures(guess_blocks(known, kind, fields)).fit(known)
        X, Z = features.transform(known), features.transform([sets[i] for i in test])
        for key, model in models.items():
            found = model.fit(X, [truth[i] for i in train]).predict(Z)
            for i, labels in zip(test, found, strict=True):
                answers[key][i] = labels
    return [_row(name, key, truth, found, X[0].n_features) for key, found in answers.items()]


def _row(name: str, model: str, truth: Any, found: Any, features: int) -> dict[str, Any]:
    scored = evaluate(truth, found).mean
    return {
        "data": name,
        "model": model,
        "features": features,
        "wrong pairs %": 100.0 * (1.0 - scored["rand"]),
        "pairwise F": 100.0 * scored["pairwise_f1"],
        "B-cubed": 100.0 * scored["b_cubed_f1"],
        "NMI": float(np.round(scored["normalized_mutual_information"], 4)),
    }


def two_halves(results: Results, quick: bool) -> list[dict[str, Any]]:
    """A row per data set and model; --quick: a quarter of the sets of googlenews."""
    names = list(TASKS)[:1] if quick else list(TASKS)
    return [row for name in names for row in results.get(name, lambda n=name: compare(n, quick))]
