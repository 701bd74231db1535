"""Mentions: models trained for different losses beside the pair classifier; half of the documents train."""

from __future__ import annotations

from typing import Any

from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import PairwiseClassifierClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.metrics import evaluate
from studies import raw_data
from studies.records.folds import labels_of
from studies.results import Results

SCORES = {
    "MUC": "muc_f1",
    "B-cubed": "b_cubed_f1",
    "CEAF-e": "ceaf_entity_f1",
    "LEA": "lea_f1",
    "CoNLL": "conll_f1",
    "pairwise F": "pairwise_f1",
}
MODELS: dict[str, Any] = {
    "pairwise": SupervisedCorrelationClustering(1.0, max_iter=200),
    "MITRE, slack scaling": SupervisedCorrelationClustering(
        1.0, loss="mitre", scaling="slack", predictor="greedy", max_iter=200
    ),
    "purity, slack scaling": SupervisedCorrelationClustering(
        1.0, loss="purity", scaling="slack", predictor="greedy", max_iter=200
    ),
    "pair classifier": PairwiseClassifierClustering(predictor="local_search"),
}


def compare(results: Results, name: str, most: int, documents: int) -> list[dict[str, Any]]:
    """Documents 0, 2, 4 ... train, the others test; at most so many mentions of a document."""
    sets = [raw for raw in raw_data.documents(name, most)[:documents] if len(raw) > 1]
    train, test = sets[::2], sets[1::2]
    features = PairFeatures(guess_blocks(train)).fit(train)
    X, Z = features.transform(train), features.transform(test)
    y, truth = labels_of(train), labels_of(test)
    return [
        {"trained for": key, **results.get(key, lambda m=model: _scores(m.fit(X, y).predict(Z), truth))}
        for key, model in MODELS.items()
    ]


def _scores(found: Any, truth: Any) -> dict[str, float]:
    scored = evaluate(truth, found).mean
    means = {title: 100.0 * scored[score] for title, score in SCORES.items()}
    return {**means, "wrong pairs %": 100.0 * (1.0 - scored["rand"])}


def by_loss(results: Results, quick: bool, *, name: str) -> list[dict[str, Any]]:
    """At most 120 mentions of at most 100 documents; --quick: 30 of six documents."""
    return compare(results, name, *((30, 6) if quick else (120, 100)))
