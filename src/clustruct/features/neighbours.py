"""Nearest neighbours of rows of terms, at a cost that grows with the number of items only.

    for each item a: the n others b of largest  sum over shared terms t of x_at x_bt

by an inverted index: for each term of a, go through the items that have it. Terms of many items would make
that quadratic, but two of them together (a common surname, a common town) are rare again. So terms of up to
`common` items are used, and those of more in pairs, each pair being a term of its own with the same limit.
Cost: items times terms times `common`, at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Floats, Ints

from .term_weights import TfIdfRows
from .vocabulary import Keys, Numbers, Vocabulary

# Where each row begins, its terms, their weights.
SparseRows: TypeAlias = tuple[Ints, Numbers, NDArray[np.float32]]
# Of the common terms of an item so many, the rarest, are taken in pairs.
MOST_COMMON = 8


@dataclass(frozen=True)
class TermKeys:
    """What items of a set, or of a part of it, are found by: their terms, and common terms in pairs."""

    rows: SparseRows
    # How many items have each term, and its key, which does not depend on the order of items.
    frequency: Ints
    names: Keys
    # Of pairs of common terms: where each row begins, keys of two numbers of terms, weights.
    pairs: tuple[Ints, Keys, NDArray[np.float32]]

    @classmethod
    def of(cls, rows: TfIdfRows, common: int, most: int, since: int = 0) -> TermKeys:
        from ._neighbour_kernels import common_pairs, unit_rows

        table, frequency = rows.table, rows.table.document_frequency().astype(np.int64)
        codes = np.arange(table.n_items) if table.codes is None else table.codes
        asked = table.terms_since(since) if since else frequency > 0
        made = cast(
            SparseRows,
            unit_rows(codes, *table.csr, rows.idf, rows.norms, frequency, asked, since, common, most),
        )
        names = table.vocabulary.keys
        pairs = common_pairs(*made, frequency, names, common, most, MOST_COMMON)
        return cls(made, np.where(asked, frequency, 0), names, pairs)


class TermNeighbours:
    """Unit rows of terms, and rows of pairs of common terms, by which neighbours of items are found.

    Terms, and pairs, of more than ``common`` items are left out. Neighbours of an item are those of other
    ``sources`` (by default each item is one). The items ``asked`` (by default all) get neighbours.
    """

    def __init__(
        self,
        rows: SparseRows,
        frequency: Ints,
        pairs: SparseRows,
        pair_frequency: Ints,
        common: int,
        sources: Ints | None = None,
        asked: range | None = None,
    ) -> None:
        from ._neighbour_kernels import postings

        self._rows, self._pairs, self._frequency, self._common = rows, pairs, frequency, common
        self.asked = range(len(self)) if asked is None else asked
        self._sources = np.asarray(np.arange(len(self)) if sources is None else sources, np.int32)
        self._postings = postings(*rows, frequency, common)
        self._pair_postings = postings(*pairs, pair_frequency, common)

    @classmethod
    def of(
        cls, rows: TfIdfRows, common: int, most: int, sources: Ints | None = None, since: int = 0
    ) -> TermNeighbours:
        """Of the rows of a set: terms of more than ``common`` items are looked at in pairs, terms of more
        than ``most`` not at all; items from number ``since`` on get neighbours.

        Ten neighbours of 100,000 made-up persons (13 words each) take 0.3 CPU s with `common` 30, and 99.7 of
        100 mates are among them; terms of up to 1,000 items, none in pairs, take 0.6 s and find 99.4.
        """
        keys = TermKeys.of(rows, common, most, since)
        indptr, pair_keys, weights = keys.pairs
        numbers = Vocabulary()
        pairs = numbers.number(pair_keys[indptr[since] :], lambda where: [])
        if since:  # pairs of terms that no asked item has are not numbered
            earlier = numbers.find(pair_keys[: indptr[since]])
            kept = np.concatenate([earlier >= 0, np.ones(len(pairs), np.bool_)])
            indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
            pairs, weights = np.concatenate([earlier, pairs])[kept], weights[kept]
        pair_frequency = np.bincount(pairs, minlength=len(numbers))
        asked = range(since, len(keys.rows[0]) - 1)
        return cls(
            keys.rows,
            keys.frequency,
            (indptr, pairs, weights),
            pair_frequency,
            common,
            sources,
            asked,
        )

    def __len__(self) -> int:
        return len(self._rows[0]) - 1

    @property
    def has_terms(self) -> Bools:
        """Which items have a term."""
        return np.diff(self._rows[0]) > 0

    @property
    def has_common_terms(self) -> Bools:
        """Which items have a term that is not looked at by itself: neighbours of theirs may be missed."""
        indptr, terms, _ = self._rows
        before = np.append(0, np.cumsum(self._frequency[terms] > self._common))
        return np.asarray(before[indptr[1:]] > before[indptr[:-1]])

    def nearest(self, n_neighbors: int) -> NDArray[np.int32]:
        """The neighbours of each asked item, nearest first, equal ones by number; -1 where there are none."""
        from ._neighbour_kernels import nearest_rows

        out = np.full((len(self.asked), n_neighbors), -1, np.int32)
        if n_neighbors:
            terms, pairs = (self._rows, self._postings), (self._pairs, self._pair_postings)
            nearest_rows(self.asked.start, self.asked.stop, *terms, *pairs, self._sources, out)
        return out

    def sharing(self, rare: int) -> Ints:
        """The pairs that share a term of at most ``rare`` items, as keys a m + b, a < b."""
        from ._neighbour_kernels import postings, sharing_pairs

        starts, items, _ = postings(*self._rows, self._frequency, rare)
        return sorted_unique(sharing_pairs(starts, items, self._sources, len(self)))


def keys_of(neighbours: NDArray[np.int32], first: int = 0, n_items: int | None = None) -> Ints:
    """Each pair of neighbours once, as a m + b with a < b; the rows are of the items from ``first`` on, which
    are the last of m unless ``n_items`` says how many there are.
    """
    n, last = neighbours.shape[1], first + len(neighbours)
    m = last if n_items is None else n_items
    others = neighbours.ravel().astype(np.int64)
    there = others >= 0
    items, others = np.repeat(np.arange(first, last), n)[there], others[there]
    return sorted_unique(np.minimum(items, others) * m + np.maximum(items, others))


def sorted_unique(keys: Ints) -> Ints:
    """The distinct keys in order, in a third of the time of np.unique."""
    ordered = np.sort(keys)
    first = np.ones(len(keys), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


# Products held at once.
MOST_PRODUCTS = 16_000_000


def nearest_vectors(X: Floats, n_neighbors: int, sources: Ints | None = None) -> NDArray[np.int32]:
    """For each row those of largest cosine (of other sources), largest first, equal ones by number.

    -1 where there are not so many others. A row of zeros has no neighbours and is none.

    Cost: m^2 N in float32. Ten neighbours of 50,000 rows of 384 numbers in clusters of about four took 28 CPU
    s; pynndescent took 3, but it found 37 of 100 of the neighbours and 72 of 100 of the rows of a cluster.

    >>> nearest_vectors(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 2.0], [0.0, 0.0]]), 1).tolist()
    [[1], [0], [1], [-1]]
    """
    from ._neighbour_kernels import best_columns

    norm = np.linalg.norm(X, axis=1)
    there = np.flatnonzero(norm > 0.0)
    unit = (X[there] / norm[there, None]).astype(np.float32)
    found = np.full((len(there), n_neighbors), -1, np.int32)
    source = np.arange(len(X)) if sources is None else sources
    source = np.asarray(source[there], np.int32)
    at_once = max(1, MOST_PRODUCTS // max(len(there), 1))
    for first in range(0, len(there) if n_neighbors else 0, at_once):
        products = unit[first : first + at_once] @ unit.T
        best_columns(products, first, source, found[first : first + at_once])
    out = np.full((len(X), n_neighbors), -1, np.int32)
    out[there] = np.where(found >= 0, there[found], -1)
    return out
