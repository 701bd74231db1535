"""What is known of some items of a set (`Evidence`), as a target of learning.

What is not judged is latent: the truth that w is to reproduce is the best clustering, at the present w, among
those that keep what is known (see `latent`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from clustruct.core import memory
from clustruct.core.partitions import UNKNOWN, canonical_labels, chained_pairs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence
from clustruct.data.itemsets import ItemSet
from clustruct.search.correlation import local_search

from .region import Region, alone_where_unknown

# How often pieces that were joined against what is known are told apart, before they are left alone.
MOST_REPAIRS = 20


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
        return cls(part.x, mine, alone_where_unknown(mine.piece), part.items)

    @property
    def index(self) -> Ints:
        """The listed pairs."""
        assert self.x.pair_index is not None
        return self.x.pair_index

    @cached_property
    def judged(self) -> Bools:
        """Which of the listed pairs are judged."""
        return self.marks.judges(self.index)

    def completed(self, w: Floats) -> Ints:
        """The best clustering that keeps what is known, at w: pieces whole, and those apart that differ."""
        return self.labels if self.judged.all() else self._search(self._scores(w))

    def _search(self, K: sparse.csr_array) -> Ints:
        """Local search over pieces; of two pieces that it joins though they differ the search is told, and is
        made again, since few of all pairs that differ ever come near each other.
        """
        must, cannot = chained_pairs(self.marks.piece), np.zeros((0, 2), np.int64)
        for _ in range(MOST_REPAIRS):
            found = local_search(K, must_link=must, cannot_link=cannot, sweeps=0)
            wrong = self._joined_wrongly(found)
            if not len(wrong):
                return canonical_labels(found)
            cannot = np.unique(np.concatenate([cannot, wrong]), axis=0)
        return self.labels

    def _scores(self, w: Floats) -> sparse.csr_array:
        m, (a, b) = self.x.n_items, self.index.T
        assert self.x.pairs is not None
        values = np.asarray(self.x.pairs @ w, np.float64)
        upper = sparse.csr_array((values, (a, b)), shape=(m, m))
        return sparse.csr_array(upper + upper.T)

    def _joined_wrongly(self, labels: Ints) -> Ints:
        """Pairs of items, one for each two nodes that share a cluster though they are known to differ."""
        nodes = alone_where_unknown(self.marks.piece)
        first = np.unique(nodes, return_index=True)[1]  # an item of each node
        found = [np.zeros((0, 2), np.int64)]
        order = first[np.argsort(labels[first], kind="stable")]
        for members in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
            left, right = np.triu_indices(len(members), 1)
            pairs = np.column_stack([members[left], members[right]])
            found.append(np.sort(pairs[self.marks.judges(pairs)], axis=1))
        return np.concatenate(found)


def kept_groups(K: sparse.csr_array, marks: Evidence) -> Ints:
    """The best clusters of a set by the scores K of its pairs, among those that keep what is known of it.

    Parameters
    ----------
    K : csr_array
        The scores of the pairs.
    marks : Evidence
        What is known of the set.

    Returns
    -------
    array of int
        The cluster of each item.
    """
    m = len(marks.piece)
    pairs = np.zeros((0, 2), np.int64)
    nothing = ItemSet(pairs=np.zeros((0, 1)), pair_index=pairs, n_items=m)
    return MarkedRegion(nothing, marks, alone_where_unknown(marks.piece), np.arange(m))._search(K)
