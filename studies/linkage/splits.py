"""Mentions: links to the left beside correlation clustering, three splits of the documents.

Documents 4, 9, 14, ... were for choices made while the code was written: they train in every split, and are
never tested. The others are cut in halves at random, three times; one half trains, the other tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clustruct import SupervisedAgglomerative, SupervisedCorrelationClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.metrics import compare_paired, evaluate
from clustruct.records import RawSet
from studies import raw_data
from studies.records.folds import labels_of
from studies.results import Results

SPLITS = 3
OURS_FIRST, EVERY = 4, 5
SCORES = {
    "MUC": "muc_f1",
    "B-cubed": "b_cubed_f1",
    "CEAF-e": "ceaf_entity_f1",
    "CoNLL": "conll_f1",
    "pairwise F": "pairwise_f1",
}
# C (and r of left links) are chosen by cross-validation over the training documents: by wrong pairs for the
# model that is trained for pairs, by purity, which counts items and not pairs, for links.
MODELS: dict[str, Callable[[], Any]] = {
    "correlation clustering, pairs": SupervisedCorrelationClustering,
    "left links": lambda: SupervisedAgglomerative(
        linkage="left", loss="purity", C_grid=(1.0, 10.0), n_starts=1
    ),
}


class Split:
    """One cut of the documents, with features learned from its training half; made when first needed."""

    def __init__(self, sets: Sequence[RawSet], seed: int) -> None:
        kept = list(range(OURS_FIRST, len(sets), EVERY))
        rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(sets)), kept))
        half = len(rest) // 2
        self.train = [sets[i] for i in [*kept, *sorted(rest[:half].tolist())]]
        self.test = [sets[i] for i in sorted(rest[half:].tolist())]

    @cached_property
    def features(self) -> PairFeatures:
        return PairFeatures(guess_blocks(self.train)).fit(self.train)

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        return self.features.transform(self.train), self.features.transform(self.test)

    def scores(self, name: str) -> dict[str, Any]:
        """Trained on the one half, the scores of each document of the other, by its name."""
        X, Z = self.tables
        model = MODELS[name]().fit(X, labels_of(self.train))
        truth, found = labels_of(self.test), model.predict(Z)
        each = [evaluate([t], [f]).mean for t, f in zip(truth, found, strict=True)]
        by_document = {
            title: {raw.name: 100.0 * scored[score] for raw, scored in zip(self.test, each, strict=True)}
            for title, score in SCORES.items()
        }
        return {"C": model.C_, "r": getattr(model, "wrong_link_", None), "scores": by_document}


def compare(results: Results, quick: bool, *, name: str, most: int, documents: int) -> list[dict[str, Any]]:
    """At most so many mentions of at most so many documents; --quick: 25 mentions of ten, one split."""
    most, documents, splits = (25, 10, 1) if quick else (most, documents, SPLITS)
    sets = [raw for raw in raw_data.documents(name, most)[:documents] if len(raw) > 1]
    made = [Split(sets, seed) for seed in range(splits)]
    cells = {
        (seed, model): results.get(f"split {seed}, {model}", lambda s=split, m=model: s.scores(m))
        for seed, split in enumerate(made)
        for model in MODELS
    }
    rows = [
        {"split": seed + 1, "learned": model, "C": cell["C"], **_means(cell["scores"])}
        for (seed, model), cell in cells.items()
    ]
    return [*rows, *(_beside(model, cells, splits) for model in MODELS)]


def _means(scores: dict[str, dict[str, float]]) -> dict[str, float]:
    return {title: float(np.mean(list(values.values()))) for title, values in scores.items()}


def _beside(model: str, cells: dict[tuple[int, str], Any], splits: int) -> dict[str, Any]:
    """The means over the splits, and CoNLL beside that of correlation clustering, paired by document."""
    means = [_means(cells[seed, model]["scores"]) for seed in range(splits)]
    row: dict[str, Any] = {"split": "all", "learned": model}
    row |= {title: float(np.mean([m[title] for m in means])) for title in SCORES}
    first = next(iter(MODELS))
    if model == first:
        return row
    pairs = [
        (name, value, cells[seed, first]["scores"]["CoNLL"][name])
        for seed in range(splits)
        for name, value in cells[seed, model]["scores"]["CoNLL"].items()
    ]
    names, ours, theirs = zip(*pairs, strict=True)
    found = compare_paired(ours, theirs, lower_wins=False, groups=names)
    tested = {"CoNLL more": found.difference, "better, worse": f"{found.wins}, {found.losses}"}
    return {**row, **tested, "p": found.p_two_tailed}
