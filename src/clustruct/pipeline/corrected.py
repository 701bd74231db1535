"""A recipe that goes on: corrections of people on further sets, on top of what a pipeline has learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import steps, working
from clustruct.core.partitions import partial_labels
from clustruct.data import Evidence, Table
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.estimators.continuing import continued
from clustruct.features import PairFeatures
from clustruct.learning.model_selection.training_tables import LabelsOfSets, known_items, label_tables

from .kept_features import FeatureFile
from .looking import touching
from .predict import group


def corrected(pipeline: Pipeline, told: ToldSets, kept: FeatureFile | None = None) -> Pipeline:
    """A pipeline that has learned from labelled sets and from what people said of some sets.

    Its features are those of the one given. Where that has learned before, what people corrected are its
    groups: those that they touched are taken as they are after it, all of them (`Evidence.seen`).

    pipeline : fitted `PairFeatures` and a `SupervisedCorrelationClustering`, which may not be fitted yet
    kept : where features of the labelled sets are looked up, and kept
    """
    file = FeatureFile(None) if kept is None else kept
    features, model = pipeline[0], pipeline[-1]
    if not isinstance(features, PairFeatures) or not isinstance(model, SupervisedCorrelationClustering):
        raise ValueError(f"{type(model).__name__} does not learn from corrections: use learner='correlation'")
    features.checked(told.sets)
    trusting = features.checked()
    marked = [(table, m) for table, m in zip(told.sets, told.marks, strict=True) if m is not None]
    if hasattr(model, "w_"):
        marked = [
            (table, _seen(Pipeline([("features", trusting), ("model", model)]), table, m))
            for table, m in marked
        ]
    labelled_sets = [told.sets[i] for i in told.labelled]
    labels = [partial_labels(table.labels or ()) for table in labelled_sets]
    bare = copy(trusting).with_map(None)
    known = [
        file.item_set(bare, table, touching(table, whole=len(labelled_sets) == 1))
        for table in steps(labelled_sets, "features")
    ]
    if features.map_ is not None:  # what it was learned from has the columns that it had there
        known = features.map_.transform_known(known, labels, unknown_apart=model.unlabelled == "apart")
    others = [trusting.transform([table], [m.named])[0] for table, m in steps(marked, "features")]
    file.save()
    with working("learning"):
        found = continued(model, known, labels, others, [m for _, m in marked])
    return Pipeline([(pipeline.steps[0][0], copy(features)), (pipeline.steps[-1][0], found)])


def _seen(pipeline: Pipeline, table: Table, marks: Evidence) -> Evidence:
    """With the groups that were shown to people, or else those that the model finds under the marks."""
    if marks.shown is not None:
        return marks.seen(marks.shown)
    return marks.seen(group(pipeline, table, marks).labels)


@dataclass(frozen=True)
class ToldSets:
    """Sets, their groups where there are some, and what people said of their items."""

    sets: list[Table]
    marks: list[Evidence | None]
    groups: Sequence[Hashable] | None

    @classmethod
    def of(
        cls,
        sets: Iterable[Table],
        y: LabelsOfSets,
        groups: Sequence[Hashable] | None,
        marks: Sequence[Evidence | None] | None,
    ) -> ToldSets:
        """Checked: one mark for each set, one entry for each of its items."""
        tables = list(sets)
        if y is not None:
            tables = label_tables(tables, y)
        told: list[Evidence | None] = [None for _ in tables] if marks is None else list(marks)
        if len(told) != len(tables):
            raise ValueError(f"{len(tables)} sets but corrections of {len(told)}")
        for table, m in zip(tables, told, strict=True):
            if m is not None and len(m.piece) != len(table):
                raise ValueError(
                    f"{table.title} has {len(table)} items, its corrections are of {len(m.piece)}"
                )
        # Where people contradict each other nothing may be left of what they said.
        return cls(tables, [m if m is not None and m.named.any() else None for m in told], groups)

    @property
    def labelled(self) -> list[int]:
        """The numbers of the sets in which an item has a label."""
        return [
            i for i, table in enumerate(self.sets) if table.labels is not None and known_items(table).any()
        ]

    @property
    def groups_of_labelled(self) -> list[Hashable] | None:
        """The groups of these sets."""
        return None if self.groups is None else [self.groups[i] for i in self.labelled]

    @property
    def corrects(self) -> bool:
        """Whether something is said of an item."""
        return any(m is not None and m.named.any() for m in self.marks)

    @property
    def n_named(self) -> int:
        """Of how many items something is said."""
        return sum(int(np.count_nonzero(m.named)) for m in self.marks if m is not None)

    def with_parts(self, parts: list[Table]) -> ToldSets:
        """With parts in the place of the labelled sets, which keep their marks as sets without labels."""
        bare = [replace(table, labels=None) for table in self.sets]
        marks: list[Evidence | None] = [None for _ in parts]
        return ToldSets([*parts, *bare], marks + self.marks, None)

    def with_marks_as_labels(self) -> list[Table]:
        """The sets with pieces of two items and more as labels, for features that look at labels."""
        return [_labelled(table, m) for table, m in zip(self.sets, self.marks, strict=True)]


def _labelled(table: Table, marks: Evidence | None) -> Table:
    if marks is None:
        return replace(table, labels=[None] * len(table))
    sizes = np.bincount(marks.piece[marks.piece >= 0], minlength=len(marks.labelled))
    return replace(table, labels=[int(p) if p >= 0 and sizes[p] > 1 else None for p in marks.piece])
