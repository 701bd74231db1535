"""What is known of some items of a set (`Evidence`), as a target of learning.

What is not judged is latent: the truth that w is to reproduce is the best clustering, at the present w, among
those that keep what is known (see `latent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clustruct.core import memory
from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, ItemSet, PairScores
from clustruct.learning.grouping import constrained_groups

from .region import Region


@dataclass(frozen=True)
class MarkedRegion:
    """The named items of a set with all items that have a pair with them, as `Region`.

    Attributes
    ----------
    x : ItemSet
        The items with the listed pairs that touch a named one.
    marks : Evidence
        What is known of them.
    labels : array of int
        A clustering that judged pairs are compared with; items of which nothing is known are alone.
    items : array of int
        Their numbers in the set.
    """

    x: ItemSet
    marks: Evidence
    labels: Ints
    items: Ints

    @classmethod
    def of(cls, x: ItemSet, marks: Evidence, memory_limit: memory.Size = None) -> MarkedRegion:
        """The region of a set with marks."""
        touched = np.where(marks.named, 0, UNKNOWN)
        part = Region.of(x, touched, listed=True, memory_limit=memory_limit)
        mine = marks.take(part.items)
        return cls(part.x, mine, mine.nodes, part.items)

    @property
    def index(self) -> Ints:
        """The listed pairs."""
        return self.x.pair_list

    @cached_property
    def judged(self) -> Bools:
        """Which of the listed pairs are judged."""
        return self.marks.judges(self.index)

    def completed(self, w: Floats) -> Ints:
        """The best clustering that keeps what is known, at w: pieces whole, and those apart that differ."""
        if self.judged.all():
            return self.labels
        assert self.x.pairs is not None
        values = np.asarray(self.x.pairs @ w, np.float64)
        return constrained_groups(PairScores(self.x.n_items, index=self.index, values=values), self.marks)
