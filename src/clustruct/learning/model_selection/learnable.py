"""Raw sets to learn from: their labels, their groups, and whether anything can be learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from clustruct.core.exceptions import DataError, NoLabels
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Bools
from clustruct.data.records import RawSet

# One label per item of each set; None: what the sets say themselves.
LabelsOfSets: TypeAlias = Sequence[Sequence[Hashable]] | None


def labelled(sets: Iterable[RawSet], y: LabelsOfSets = None) -> list[RawSet]:
    """The sets with the labels of y, or else their own; refused where some have none."""
    raws = list(sets)
    if y is not None:
        if len(y) != len(raws):
            raise ValueError(f"{len(raws)} sets but {len(y)} label vectors")
        raws = [replace(raw, labels=list(labels)) for raw, labels in zip(raws, y, strict=True)]
    if not raws:
        raise DataError("nothing to learn from: no sets")
    for raw in raws:
        if not isinstance(raw, RawSet):
            raise TypeError(f"a recipe takes RawSets, not {type(raw).__name__}; see clustruct.read_sets")
        if raw.labels is None:
            raise NoLabels(f"{raw.title} has no labels")
    return raws


def known_items(raw: RawSet) -> Bools:
    """Which items of a labelled set have a label."""
    return np.asarray(partial_labels(raw.labels or ()) != UNKNOWN)


def check_learnable(sets: Sequence[RawSet]) -> None:
    """Refuse data from which nothing can be learned."""
    labels = [partial_labels(raw.labels or ()) for raw in sets]
    for raw, y in zip(sets, labels, strict=True):
        if (y == UNKNOWN).all():
            raise NoLabels(f"{raw.title}: no item has a label")
    if all(len(raw) < 2 for raw in sets):
        raise DataError("nothing to learn from: no set has two items")
    counts = [int(y.max()) + 1 for y in labels]
    if all(k == 1 and (y != UNKNOWN).all() for k, y in zip(counts, labels, strict=True)):
        raise DataError("nothing to learn from: all items of each set are in one cluster")
    if all(k == np.count_nonzero(y != UNKNOWN) for k, y in zip(counts, labels, strict=True)):
        told = "nothing to learn from: no two items share a cluster"
        names = [set(raw.labels or ()) - {None} for raw in sets]
        if len(set().union(*names)) < sum(map(len, names)):
            told += " within a set; where files are tables whose rows are to be linked: --source file"
        raise DataError(told)


def groups_of(sets: Sequence[RawSet]) -> list[str] | None:
    """The group of each set, a set without one being a group of its own; None where no set has one."""
    if all(raw.group is None for raw in sets):
        return None
    return [f"set {i}" if raw.group is None else f"group {raw.group}" for i, raw in enumerate(sets)]
