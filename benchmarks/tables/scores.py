"""Pairwise precision, recall and F, over the pairs that do not lie within a labelled part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class PairCounts:
    """How many pairs are found, right, and both.

    >>> counts = PairCounts.of([0, 0, 1, 1], [0, 0, 0, 1])
    >>> counts.right, counts.found, counts.both
    (2, 3, 1)
    >>> [round(v, 1) for v in (counts.precision, counts.recall, counts.f1)]
    [33.3, 50.0, 40.0]
    """

    right: int
    found: int
    both: int

    @classmethod
    def of(cls, truth: ArrayLike, found: ArrayLike) -> PairCounts:
        """Over all pairs of the rows."""
        t, f = (np.unique(v, return_inverse=True)[1].astype(np.int64) for v in (truth, found))
        cells = t * (f.max(initial=0) + 1) + f
        return cls(_pairs(t), _pairs(f), _pairs(np.unique(cells, return_inverse=True)[1]))

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(self.right + other.right, self.found + other.found, self.both + other.both)

    def __sub__(self, other: PairCounts) -> PairCounts:
        return PairCounts(self.right - other.right, self.found - other.found, self.both - other.both)

    @property
    def precision(self) -> float:
        return 100.0 * self.both / self.found if self.found else 100.0

    @property
    def recall(self) -> float:
        return 100.0 * self.both / self.right if self.right else 100.0

    @property
    def f1(self) -> float:
        """In percent, as the others."""
        return 200.0 * self.both / (self.right + self.found) if self.right + self.found else 100.0


def _pairs(labels: Labels) -> int:
    sizes = np.bincount(labels)
    return int((sizes * (sizes - 1) // 2).sum())


def touching(truth: ArrayLike, found: ArrayLike, rows: ArrayLike) -> PairCounts:
    """Over the pairs that have one of these rows at least.

    >>> touching([0, 0, 1, 1], [0, 0, 0, 1], [False, False, False, True])
    PairCounts(right=1, found=0, both=0)
    """
    t, f = np.asarray(truth), np.asarray(found)
    others = ~np.asarray(rows, dtype=bool)
    return PairCounts.of(t, f) - PairCounts.of(t[others], f[others])


def known_labels(entity: ArrayLike, labelled: ArrayLike) -> Labels:
    """What is known of a table whose labelled clusters are complete: all other rows are strangers to them.

    Scores by `touching` of labelled rows with these labels are right without the rest of the truth.

    >>> known_labels([7, 7, 3, 3], [True, True, False, False]).tolist()
    [0, 0, 1, 2]
    """
    e, known = np.asarray(entity), np.asarray(labelled, dtype=bool)
    found = np.zeros(len(e), np.int64)
    found[known] = np.unique(e[known], return_inverse=True)[1]
    first = found[known].max(initial=-1) + 1
    found[~known] = first + np.arange(np.count_nonzero(~known))
    return found
