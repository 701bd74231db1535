"""A recipe that goes on: corrections of people on further sets, on top of what a pipeline has learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.callbacks import steps, working
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.estimators.continuing import continued
from clustruct.exceptions import NoLabels
from clustruct.features import PairFeatures
from clustruct.model_selection.learnable import LabelsOfSets, known_items, labelled
from clustruct.partitions import partial_labels
from clustruct.problems import Marks
from clustruct.problems.training import Unlabelled
from clustruct.records import RawSet


def corrected(
    pipeline: Pipeline,
    sets: Sequence[RawSet],
    marks: Sequence[Marks | None],
) -> Pipeline:
    """A pipeline that has learned from marks on sets too; its features are those of the one given.

    Cost in proportion to the pairs that touch an item which the marks name: no set that was learned from
    before is needed, it is remembered by its planes.

    Parameters
    ----------
    pipeline : fitted `PairFeatures` and a `SupervisedCorrelationClustering`, which may not be fitted yet
    sets, marks : the sets, and what is known of each; None: nothing
    """
    features, model = pipeline[0], pipeline[-1]
    if not isinstance(features, PairFeatures) or not isinstance(model, SupervisedCorrelationClustering):
        raise ValueError(f"{type(model).__name__} does not learn from corrections: use learner='correlation'")
    told = [(raw, m) for raw, m in zip(sets, marks, strict=True) if m is not None and m.named.any()]
    if not told:
        raise NoLabels("the corrections name no pair of items to learn from")
    item_sets = [features.transform([raw], [m.named])[0] for raw, m in steps(told, "features")]
    with working("learning"):
        found = continued(model, item_sets, [m for _, m in told], [raw.item_ids for raw, _ in told])
    return Pipeline([(pipeline.steps[0][0], copy(features)), (pipeline.steps[-1][0], found)])


@dataclass(frozen=True)
class ToldSets:
    """Sets, their groups where there are some, and what people said of their items."""

    sets: list[RawSet]
    marks: list[Marks | None]
    groups: Sequence[Hashable] | None

    @classmethod
    def of(
        cls,
        sets: Iterable[RawSet],
        y: LabelsOfSets,
        groups: Sequence[Hashable] | None,
        marks: Sequence[Marks | None] | None,
    ) -> ToldSets:
        """Checked: one mark for each set, one entry for each of its items."""
        raws = list(sets)
        if y is not None:
            raws = labelled(raws, y)
        told = [None] * len(raws) if marks is None else list(marks)
        if len(told) != len(raws):
            raise ValueError(f"{len(raws)} sets but corrections of {len(told)}")
        for raw, m in zip(raws, told, strict=True):
            if m is not None and len(m.piece) != len(raw):
                raise ValueError(f"{raw.title} has {len(raw)} items, its corrections are of {len(m.piece)}")
        return cls(raws, told, groups)

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

    def with_labels(self, unlabelled: Unlabelled) -> list[Marks | None]:
        """The marks with the labels of the sets: of labelled items something is said, too."""
        found = list(self.marks)
        for i in self.labelled:
            raw, mine = self.sets[i], self.marks[i]
            labels = partial_labels(raw.labels or ())
            if mine is None:
                mine = Marks.of_pairs(len(raw), labels=labels, labels_complete=unlabelled == "apart")
            found[i] = replace(mine, named=mine.named | known_items(raw))
        return found

    def with_marks_as_labels(self) -> list[RawSet]:
        """The sets with pieces of two items and more as labels, for features that look at labels."""
        return [_labelled(raw, m) for raw, m in zip(self.sets, self.marks, strict=True)]


def _labelled(raw: RawSet, marks: Marks | None) -> RawSet:
    if marks is None:
        return replace(raw, labels=[None] * len(raw))
    sizes = np.bincount(marks.piece[marks.piece >= 0], minlength=len(marks.labelled))
    return replace(raw, labels=[int(p) if p >= 0 and sizes[p] > 1 else None for p in marks.piece])
