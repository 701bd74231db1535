"""The part of a set that partial labels say something about.

Of a set with items of known and of unknown cluster only the pairs that touch a known item are judged. The
*region* is the known items, the unknown ones that have a listed pair with a known one, and these pairs. An
unknown item is alone there: pairs of two unknown items are in no list, so they have no score and no loss, and
a pair of a known and an unknown item is apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustruct.core import memory
from clustruct.core.partitions import UNKNOWN, canonical_labels
from clustruct.core.typing import Bools, Ints
from clustruct.data import ItemSet, pair_table
from clustruct.data.evidence import alone_where_unknown


@dataclass(frozen=True)
class Region:
    """Items whose pairs are judged.

    Attributes
    ----------
    x : ItemSet
        The items, with the listed pairs that touch a known one; the set as it is where all are known.
    labels : array of int
        Their clusters, an unknown item having one of its own.
    known : array of bool
        Which items have a known cluster.
    items : array of int
        Their numbers in the set.

    Examples
    --------
    >>> x = ItemSet(pairs=[[1.0], [2.0], [3.0]], pair_index=[[0, 1], [1, 2], [2, 3]], n_items=4)
    >>> region = Region.of(x, np.array([0, -1, -1, -1]))
    >>> region.items.tolist(), region.x.pair_index.tolist(), region.labels.tolist(), region.known.tolist()
    ([0, 1], [[0, 1]], [0, 1], [True, False])
    """

    x: ItemSet
    labels: Ints
    known: Bools
    items: Ints

    @classmethod
    def of(
        cls, x: ItemSet, labels: Ints, *, listed: bool = False, memory_limit: memory.Size = None
    ) -> Region:
        """The region of a set with labels, -1 where not known.

        ``listed``: list the pairs of a complete set, too, so that all sets of a training are held alike.
        """
        known = labels != UNKNOWN
        if known.all() and (x.is_sparse or not listed):
            return cls(x, canonical_labels(labels), known, np.arange(x.n_items))
        index, rows = _touching(x, known)
        if rows is None:
            _require(len(index), x, memory_limit)
        pairs = pair_table(x, index) if rows is None or x.pairs is None else x.pairs[rows]
        items = np.flatnonzero(known | _mentioned(index, x.n_items))
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
        return cls(part, alone_where_unknown(labels[items]), known[items], items)

    @property
    def is_complete(self) -> bool:
        """Whether all clusters are known."""
        return bool(self.known.all())

    @property
    def both_known(self) -> Bools | None:
        """Which listed pairs are of two known items; None where all are."""
        if self.is_complete:
            return None
        return np.asarray(self.known[self.x.pair_list].all(axis=1))


def _touching(x: ItemSet, known: Bools) -> tuple[Ints, Ints | None]:
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


def _mentioned(index: Ints, m: int) -> Bools:
    found = np.zeros(m, np.bool_)
    found[index.ravel()] = True
    return found


def _require(n_pairs: int, x: ItemSet, limit: memory.Size) -> None:
    advice = "list likely pairs only (Blocking, pair_index; --block), or leave unlabelled items out"
    n_bytes = 2 * 8.0 * n_pairs * (x.n_features + 2)
    memory.require(n_bytes, f"features of {n_pairs:,} pairs that touch a labelled item", advice, limit)
