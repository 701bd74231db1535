"""What a report tells, found set by set: nothing large is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.explain import (
    ClusterMove,
    ItemConfidence,
    SplitMerge,
    WrongPair,
    cluster_confidence,
    item_confidence,
    objective_of,
    split_merge,
    wrong_pairs,
)
from clustruct.itemsets import ItemSet
from clustruct.losses import as_loss
from clustruct.metrics import Evaluation, evaluate
from clustruct.problems.units import mean_squares
from clustruct.records import RawSet, is_missing

# How many wrong pairs of a set are remembered.
WRONG_PAIRS = 4
# Weights are scaled by their features in at most so many sets.
SETS_FOR_SCALE = 10


@dataclass(frozen=True)
class SetFindings:
    """One set: its clustering, and what can be said of it."""

    number: int
    raw: RawSet
    labels: NDArray[np.int64]
    truth: Sequence[Any] | None
    loss: float | None
    items: ItemConfidence | None
    clusters: list[ClusterMove] | None
    errors: SplitMerge | None
    wrong: list[WrongPair]

    @property
    def name(self) -> str:
        """The set's name, or its place in the list."""
        return self.raw.name or f"no. {self.number + 1}"

    @property
    def doubt(self) -> float:
        """By which sets are ranked, worst first: the loss; without truth how unsure a usual item is."""
        if self.loss is not None:
            return self.loss
        if self.items is None:
            return 0.0
        finite = self.items.confidence[np.isfinite(self.items.confidence)]
        return -float(np.median(finite)) if finite.size else -np.inf


@dataclass(frozen=True)
class Findings:
    """A pipeline and all sets.

    scale : the root mean square of each feature, over the first sets
    """

    pipeline: Any
    sets: list[SetFindings]
    scale: NDArray[np.float64]
    _last: dict[int, ItemSet] = field(default_factory=dict)

    @property
    def model(self) -> Any:
        """The clusterer at the end of the pipeline."""
        return self.pipeline.steps[-1][1]

    @property
    def labelled(self) -> list[SetFindings]:
        """The sets whose truth is known."""
        return [s for s in self.sets if s.truth is not None]

    @property
    def ranked(self) -> list[SetFindings]:
        """Worst first; where some sets have a truth, those alone."""
        return sorted(self.labelled or self.sets, key=lambda s: -s.doubt)

    @cached_property
    def scores(self) -> Evaluation | None:
        """All scores of the labelled sets."""
        known = self.labelled
        return evaluate([s.truth or () for s in known], [s.labels for s in known]) if known else None

    def item_set(self, one: SetFindings) -> ItemSet:
        """The pair features of a set, made again; those of the last set asked for are kept."""
        if one.number not in self._last:
            self._last.clear()
            self._last[one.number] = transformed(self.pipeline, one.raw)
        return self._last[one.number]


def transformed(pipeline: Any, raw: RawSet) -> ItemSet:
    """One raw set through all steps of the pipeline but the last."""
    made: list[ItemSet] = pipeline[:-1].transform([raw])
    return made[0]


def look_at(pipeline: Any, sets: Sequence[RawSet]) -> Findings:
    """Cluster every set and note what the report tells of it."""
    model = pipeline.steps[-1][1]
    found, squares = [], []
    for number, raw in enumerate(sets):
        x = transformed(pipeline, raw)
        found.append(_one(model, x, number, raw))
        if number < SETS_FOR_SCALE:
            squares.append(mean_squares(x))
    return Findings(pipeline, found, np.sqrt(np.mean(squares, axis=0)), {number: x})


def _one(model: Any, x: ItemSet, number: int, raw: RawSet) -> SetFindings:
    labels = model.predict(x)
    truth = None if raw.labels is None or any(is_missing(v) for v in raw.labels) else list(raw.labels)
    loss = None if truth is None else _loss(model, truth, labels)
    items = clusters = None
    wrong: list[WrongPair] = []
    if hasattr(model, "decision_function"):
        K = model.decision_function(x)
        kind = objective_of(model)
        items = item_confidence(K, labels, kind)
        clusters = cluster_confidence(K, labels) if kind == "correlation" else None
        if truth is not None:
            wrong = wrong_pairs(K, truth, labels, WRONG_PAIRS)
    errors = None if truth is None else split_merge(truth, labels, _names(raw))
    return SetFindings(number, raw, labels, truth, loss, items, clusters, errors, wrong)


def _loss(model: Any, truth: Any, labels: Any) -> float:
    """The loss the model was trained for; the share of wrong pairs where that one cannot be had."""
    try:
        return float(as_loss(getattr(model, "loss", "pairwise"))(truth, labels))
    except ValueError:  # the normalised loss compares equal numbers of clusters only
        return float(as_loss("pairwise")(truth, labels))


def _names(raw: RawSet) -> Sequence[Any]:
    return range(len(raw)) if raw.ids is None else raw.ids
