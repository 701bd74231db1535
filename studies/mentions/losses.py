"""Mentions: models trained for different losses beside the pair classifier; half of the documents train."""

from __future__ import annotations

from functools import partial
from typing import Any

from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import PairwiseClassifierClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.metrics import compare_paired, evaluate
from studies import raw_data
from studies.records.folds import labels_of
from studies.results import Results

SCORES = {
    "MUC": "muc_f1",
    "B-cubed": "b_cubed_f1",
    "CEAF-m": "ceaf_mention_f1",
    "CEAF-e": "ceaf_entity_f1",
    "LEA": "lea_f1",
    "CoNLL": "conll_f1",
    "pairwise F": "pairwise_f1",
}
# Lower is better: in percent, and in nats.
ERRORS = ("wrong pairs %", "VI")
# What each loss is judged by.
OWN = {
    "pairwise": "wrong pairs %",
    "pairwise F": "pairwise F",
    "MITRE": "MUC",
    "B-cubed": "B-cubed",
    "CEAF-m": "CEAF-m",
    "CEAF-e": "CEAF-e",
    "LEA": "LEA",
    "VI": "VI",
}
NAMES = {
    "pairwise F": "pairwise_f",
    "MITRE": "mitre",
    "purity": "purity",
    "B-cubed": "b_cubed",
    "CEAF-m": "ceaf_mention",
    "CEAF-e": "ceaf_entity",
    "LEA": "lea",
    "VI": "variation_of_information",
}


def _slack(loss: str) -> SupervisedCorrelationClustering:
    return SupervisedCorrelationClustering(1.0, loss=loss, scaling="slack", predictor="greedy", max_iter=200)


MODELS: dict[str, Any] = {
    "pairwise": SupervisedCorrelationClustering(1.0, max_iter=200),
    **{
        title: SupervisedCorrelationClustering(1.0, loss=loss, max_iter=200)
        for title, loss in NAMES.items()
        if title not in ("MITRE", "purity")
    },
    **{f"{title}, slack scaling": _slack(loss) for title, loss in NAMES.items()},
    "pair classifier": PairwiseClassifierClustering(predictor="local_search"),
}


def compare(results: Results, name: str, most: int, documents: int) -> list[dict[str, Any]]:
    """Documents 0, 2, 4 ... train, the others test; at most so many mentions of a document."""
    sets = [raw for raw in raw_data.documents(name, most)[:documents] if len(raw) > 1]
    train, test = sets[::2], sets[1::2]
    features = PairFeatures(guess_blocks(train)).fit(train)
    X, Z = features.transform(train), features.transform(test)
    y, truth = labels_of(train), labels_of(test)
    made = {
        key: results.get(key, partial(_fitted_scores, model, X, y, Z, truth)) for key, model in MODELS.items()
    }
    return [
        {"trained for": key, **_means(found), **_beside_the_best(key, made)} for key, found in made.items()
    ]


def _fitted_scores(model: Any, X: Any, y: Any, Z: Any, truth: Any) -> dict[str, list[float]]:
    return _scores(model.fit(X, y).predict(Z), truth)


def _scores(found: Any, truth: Any) -> dict[str, list[float]]:
    """Of each document."""
    scored = evaluate(truth, found).per_set
    percent = {title: (100.0 * scored[score]).tolist() for title, score in SCORES.items()}
    return {
        **percent,
        "wrong pairs %": (100.0 * (1.0 - scored["rand"])).tolist(),
        "VI": scored["variation_of_information"].tolist(),
    }


def _means(found: dict[str, list[float]]) -> dict[str, float]:
    return {title: sum(values) / len(values) for title, values in found.items()}


def _beside_the_best(key: str, made: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """How far the model is behind the best one on the score that it was trained for, and the two-tailed level
    of Wilcoxon's signed ranks over documents.
    """
    own = OWN.get(key.removesuffix(", slack scaling"))
    if own is None:
        return {"behind the best": None, "p": None}
    lower = own in ERRORS
    means = {other: _means(found)[own] for other, found in made.items()}
    best = min(means, key=lambda other: means[other] if lower else -means[other])
    test = compare_paired(made[key][own], made[best][own], lower_wins=lower)
    return {"behind the best": abs(means[key] - means[best]), "p": test.p_two_tailed}


def by_loss(results: Results, quick: bool, *, name: str) -> list[dict[str, Any]]:
    """At most 120 mentions of at most 100 documents; --quick: 30 of six documents."""
    return compare(results, name, *((30, 6) if quick else (120, 100)))
