"""The fields of one set as columns: each value folded once, and split once in each way that is asked for.

    field -> distinct folded texts -> terms (numbers of a vocabulary) of each text -> terms of each item

All blocks of features and the blocking look at the same columns, so that a text is read once, not once for
each of them, and a value that many items share is read once for all. Columns grow with further items
(`Columns.extended`): those that are there are not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Table

from .vocabulary import VIEWS, FoldedTexts, Letters, Numbers, TermSplit, Vocabulary, character_classes, folded

T = TypeVar("T")
TermLists = Sequence[Sequence[str]]
# Terms of an item above which its counts need more than 16 bits.
MOST_SHORT = 60_000


class Whole(Protocol):
    """The table that some columns are a part of: what its parts must know of each other."""

    @property
    def n_items(self) -> int:
        """How many items it has."""

    def n_with(self, name: str, table: TermTable) -> Floats:
        """How many items of the whole table have each term of a part's vocabulary; ``name`` says which terms
        of items these are.
        """


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
    # How many items have each of the first terms of the vocabulary, where that was counted.
    counted: Floats | None = None
    # Where the items are a part of a table: the name of these terms, and the table.
    whole: tuple[str, Whole] | None = None

    @classmethod
    def of(cls, items: TermLists, vocabulary: Vocabulary | None = None) -> TermTable:
        """Rows of terms that are strings already."""
        flat = [term for terms in items for term in terms]
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        numbers = vocabulary.number(Letters.of(flat).keys(), lambda where: [flat[i] for i in where])
        indptr = np.zeros(len(items) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, items), np.int64, len(items)), out=indptr[1:])
        return cls.counted_rows(vocabulary, indptr, numbers)

    @classmethod
    def counted_rows(cls, vocabulary: Vocabulary, indptr: Ints, terms: Numbers) -> TermTable:
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

    @property
    def population(self) -> int:
        """How many items there are in the whole table."""
        return self.n_items if self.whole is None else self.whole[1].n_items

    @property
    def csr(self) -> tuple[Ints, Numbers, NDArray[Any]]:
        """What kernels take."""
        return self.indptr, self.indices, self.counts

    def terms_since(self, item: int) -> Bools:
        """Which terms of the vocabulary the items from number ``item`` on have."""
        return self._count(item) > 0.0

    @cached_property
    def sizes(self) -> Ints:
        """How many different terms each item has."""
        sizes = np.diff(self.indptr)
        return sizes if self.codes is None else sizes[self.codes]

    def n_with(self) -> Floats:
        """How many items have each term of the vocabulary, in the whole table."""
        return self.own_n_with() if self.whole is None else self.whole[1].n_with(self.whole[0], self)

    def own_n_with(self) -> Floats:
        """How many of these items have each term of the vocabulary."""
        out, counted = np.zeros(len(self.vocabulary)), self._counted
        out[: len(counted)] = counted
        return out

    @cached_property
    def _counted(self) -> Floats:
        return self._count(0) if self.counted is None else self.counted

    def _count(self, since: int) -> Floats:
        """How many of the items from number ``since`` on have each term."""
        from ._kernels import count_items

        rows = np.arange(since, self.n_items) if self.codes is None else self.codes[since:]
        out = np.zeros(len(self.vocabulary))
        count_items(self.indptr, self.indices, rows, out)
        return out

    def grown(self, more: TermTable, codes: Ints | None = None) -> TermTable:
        """With further rows; ``codes`` has the row of each item, the old ones first, where items share rows.

        >>> first = TermTable.of([["a"]])
        >>> both = first.grown(TermTable.of([["a", "b"]], first.vocabulary))
        >>> both.n_items, both.indptr.tolist(), both.n_with().tolist()
        (2, [0, 1, 3], [2.0, 1.0])
        """
        indptr = np.concatenate([self.indptr, self.indptr[-1] + more.indptr[1:]])
        indices, counts = (
            np.concatenate(parts) for parts in ((self.indices, more.indices), (self.counts, more.counts))
        )
        both = TermTable(self.vocabulary, indptr, indices, counts, codes)
        counted = both._count(self.n_items)
        counted[: len(self._counted)] += self._counted
        return replace(both, counted=counted)


class Kept(NamedTuple):
    """What was made of items, and how it grows: from what it was, the columns of new items, and of all."""

    value: Any
    grow: Callable[[Any, Columns, Columns], Any]


class Older(NamedTuple):
    """What was made of the first items and read from a file: how it grows says who asks for it."""

    value: Any
    n_items: int


class Columns:
    """The columns of a set; what was made once is kept as long as they are.

    ``vocabularies`` may be those of other sets, whose terms then have the same numbers. The set may be a part
    of a ``whole`` table, which says how rare terms are.

    >>> columns = Columns(Table([{"t": "Red  CAR"}, {"t": "red car"}, {"t": "x-100 red"}]))
    >>> columns.texts("t").values, columns.texts("t").codes.tolist()
    (['red car', 'x-100 red'], [0, 0, 1])
    >>> table = columns.terms(["t"], ["words", "codes"])
    >>> table.vocabulary.words(table.indices[table.indptr[2] : table.indptr[3]])
    ['red', 'x', '100', 'x100']
    """

    def __init__(
        self, table: Table, vocabularies: dict[object, Vocabulary] | None = None, whole: Whole | None = None
    ) -> None:
        self.table, self.whole = table, whole
        self._vocabularies = {} if vocabularies is None else vocabularies
        self._made: dict[object, Any] = {}
        self._kept: dict[object, Kept] = {}
        self._older: dict[object, Older] = {}

    def __len__(self) -> int:
        return len(self.table)

    @property
    def population(self) -> int:
        """How many items there are in the whole table."""
        return len(self) if self.whole is None else self.whole.n_items

    @property
    def vocabularies(self) -> dict[object, Vocabulary]:
        """All vocabularies, by name."""
        return self._vocabularies

    def made(self) -> dict[object, Any]:
        """What was made of all these items, by key."""
        older = {key: old.value for key, old in self._older.items() if old.n_items == len(self)}
        return {**older, **{key: kept.value for key, kept in self._kept.items()}}

    def keep(self, key: object, value: Any) -> None:
        """What was made of these items before, for `by_item`."""
        self._older[key] = Older(value, len(self))

    def vocabulary(self, name: object) -> Vocabulary:
        """The vocabulary of this name."""
        return self._vocabularies.setdefault(name, Vocabulary())

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What ``make`` gave when it was first asked for under this key. It is not for other items."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def by_item(
        self,
        key: object,
        make: Callable[[Columns], T],
        grow: Callable[[T, Columns, Columns], T] | None = None,
    ) -> T:
        """What ``make`` gave for each item: an array or a `TermTable` of one row for each, or some of these.

        When items are added only those are looked at. ``grow`` is for other things: given what there was,
        the columns of the new items and those of all, it gives what there is now.
        """
        if key not in self._kept:
            growth = grow or (lambda old, new, _: _appended(old, make(new)))
            value = self._from_older(key, growth) if key in self._older else make(self)
            self._kept[key] = Kept(self._as_part(key, value), growth)
        return cast(T, self._kept[key].value)

    def _as_part(self, key: object, value: T, place: int = 0) -> T:
        """Terms of items that know how rare they are in the whole table."""
        if self.whole is None:
            return value
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return cast(T, tuple(self._as_part(key, one, k) for k, one in enumerate(value)))
        if isinstance(value, TermTable):
            return cast(T, replace(value, whole=(f"{place} {key}", self.whole)))
        return value

    def _from_older(self, key: object, grow: Callable[[Any, Columns, Columns], T]) -> T:
        value, n = self._older[key]
        if n == len(self):
            return cast(T, value)
        return grow(value, self.once(("since", n), lambda: self._since(n)), self)

    def _since(self, n: int) -> Columns:
        """The columns of the items from number n on."""
        return Columns(self.table.take(np.arange(n, len(self))), self._vocabularies)

    def extended(self, new: Table, table: Table) -> Columns:
        """The columns of these items and new ones, which are all in ``table``, in this order.

        At the cost of the new items, and of copying what is known of the others (bytes, not texts).
        """
        part, both = Columns(new, self._vocabularies), Columns(table, self._vocabularies, self.whole)
        both._older = self._older
        for key, kept in self._kept.items():
            both._kept[key] = Kept(both._as_part(key, kept.grow(kept.value, part, both)), kept.grow)
        return both

    def copy(self) -> Columns:
        """The same items, whose vocabularies and texts grow by themselves."""
        words = {name: vocabulary.copy() for name, vocabulary in self._vocabularies.items()}
        renewed = {id(vocabulary): words[name] for name, vocabulary in self._vocabularies.items()}
        other = Columns(self.table, words, self.whole)
        other._kept = {
            key: Kept(_renewed(kept.value, renewed), kept.grow) for key, kept in self._kept.items()
        }
        return other

    def texts(self, field: str) -> FoldedTexts:
        """The folded texts of a field."""
        return self.by_item(
            ("texts", field),
            lambda c: FoldedTexts.of(*folded(c.table, field)),
            lambda old, new, _: old.grown(*folded(new.table, field)),
        )

    def terms(self, fields: Sequence[str], views: Sequence[str]) -> TermTable:
        """The terms of the items: those of all the fields and views, counted together."""
        if len(fields) == len(views) == 1:
            return self._terms(fields[0], views[0])
        name = VIEWS[views[0]].vocabulary if views else "words"
        if any(VIEWS[view].vocabulary != name for view in views):
            raise ValueError(f"{' and '.join(views)} have no vocabulary together")
        for field in fields:
            for view in views:
                self._terms(field, view)
        return self.by_item(
            ("together", tuple(fields), tuple(views)),
            lambda c: c._together(name, fields, views),
            lambda old, _, whole: old.grown(whole._together(name, fields, views, old.n_items)),
        )

    def _together(self, name: str, fields: Sequence[str], views: Sequence[str], since: int = 0) -> TermTable:
        """Rows of the items from number ``since`` on, each all terms of its rows in the tables of fields."""
        from ._kernels import place_terms, row_totals

        parts = [self._terms(field, view) for field in fields for view in views]
        indptr = np.zeros(len(self) - since + 1, np.int64)
        for part in parts:
            assert part.codes is not None
            row_totals(part.codes[since:], part.indptr, part.counts, indptr[1:])
        np.cumsum(indptr, out=indptr)
        terms, where = np.empty(indptr[-1], np.int32), indptr[:-1].copy()
        for part in parts:
            assert part.codes is not None
            place_terms(part.codes[since:], part.indptr, part.indices, part.counts, where, terms)
        return TermTable.counted_rows(self.vocabulary(name), indptr, terms)

    def _terms(self, field: str, view: str) -> TermTable:
        def grow(old: TermTable, _: Columns, whole: Columns) -> TermTable:
            return old.grown(whole._split(field, VIEWS[view], len(old.indptr) - 1), whole.texts(field).codes)

        def make(columns: Columns) -> TermTable:
            return replace(columns._split(field, VIEWS[view]), codes=columns.texts(field).codes)

        return self.by_item(("terms", view, field), make, grow)

    def _split(self, field: str, view: TermSplit, since: int = 0) -> TermTable:
        """The terms of a field's texts, a row for each text from number ``since`` on."""
        from ._kernels import count_terms, term_keys

        values = self.texts(field).values
        texts = self.once(("values", field, since), lambda: values[since:])
        letters, starts = self.once(("characters", field, since), partial(Letters.of, texts))
        kinds = self.once(("classes", field, since), partial(character_classes, letters))
        indptr = count_terms(letters, starts, kinds, view.number)
        keys = term_keys(letters, starts, kinds, view.number, indptr)

        def read(where: Ints) -> list[str]:
            rows = np.searchsorted(indptr, where, side="right") - 1
            places = zip(rows.tolist(), (where - indptr[rows]).tolist(), strict=True)
            return [view.split(texts[row])[k] for row, k in places]

        vocabulary = self.vocabulary(view.vocabulary)
        return TermTable.counted_rows(vocabulary, indptr, vocabulary.number(keys, read))


def columns_of(sets: Sequence[Table]) -> list[Columns]:
    """The columns of sets whose terms are counted together: their vocabularies are the same."""
    shared: dict[object, Vocabulary] = {}
    return [Columns(table, shared) for table in sets]


def _renewed(value: Any, vocabularies: dict[int, Vocabulary]) -> Any:
    """What was made of items, with other vocabularies, by the ids of those it had."""
    if isinstance(value, tuple):
        return tuple(_renewed(one, vocabularies) for one in value)
    if isinstance(value, TermTable):
        return replace(value, vocabulary=vocabularies[id(value.vocabulary)])
    if isinstance(value, FoldedTexts):
        return value.copy()
    return value


def _appended(old: Any, new: Any) -> Any:
    """The rows of both."""
    if isinstance(old, tuple):
        return tuple(map(_appended, old, new))
    return old.grown(new) if isinstance(old, TermTable) else np.concatenate([old, new])
