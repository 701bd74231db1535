"""Nearest neighbours of rows of terms, at a cost that grows with the number of items only.

    for each item a: the n others b of largest  sum over shared terms t of x_at x_bt

by an inverted index: for each term of a, go through the items that have it. Terms of many items would make
that quadratic, and say little; but two of them together (a common surname, a common town) say much and are
rare again. So terms of up to `common` items are gone through, and those of more in pairs, each pair being a
term of its own, for which the same limit holds. Cost: items times terms times `common`, at most.
"""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Ints
from clustruct.features.terms import Rows
from clustruct.features.vocabulary import Numbers, Vocabulary

# Where each row begins, its terms, their weights.
SparseRows: TypeAlias = tuple[Ints, Numbers, NDArray[np.float32]]
# Of the common terms of an item so many, the rarest, are taken in pairs.
MOST_COMMON = 8


class TermNeighbours:
    """The rows of a set, ready to be asked for neighbours.

    Parameters
    ----------
    rows : unit rows of terms
    common : terms of more items are looked at in pairs
    most : terms of more items are not looked at
    sources : the source of each item, where neighbours of an item are those of other sources only; by default
        each item is one
    since : the first item that is asked for its neighbours

    Ten neighbours of 100,000 made-up persons (13 words each) take 0.3 CPU s with `common` 30, and 99.7 of 100
    mates are among them; terms of up to 1,000 items, none in pairs, take 0.6 s and find 99.4.
    """

    def __init__(
        self, rows: Rows, common: int, most: int, sources: Ints | None = None, since: int = 0
    ) -> None:
        from ._kernels import common_pairs, postings, unit_rows

        table, n_with = rows.table, rows.table.n_with().astype(np.int64)
        codes = np.arange(table.n_items) if table.codes is None else table.codes
        self._sources = np.asarray(np.arange(len(codes)) if sources is None else sources, np.int32)
        self._since = since
        asked = table.terms_since(since) if since else n_with > 0
        self._rows = cast(
            SparseRows, unit_rows(codes, *table.csr, rows.idf, rows.norms, n_with, asked, since, common, most)
        )
        self._n_asked = np.where(asked, n_with, 0)
        self._postings = postings(*self._rows, self._n_asked, common)
        indptr, keys, weights = common_pairs(*self._rows, n_with, common, most, MOST_COMMON)
        numbers = Vocabulary()
        pairs = numbers.number(keys[indptr[since] :], lambda where: [])
        if since:  # pairs of terms that no item has which is asked are not even numbered
            earlier = numbers.find(keys[: indptr[since]])
            kept = np.concatenate([earlier >= 0, np.ones(len(pairs), np.bool_)])
            indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
            pairs, weights = np.concatenate([earlier, pairs])[kept], weights[kept]
        self._pairs: SparseRows = indptr, pairs, weights
        self._pair_postings = postings(*self._pairs, np.bincount(pairs, minlength=len(numbers)), common)

    def __len__(self) -> int:
        return len(self._rows[0]) - 1

    def nearest(self, n_neighbors: int) -> NDArray[np.int32]:
        """The neighbours of each item that is asked, nearest first; of equally near ones the first items.

        -1 where there are not so many that share anything.
        """
        from ._kernels import nearest_rows

        out = np.full((len(self) - self._since, n_neighbors), -1, np.int32)
        if n_neighbors:
            terms, pairs = (self._rows, self._postings), (self._pairs, self._pair_postings)
            nearest_rows(self._since, len(self), *terms, *pairs, self._sources, out)
        return out

    def sharing(self, rare: int) -> Ints:
        """The pairs that share a term of at most ``rare`` items, as keys a m + b, a < b."""
        from ._kernels import postings, sharing_pairs

        starts, items, _ = postings(*self._rows, self._n_asked, rare)
        return sorted_unique(sharing_pairs(starts, items, self._sources, len(self)))


def keys_of(neighbours: NDArray[np.int32], first: int = 0) -> Ints:
    """Each pair of neighbours once, as a m + b with a < b; the rows are of the last items, from ``first`` on.

    >>> keys_of(np.array([[1], [0], [1]], np.int32)).tolist()
    [1, 5]
    """
    n, m = neighbours.shape[1], first + len(neighbours)
    others = neighbours.ravel().astype(np.int64)
    there = others >= 0
    items, others = np.repeat(np.arange(first, m), n)[there], others[there]
    return sorted_unique(np.minimum(items, others) * m + np.maximum(items, others))


def sorted_unique(keys: Ints) -> Ints:
    """The distinct keys in order; sorting them took a third of the time of np.unique, which hashes."""
    ordered = np.sort(keys)
    first = np.ones(len(keys), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
