"""Equal rows of a set: one item with a multiplicity, from the search for pairs to the groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Ints


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Which items of a set are equal in all that is compared.

    Attributes
    ----------
    row : array of int
        The number of each item's row: equal items have one number, rows are numbered by first appearance.

    Examples
    --------
    >>> equal = EqualRows.of(np.array([7, 3, 7, 7]))
    >>> equal.row.tolist(), equal.first.tolist(), equal.counts.tolist()
    ([0, 1, 0, 0], [0, 1], [3, 1])
    """

    row: Ints

    @classmethod
    def of(cls, numbers: Ints) -> Self:
        """Of any numbers that equal items share."""
        return cls(np.asarray(canonical_labels(numbers), np.int64))

    @cached_property
    def first(self) -> Ints:
        """The first item of each row."""
        return np.unique(self.row, return_index=True)[1]

    @cached_property
    def counts(self) -> Ints:
        """How many items each row has."""
        return np.bincount(self.row)

    @cached_property
    def place(self) -> Ints:
        """The place of each item among those of its row: 0 for the first of them."""
        order = np.argsort(self.row, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return place

    @property
    def any_equal(self) -> bool:
        """Whether two items are equal."""
        return len(self.counts) < len(self.row)

    @property
    def n_further(self) -> int:
        """How many items are equal to an earlier one."""
        return len(self.row) - len(self.counts)

    def first_copies(self, most: int) -> Bools:
        """The items without those that have so many equal ones before them."""
        return self.place < most

    def pairs(self, most: int | None = None) -> Ints:
        """The first item of each row with each further one, or with so many of them."""
        further = np.flatnonzero((self.place > 0) & (True if most is None else self.place <= most))
        return np.column_stack([self.first[self.row[further]], further])

    def stand_ins(self, pairs: Ints) -> Ints:
        """For pairs of items those that stand for them: of the first items of two rows, or two of one."""
        second = self.first.copy()
        further = self.place == 1
        second[self.row[further]] = np.flatnonzero(further)
        rows = self.row[pairs]
        inside = rows[:, 0] == rows[:, 1]
        found = self.first[rows]
        found[inside, 1] = second[rows[inside, 1]]
        return np.sort(found, axis=1)

    def split_by(self, numbers: Ints) -> EqualRows:
        """Those that are equal in these numbers, too."""
        return EqualRows.of(self.row * (int(numbers.max(initial=0)) + 2) + numbers + 1)
