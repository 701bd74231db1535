"""Raw sets to learn from: their labels, their groups, and whether anything can be learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from clustruct.core.exceptions import DataError, NoLabels
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Bools
from clustruct.data import Table

# One label per item of each set; None: what the sets say themselves.
LabelsOfSets: TypeAlias = Sequence[Sequence[Hashable]] | None


def labelled(sets: Iterable[Table], y: LabelsOfSets = None) -> list[Table]:
    """The sets with the labels of y, or else their own; refused where some have none."""
    tables = list(sets)
    if y is not None:
        if len(y) != len(tables):
            raise ValueError(f"{len(tables)} sets but {len(y)} label vectors")
        tables = [replace(table, labels=list(labels)) for table, labels in zip(tables, y, strict=True)]
    if not tables:
        raise DataError("nothing to learn from: no sets")
    for table in tables:
        if not isinstance(table, Table):
            raise TypeError(f"a recipe takes RawSets, not {type(table).__name__}; see clustruct.read_sets")
        if table.labels is None:
            raise NoLabels(f"{table.title} has no labels")
    return tables


def known_items(table: Table) -> Bools:
    """Which items of a labelled set have a label."""
    return np.asarray(partial_labels(table.labels or ()) != UNKNOWN)


def check_learnable(sets: Sequence[Table]) -> None:
    """Refuse data from which nothing can be learned."""
    labels = [partial_labels(table.labels or ()) for table in sets]
    for table, y in zip(sets, labels, strict=True):
        if (y == UNKNOWN).all():
            raise NoLabels(f"{table.title}: no item has a label")
    if all(len(table) < 2 for table in sets):
        raise DataError("nothing to learn from: no set has two items")
    counts = [int(y.max()) + 1 for y in labels]
    if all(k == 1 and (y != UNKNOWN).all() for k, y in zip(counts, labels, strict=True)):
        raise DataError("nothing to learn from: all items of each set are in one cluster")
    if all(k == np.count_nonzero(y != UNKNOWN) for k, y in zip(counts, labels, strict=True)):
        told = "nothing to learn from: no two items share a cluster"
        names = [set(table.labels or ()) - {None} for table in sets]
        if len(set().union(*names)) < sum(map(len, names)):
            told += " within a set; where files are tables whose rows are to be linked: --source file"
        raise DataError(told)


def groups_of(sets: Sequence[Table]) -> list[str] | None:
    """The group of each set, a set without one being a group of its own; None where no set has one."""
    if all(table.group is None for table in sets):
        return None
    return [f"set {i}" if table.group is None else f"group {table.group}" for i, table in enumerate(sets)]
