"""The part of a set of which something is known, as a target of learning.

The *region* is the items that evidence names, those that have a listed pair with one of them, and these
pairs. Pairs of two other items are in no list, so they have no score and no loss.

What is not judged is latent: the truth that w is to reproduce is the best clustering, at the present w, among
those that keep what is known (`training.train_and_complete`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clustruct.core import memory
from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, ItemSet, PairScores, pair_table
from clustruct.learning.grouping import constrained_groups


@dataclass(frozen=True)
class Region:
    """The named items of a set with all items that have a pair with them.

    x : the items with the listed pairs that touch a named one; the set as it is where all are named
    evidence : what is known of them
    items : their numbers in the set

    >>> x = ItemSet(pairs=[[1.0], [2.0], [3.0]], pair_index=[[0, 1], [1, 2], [2, 3]], n_items=4)
    >>> region = Region.of(x, Evidence.of_labels(np.array([0, -1, -1, -1])))
    >>> region.items.tolist(), region.x.index.tolist(), region.labels.tolist(), region.known_items.tolist()
    ([0, 1], [[0, 1]], [0, 1], [True, False])
    """

    x: ItemSet
    evidence: Evidence
    items: Ints

    @classmethod
    def of(
        cls, x: ItemSet, evidence: Evidence, *, listed: bool = False, memory_limit: memory.Size = None
    ) -> Region:
        """The region of a set; ``listed``: list the pairs of a complete set, too, so that all sets of a
        training are held alike.
        """
        named = evidence.named
        if named.all() and (x.is_sparse or not listed):
            return cls(x, evidence, np.arange(x.n_items))
        index, rows = _touching_pairs(x, named)
        if rows is None:
            _require(len(index), x, memory_limit)
        pairs = pair_table(x, index) if rows is None or x.pairs is None else x.pairs[rows]
        inside = named.copy()
        inside[index.ravel()] = True
        items = np.flatnonzero(inside)
        number = np.full(x.n_items, UNKNOWN, np.int64)
        number[items] = np.arange(len(items))
        part = ItemSet(
            pairs=pairs,
            pair_index=number[index],
            ids=None if x.ids is None else [x.ids[a] for a in items],
            feature_names=x.feature_names,
            n_items=len(items),
            sources=None if x.sources is None else x.sources[items],
        )
        return cls(part, evidence.take(items), items)

    @cached_property
    def labels(self) -> Ints:
        """A clustering that judged pairs are compared with; items of which nothing is known are alone."""
        return self.evidence.nodes

    @property
    def known_items(self) -> Bools:
        """Which items the evidence names."""
        return self.evidence.named

    @property
    def is_complete(self) -> bool:
        """Whether it names all of them."""
        return bool(self.known_items.all())

    @cached_property
    def judged_pairs(self) -> Bools:
        """Which of the listed pairs are judged."""
        return self.evidence.judges(self.x.pair_list)

    def complete_labels(self, w: Floats) -> Ints:
        """The best clustering that keeps what is known, at w: pieces whole, and those apart that differ."""
        if not self.x.is_sparse or self.judged_pairs.all():
            return self.labels
        assert self.x.pairs is not None
        values = np.asarray(self.x.pairs @ w, np.float64)
        return constrained_groups(
            PairScores(self.x.n_items, index=self.x.pair_list, values=values), self.evidence
        )


def regions_of(
    sets: Sequence[ItemSet],
    labels: Sequence[Ints],
    *,
    complete: bool = True,
    memory_limit: memory.Size = None,
) -> list[Region]:
    """The regions of sets with labels, -1 where not known; ``complete``: labelled clusters have all their
    items.
    """
    partial = any((y == UNKNOWN).any() for y in labels)
    return [
        Region.of(x, Evidence.of_labels(y, complete=complete), listed=partial, memory_limit=memory_limit)
        for x, y in zip(sets, labels, strict=True)
    ]


def _touching_pairs(x: ItemSet, known: Bools) -> tuple[Ints, Ints | None]:
    """The pairs with features that have a known item, and their rows in the list; of a set that has no list
    all such pairs, and no rows.
    """
    if x.index is not None:
        rows = np.flatnonzero(known[x.index].any(axis=1))
        return x.index[rows], rows
    numbers, own = np.arange(x.n_items), np.flatnonzero(known)
    # A known item with all unknown ones, and with the known ones after it.
    with_unknown = np.array(np.meshgrid(own, numbers[~known], indexing="ij")).reshape(2, -1).T
    left, right = np.triu_indices(len(own), 1)
    within = np.column_stack([own[left], own[right]])
    pairs = np.sort(np.concatenate([with_unknown, within]).astype(np.int64), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], None


def _require(n_pairs: int, x: ItemSet, limit: memory.Size) -> None:
    advice = "list likely pairs only (Blocking, pair_index; --block), or leave unlabelled items out"
    n_bytes = 2 * 8.0 * n_pairs * (x.n_features + 2)
    memory.require(n_bytes, f"features of {n_pairs:,} pairs that touch a labelled item", advice, limit)
