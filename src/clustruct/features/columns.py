"""The fields of one set as columns: each value folded once, and split once in each way that is asked for.

    field -> distinct folded texts -> terms (numbers of a vocabulary) of each text -> terms of each item

All blocks of features and the blocking look at the same columns, so that a text is read once, not once for
each of them, and a value that many items share is read once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Bools, Floats, Ints
from clustruct.records import RawSet, as_text, fold
from clustruct.records.values import LONGEST_TEXT

from .split import VIEWS, View, character_classes
from .vocabulary import Letters, Numbers, Vocabulary

T = TypeVar("T")
TermLists = Sequence[Sequence[str]]
# Terms of an item above which its counts need more than 16 bits.
MOST_SHORT = 60_000


@dataclass(frozen=True, eq=False)
class Texts:
    """The folded texts of a field: ``values`` has each once, ``codes`` the place of each item's."""

    codes: Ints
    values: Sequence[str]

    @cached_property
    def present(self) -> Bools:
        """Which items have one."""
        return np.fromiter(map(bool, self.values), np.bool_, len(self.values))[self.codes]


@dataclass(frozen=True, eq=False)
class TermTable:
    """The terms of items as sparse rows: row r has the term indices[k] counts[k] times, for k in
    indptr[r]..indptr[r + 1], sorted. Item a has row a, or row codes[a] where items share rows.

    >>> table = TermTable.of([["b", "a", "b"], []])
    >>> table.indptr.tolist(), table.counts.tolist(), table.vocabulary.words(table.indices)
    ([0, 2, 2], [2, 1], ['b', 'a'])
    """

    vocabulary: Vocabulary
    indptr: Ints
    indices: Numbers
    counts: NDArray[Any]
    codes: Ints | None = None

    @classmethod
    def of(cls, items: TermLists, vocabulary: Vocabulary | None = None) -> TermTable:
        """Rows of terms that are strings already."""
        flat = [term for terms in items for term in terms]
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        numbers = vocabulary.number(Letters.of(flat).keys(), lambda where: [flat[i] for i in where])
        indptr = np.zeros(len(items) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, items), np.int64, len(items)), out=indptr[1:])
        return cls.counted(vocabulary, indptr, numbers)

    @classmethod
    def counted(cls, vocabulary: Vocabulary, indptr: Ints, terms: Numbers) -> TermTable:
        """Rows of terms in any order, some more than once; they are sorted in place."""
        from ._kernels import sort_rows

        most = int(np.diff(indptr).max(initial=0))
        counts = np.empty(len(terms), np.uint16 if most < MOST_SHORT else np.int32)
        new = sort_rows(indptr, terms, counts)
        return cls(vocabulary, new, terms[: new[-1]].copy(), counts[: new[-1]].copy())

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.indptr) - 1 if self.codes is None else len(self.codes)

    @cached_property
    def sizes(self) -> Ints:
        """How many different terms each item has."""
        sizes = np.diff(self.indptr)
        return sizes if self.codes is None else sizes[self.codes]

    def n_with(self) -> Floats:
        """How many items have each term of the vocabulary."""
        from ._kernels import count_items

        rows = len(self.indptr) - 1
        weight = np.ones(rows) if self.codes is None else np.bincount(self.codes, minlength=rows) * 1.0
        out = np.zeros(len(self.vocabulary))
        count_items(self.indptr, self.indices, weight, out)
        return out


class Columns:
    """The columns of a set; what was made once is kept as long as they are.

    ``vocabularies`` may be those of other sets, whose terms then have the same numbers.

    >>> columns = Columns(RawSet([{"t": "Red  CAR"}, {"t": "red car"}, {"t": "x-100 red"}]))
    >>> columns.texts("t").values, columns.texts("t").codes.tolist()
    (['red car', 'x-100 red'], [0, 0, 1])
    >>> table = columns.terms(["t"], ["words", "codes"])
    >>> table.vocabulary.words(table.indices[table.indptr[2] : table.indptr[3]])
    ['red', 'x', '100', 'x100']
    """

    def __init__(self, raw: RawSet, vocabularies: dict[object, Vocabulary] | None = None) -> None:
        self.raw = raw
        self._vocabularies = {} if vocabularies is None else vocabularies
        self._made: dict[object, Any] = {}

    def __len__(self) -> int:
        return len(self.raw)

    def vocabulary(self, name: object) -> Vocabulary:
        """The vocabulary of this name."""
        return self._vocabularies.setdefault(name, Vocabulary())

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What ``make`` gave when it was first asked for under this key."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def texts(self, field: str) -> Texts:
        """The folded texts of a field."""
        return self.once(("texts", field), lambda: _folded(self.raw, field))

    def terms(self, fields: Sequence[str], views: Sequence[str]) -> TermTable:
        """The terms of the items: those of all the fields and views, counted together."""
        parts = [self._terms(field, view) for field in fields for view in views]
        if len(parts) == 1:
            return parts[0]
        name = VIEWS[views[0]].vocabulary if views else "words"
        if any(VIEWS[view].vocabulary != name for view in views):
            raise ValueError(f"{' and '.join(views)} have no vocabulary together")
        return self._together(self.vocabulary(name), parts)

    def _together(self, vocabulary: Vocabulary, parts: Sequence[TermTable]) -> TermTable:
        """Rows of the items, each all terms of its rows in the parts."""
        from ._kernels import place_terms, row_totals

        indptr = np.zeros(len(self) + 1, np.int64)
        for part in parts:
            assert part.codes is not None
            indptr[1:] += row_totals(part.indptr, part.counts)[part.codes]
        np.cumsum(indptr, out=indptr)
        terms, where = np.empty(indptr[-1], np.int32), indptr[:-1].copy()
        for part in parts:
            place_terms(part.codes, part.indptr, part.indices, part.counts, where, terms)
        return TermTable.counted(vocabulary, indptr, terms)

    def _terms(self, field: str, view: str) -> TermTable:
        return self.once(("terms", view, field), lambda: self._split(field, VIEWS[view]))

    def _split(self, field: str, view: View) -> TermTable:
        """The terms of a field's texts, a row for each text."""
        from ._kernels import count_terms, term_keys

        texts = self.texts(field)
        letters, starts = self.once(("characters", field), lambda: Letters.of(texts.values))
        kinds = self.once(("classes", field), lambda: character_classes(letters))
        indptr = count_terms(letters, starts, kinds, view.number)
        keys = term_keys(letters, starts, kinds, view.number, indptr)

        def read(where: Ints) -> list[str]:
            rows = np.searchsorted(indptr, where, side="right") - 1
            places = zip(rows.tolist(), (where - indptr[rows]).tolist(), strict=True)
            return [view.split(texts.values[row])[k] for row, k in places]

        vocabulary = self.vocabulary(view.vocabulary)
        numbers = vocabulary.number(keys, read)
        table = TermTable.counted(vocabulary, indptr, numbers)
        return TermTable(vocabulary, table.indptr, table.indices, table.counts, texts.codes)


def columns_of(sets: Sequence[RawSet]) -> list[Columns]:
    """The columns of sets whose terms are counted together: their vocabularies are the same."""
    shared: dict[object, Vocabulary] = {}
    return [Columns(raw, shared) for raw in sets]


def _folded(raw: RawSet, field: str) -> Texts:
    coded = raw.coded(field)
    place: dict[str, int] = {}
    texts = (v[:LONGEST_TEXT] if type(v) is str else as_text(v) for v in coded.values)
    numbers = [place.setdefault(fold(text), len(place)) for text in texts]
    if (coded.codes < 0).any():
        numbers.append(place.setdefault("", len(place)))  # what the code -1 picks
    return Texts(np.array(numbers, np.int64)[coded.codes], list(place))
