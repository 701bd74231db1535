"""A recipe that goes on: corrections of people on further sets, on top of what a pipeline has learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import steps, working
from clustruct.core.partitions import partial_labels
from clustruct.data import Evidence
from clustruct.data.records import RawSet
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.estimators.continuing import continued
from clustruct.features import PairFeatures
from clustruct.learning.model_selection.learnable import LabelsOfSets, known_items, labelled

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
    marked = [(raw, m) for raw, m in zip(told.sets, told.marks, strict=True) if m is not None]
    if hasattr(model, "w_"):
        marked = [
            (raw, _seen(Pipeline([("features", trusting), ("model", model)]), raw, m)) for raw, m in marked
        ]
    labelled_sets = [told.sets[i] for i in told.labelled]
    labels = [partial_labels(raw.labels or ()) for raw in labelled_sets]
    bare = copy(trusting).with_map(None)
    known = [
        file.item_set(bare, raw, touching(raw, whole=len(labelled_sets) == 1))
        for raw in steps(labelled_sets, "features")
    ]
    if features.map_ is not None:  # what it was learned from has the columns that it had there
        known = features.map_.transform_known(known, labels, unknown_apart=model.unlabelled == "apart")
    others = [trusting.transform([raw], [m.named])[0] for raw, m in steps(marked, "features")]
    file.save()
    with working("learning"):
        found = continued(model, known, labels, others, [m for _, m in marked])
    return Pipeline([(pipeline.steps[0][0], copy(features)), (pipeline.steps[-1][0], found)])


def _seen(pipeline: Pipeline, raw: RawSet, marks: Evidence) -> Evidence:
    """With the groups that were shown to people, or else those that the model finds under the marks."""
    if marks.shown is not None:
        return marks.seen(marks.shown)
    return marks.seen(group(pipeline, raw, marks).labels)


@dataclass(frozen=True)
class ToldSets:
    """Sets, their groups where there are some, and what people said of their items."""

    sets: list[RawSet]
    marks: list[Evidence | None]
    groups: Sequence[Hashable] | None

    @classmethod
    def of(
        cls,
        sets: Iterable[RawSet],
        y: LabelsOfSets,
        groups: Sequence[Hashable] | None,
        marks: Sequence[Evidence | None] | None,
    ) -> ToldSets:
        """Checked: one mark for each set, one entry for each of its items."""
        raws = list(sets)
        if y is not None:
            raws = labelled(raws, y)
        told: list[Evidence | None] = [None for _ in raws] if marks is None else list(marks)
        if len(told) != len(raws):
            raise ValueError(f"{len(raws)} sets but corrections of {len(told)}")
        for raw, m in zip(raws, told, strict=True):
            if m is not None and len(m.piece) != len(raw):
                raise ValueError(f"{raw.title} has {len(raw)} items, its corrections are of {len(m.piece)}")
        # Where people contradict each other nothing may be left of what they said.
        return cls(raws, [m if m is not None and m.named.any() else None for m in told], groups)

    @property
    def labelled(self) -> list[int]:
        """The numbers of the sets in which an item has a label."""
        return [i for i, raw in enumerate(self.sets) if raw.labels is not None and known_items(raw).any()]

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

    def with_parts(self, parts: list[RawSet]) -> ToldSets:
        """With parts in the place of the labelled sets, which keep their marks as sets without labels."""
        bare = [replace(raw, labels=None) for raw in self.sets]
        marks: list[Evidence | None] = [None for _ in parts]
        return ToldSets([*parts, *bare], marks + self.marks, None)

    def with_marks_as_labels(self) -> list[RawSet]:
        """The sets with pieces of two items and more as labels, for features that look at labels."""
        return [_labelled(raw, m) for raw, m in zip(self.sets, self.marks, strict=True)]


def _labelled(raw: RawSet, marks: Evidence | None) -> RawSet:
    if marks is None:
        return replace(raw, labels=[None] * len(raw))
    sizes = np.bincount(marks.piece[marks.piece >= 0], minlength=len(marks.labelled))
    return replace(raw, labels=[int(p) if p >= 0 and sizes[p] > 1 else None for p in marks.piece])
