"""What a report is about: every set examined, nothing large kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Floats
from clustruct.data import ItemSet, Table
from clustruct.evaluate.explain import SetFindings, examine, field_sizes, transformed
from clustruct.evaluate.explain.in_pipelines import tells_by_feature
from clustruct.evaluate.metrics import Evaluation, evaluate
from clustruct.features import check_tables

# Weights are scaled by their features in at most so many sets.
SETS_FOR_SCALE = 10


@dataclass(frozen=True)
class Findings:
    """A pipeline, and what it makes of all sets."""

    pipeline: Pipeline
    sets: list[SetFindings]
    _last: dict[int, ItemSet] = field(default_factory=dict)

    @classmethod
    def of(cls, pipeline: Pipeline, sets: Sequence[Table]) -> Findings:
        """Examine the sets one by one."""
        pipeline = check_tables(pipeline, sets)
        return cls(pipeline, [examine(pipeline, table, number) for number, table in enumerate(sets)])

    @property
    def model(self) -> BaseEstimator:
        """The clusterer at the end of the pipeline."""
        return self.pipeline[-1]

    @property
    def labelled(self) -> list[SetFindings]:
        """The sets whose truth is known."""
        return [one for one in self.sets if one.truth is not None]

    @property
    def ranked(self) -> list[SetFindings]:
        """Largest loss first; where no set has a truth, least confidence first."""
        if self.labelled:
            return sorted(self.labelled, key=lambda one: -(one.loss or 0.0))
        return sorted(self.sets, key=lambda one: one.confidence)

    @cached_property
    def scores(self) -> Evaluation | None:
        """All scores of the labelled sets."""
        known = self.labelled
        return evaluate([one.truth or () for one in known], [one.labels for one in known]) if known else None

    @property
    def scale(self) -> Floats:
        """The root mean square of each feature, over the first sets."""
        return np.sqrt(np.mean([one.squares for one in self.sets[:SETS_FOR_SCALE]], axis=0))

    @property
    def keeps_features(self) -> bool:
        """Whether weights are those of features, not of columns in their place."""
        made = getattr(self.pipeline[0], "map_", None)
        return made is None or made.keeps

    @cached_property
    def field_sizes(self) -> dict[str, float]:
        """How much each field counts in the first sets, where weights do not tell; else empty."""
        if not tells_by_feature(self.pipeline):
            return {}
        return field_sizes(self.pipeline, [one.table for one in self.sets[:SETS_FOR_SCALE]])

    def item_set(self, one: SetFindings) -> ItemSet:
        """The pair features of a set, made again; those of the last set asked for are kept."""
        if one.number not in self._last:
            self._last.clear()
            self._last[one.number] = transformed(self.pipeline, one.table)
        return self._last[one.number]
