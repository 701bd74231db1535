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
from clustruct.data import Table
from clustruct.evaluate.metrics import compare_paired, evaluate
from clustruct.features import PairFeatures, guess_blocks
from clustruct.learning.model_selection import split_sets
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
PAIRS, LEFT = "correlation clustering, pairs", "left links"
# What is tried for links: C, and what a wrong link counts.
TRIED = tuple((C, r) for C in (1.0, 10.0) for r in (1.0, 0.3))
FOLDS = 3
Keep = Callable[[str, Callable[[], Any]], Any]


class Split:
    """One cut of the documents, with features learned from its training half; made when first needed."""

    def __init__(self, sets: Sequence[Table], seed: int) -> None:
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

    def chosen(self, keep: Keep) -> Any:
        """Left links with C and r of least purity loss on held-out training documents: it counts items, as
        most of the scores do, and not pairs.
        """
        tried = {
            (C, r): keep(f"{LEFT}, C = {C:g}, r = {r:g}, held out", lambda C=C, r=r: self.held_out(C, r))
            for C, r in TRIED
        }
        C, r = min(tried, key=lambda key: float(tried[key]))
        return left(C, r)

    def held_out(self, C: float, r: float) -> float:
        """The mean purity loss of training documents, each by a training that has not seen it."""
        X, y = self.tables[0], labels_of(self.train)
        losses = []
        for seen, rest in split_sets(len(X), FOLDS):
            model = left(C, r, rtol=0.1).fit([X[i] for i in seen], [y[i] for i in seen])
            losses += model.set_losses([X[i] for i in rest], [y[i] for i in rest]).tolist()
        return float(np.mean(losses))

    def scores(self, model: Any) -> dict[str, Any]:
        """Trained on the one half, the scores of each document of the other, by its name."""
        X, Z = self.tables
        model = model.fit(X, labels_of(self.train))
        truth, found = labels_of(self.test), model.predict(Z)
        each = [evaluate([t], [f]).mean for t, f in zip(truth, found, strict=True)]
        by_document = {
            title: {table.name: 100.0 * scored[score] for table, scored in zip(self.test, each, strict=True)}
            for title, score in SCORES.items()
        }
        return {"C": model.C_, "r": getattr(model, "wrong_link_", None), "scores": by_document}


def left(C: float, r: float, rtol: float = 1e-2) -> SupervisedAgglomerative:
    """Links to the left, from the weights of a pair classifier alone."""
    return SupervisedAgglomerative(C, "purity", linkage="left", wrong_link=r, n_starts=1, rtol=rtol)


def cells_of(split: Split, keep: Keep) -> dict[str, Any]:
    """What each learner makes of a split; C of correlation clustering is chosen by wrong pairs held out."""
    pairs = keep(PAIRS, lambda: split.scores(SupervisedCorrelationClustering(calibrate=False)))
    return {PAIRS: pairs, LEFT: keep(LEFT, lambda: split.scores(split.chosen(keep)))}


def compare(results: Results, quick: bool, *, name: str, most: int, documents: int) -> list[dict[str, Any]]:
    """At most so many mentions of at most so many documents; --quick: 25 mentions of ten, one split."""
    most, documents, splits = (25, 10, 1) if quick else (most, documents, SPLITS)
    sets = [table for table in raw_data.documents(name, most)[:documents] if len(table) > 1]
    made = [Split(sets, seed) for seed in range(splits)]
    cells = {}
    for seed, split in enumerate(made):
        found = cells_of(split, lambda key, make, seed=seed: results.get(f"split {seed}, {key}", make))
        cells |= {(seed, model): cell for model, cell in found.items()}
    rows = [
        {"split": seed + 1, "learned": model, "C": cell["C"], "r": cell["r"], **_means(cell["scores"])}
        for (seed, model), cell in cells.items()
    ]
    return [*rows, *(_beside(model, cells, splits) for model in (PAIRS, LEFT))]


def _means(scores: dict[str, dict[str, float]]) -> dict[str, float]:
    return {title: float(np.mean(list(values.values()))) for title, values in scores.items()}


def _beside(model: str, cells: dict[tuple[int, str], Any], splits: int) -> dict[str, Any]:
    """The means over the splits, and CoNLL beside that of correlation clustering, paired by document."""
    means = [_means(cells[seed, model]["scores"]) for seed in range(splits)]
    row: dict[str, Any] = {"split": "all", "learned": model}
    row |= {title: float(np.mean([m[title] for m in means])) for title in SCORES}
    if model == PAIRS:
        return row
    pairs = [
        (name, value, cells[seed, PAIRS]["scores"]["CoNLL"][name])
        for seed in range(splits)
        for name, value in cells[seed, model]["scores"]["CoNLL"].items()
    ]
    names, ours, theirs = zip(*pairs, strict=True)
    found = compare_paired(ours, theirs, lower_wins=False, groups=names)
    tested = {"CoNLL more": found.difference, "better, worse": f"{found.wins}, {found.losses}"}
    return {**row, **tested, "p": found.p_two_tailed}
