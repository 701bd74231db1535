"""The fields of one table as columns: each value is folded once, and split once in each way that is wanted.

    field -> distinct folded texts -> terms (numbers of a vocabulary) of each text -> terms of each item

All blocks of features and the blocking share the columns. `Columns.extend` adds items without reading the
others again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Readings, Table

from .vocabulary import (
    VIEWS,
    FoldedTexts,
    Numbers,
    PackedTexts,
    TermSplit,
    Vocabulary,
    character_classes,
    fold_column,
)

T = TypeVar("T")
TermLists = Sequence[Sequence[str]]
# Terms of an item above which its counts need more than 16 bits.
MOST_SHORT = 60_000


class Whole(Protocol):
    """The table that some columns are a part of."""

    @property
    def n_items(self) -> int: ...

    def document_frequency(self, name: str, table: TermTable) -> Floats:
        """How many items of the whole have each term of a part's vocabulary; ``name``: terms of what."""


@dataclass(frozen=True, eq=False)
class TermTable:
    """The terms of items as sparse rows: row r has the term indices[k] counts[k] times, for k from indptr[r]
    to indptr[r + 1], sorted. Item a has row a, or row codes[a] where items share rows.
    """

    vocabulary: Vocabulary
    indptr: Ints
    indices: Numbers
    counts: NDArray[Any]
    codes: Ints | None = None
    # The document frequency of the first terms of the vocabulary, where it was counted.
    counted: Floats | None = None
    # Where the items are a part of a table: the name of these terms, and the table.
    whole: tuple[str, Whole] | None = None

    @classmethod
    def of(cls, items: TermLists, vocabulary: Vocabulary | None = None) -> TermTable:
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        numbers = vocabulary.number_words([term for terms in items for term in terms])
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
        return len(self.indptr) - 1 if self.codes is None else len(self.codes)

    @property
    def population(self) -> int:
        return self.n_items if self.whole is None else self.whole[1].n_items

    @property
    def csr(self) -> tuple[Ints, Numbers, NDArray[Any]]:
        return self.indptr, self.indices, self.counts

    def terms_since(self, item: int) -> Bools:
        return self._count(item) > 0.0

    @cached_property
    def sizes(self) -> Ints:
        """How many different terms each item has."""
        sizes = np.diff(self.indptr)
        return sizes if self.codes is None else sizes[self.codes]

    def document_frequency(self) -> Floats:
        """How many items have each term of the vocabulary, in the whole table."""
        if self.whole is None:
            return self.own_document_frequency()
        return self.whole[1].document_frequency(self.whole[0], self)

    def own_document_frequency(self) -> Floats:
        out, counted = np.zeros(len(self.vocabulary)), self._own_counts
        out[: len(counted)] = counted
        return out

    @cached_property
    def _own_counts(self) -> Floats:
        return self._count(0) if self.counted is None else self.counted

    def _count(self, since: int) -> Floats:
        """How many of the items from number ``since`` on have each term."""
        from ._kernels import count_items

        rows = np.arange(since, self.n_items) if self.codes is None else self.codes[since:]
        out = np.zeros(len(self.vocabulary))
        count_items(self.indptr, self.indices, rows, out)
        return out

    def take(self, items: Ints) -> TermTable:
        """The terms of some of the items, which share rows."""
        assert self.codes is not None
        return replace(self, codes=self.codes[items], counted=None)

    def with_rows(self, more: TermTable, codes: Ints | None = None) -> TermTable:
        """With further rows; ``codes`` has the row of each item, old ones first, where items share rows."""
        indptr = np.concatenate([self.indptr, self.indptr[-1] + more.indptr[1:]])
        indices = np.concatenate([self.indices, more.indices])
        counts = np.concatenate([self.counts, more.counts])
        both = TermTable(self.vocabulary, indptr, indices, counts, codes)
        counted = both._count(self.n_items)
        counted[: len(self._own_counts)] += self._own_counts
        return replace(both, counted=counted)


class Columns:
    """The columns of a table; what was made of them once is kept as long as they are.

    ``vocabularies`` may be those of other tables, whose terms then have the same numbers. The table may be a
    part of a ``whole``, which knows how rare terms are.
    """

    def __init__(
        self, table: Table, vocabularies: dict[object, Vocabulary] | None = None, whole: Whole | None = None
    ) -> None:
        # The items as they came, and how their values are read (`read_with`).
        self.given, self.readings, self.whole = table, Readings(), whole
        self.vocabularies = {} if vocabularies is None else vocabularies
        self._once: dict[object, Any] = {}
        # What was made, and how it grows: from what it was, the columns of new items, and of all.
        self._by_item: dict[object, tuple[Any, Callable[[Any, Columns, Columns], Any]]] = {}
        # What was made of the first n items and read from a file; who asks for it says how it grows.
        self._older: dict[object, tuple[Any, int]] = {}

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def table(self) -> Table:
        """The items, their values read."""
        return self.once("table", lambda: self.readings.read(self.given))

    def read_with(self, readings: Readings) -> Columns:
        """The columns of the same items with their values read; both keep what was made of either."""
        if readings.key == self.readings.key:
            return self
        view = copy(self)
        view.readings = readings
        view.__dict__.pop("table", None)
        return view

    def _key_of_values(self, key: object) -> object:
        """What is made of read values is something else."""
        if not self.readings.key:
            return key
        return *(key if isinstance(key, tuple) else (key,)), ("read", self.readings.key)

    @property
    def population(self) -> int:
        return len(self) if self.whole is None else self.whole.n_items

    def by_key(self) -> dict[object, Any]:
        """What `by_item` has made of all these items, by key."""
        older = {key: value for key, (value, n) in self._older.items() if n == len(self)}
        return {**older, **{key: value for key, (value, _) in self._by_item.items()}}

    def keep(self, key: object, value: Any) -> None:
        """What was made of these items before, for `by_item`."""
        self._older[key] = value, len(self)

    def vocabulary(self, name: object) -> Vocabulary:
        return self.vocabularies.setdefault(name, Vocabulary())

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What ``make`` gave when this key was first used. It does not grow with the items."""
        key = self._key_of_values(key)
        if key not in self._once:
            self._once[key] = make()
        return cast(T, self._once[key])

    def by_item(
        self,
        key: object,
        make: Callable[[Columns], T],
        grow: Callable[[T, Columns, Columns], T] | None = None,
    ) -> T:
        """What ``make`` gave for each item: an array or a `TermTable` of one row for each, or some of these.

        Of added items only those are read. ``grow`` is for other things: of what there was, the columns of
        the new items and those of all, it makes what there is now.
        """
        key, readings = self._key_of_values(key), self.readings
        if key not in self._by_item:
            given = grow or (lambda old, new, _: _append(old, make(new)))

            def growth(old: T, new: Columns, whole: Columns) -> T:
                return given(old, new.read_with(readings), whole.read_with(readings))

            value = self._from_older(key, growth) if key in self._older else make(self)
            self._by_item[key] = self._as_part(key, value), growth
        return cast(T, self._by_item[key][0])

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

        def make() -> Columns:
            return Columns(self.given.take(np.arange(n, len(self))), self.vocabularies)

        return grow(value, self.once(("since", n), make), self)

    def extend(self, new: Table, table: Table) -> Columns:
        """The columns of these items and new ones, which are all in ``table``, in this order.

        At the cost of the new items, and of copying what is known of the others (bytes, not texts).
        """
        part, both = Columns(new, self.vocabularies), Columns(table, self.vocabularies, self.whole)
        both._older = self._older
        for key, (value, grow) in self._by_item.items():
            both._by_item[key] = both._as_part(key, grow(value, part, both)), grow
        return both.read_with(self.readings)

    def take(self, items: Ints) -> Columns:
        """The columns of some of the items; their texts are not read again."""
        other = Columns(self.given.take(items), self.vocabularies, self.whole)
        for key, (value, grow) in self._by_item.items():
            if isinstance(value, FoldedTexts | TermTable) and getattr(value, "codes", None) is not None:
                other._by_item[key] = other._as_part(key, value.take(items)), grow
        return other.read_with(self.readings)

    def copy(self) -> Columns:
        """The same items, with vocabularies and texts of their own."""
        words = {name: vocabulary.copy() for name, vocabulary in self.vocabularies.items()}
        renewed = {id(vocabulary): words[name] for name, vocabulary in self.vocabularies.items()}
        other = Columns(self.given, words, self.whole)
        for key, (value, grow) in self._by_item.items():
            other._by_item[key] = _replace_vocabularies(value, renewed), grow
        return other.read_with(self.readings)

    def texts(self, field: str) -> FoldedTexts:
        """The folded texts of a field."""
        return self.by_item(
            ("texts", field),
            lambda c: FoldedTexts.of(*fold_column(c.table, field)),
            lambda old, new, _: old.with_texts(*fold_column(new.table, field)),
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
            lambda old, _, whole: old.with_rows(whole._together(name, fields, views, old.n_items)),
        )

    def _together(self, name: str, fields: Sequence[str], views: Sequence[str], since: int = 0) -> TermTable:
        """Rows of the items from number ``since`` on, each all terms of its rows in the tables of fields."""
        from ._kernels import place_terms, row_totals

        parts = [self._terms(field, view) for field in fields for view in views]
        codes = [part.codes[since:] for part in parts if part.codes is not None]
        indptr = np.zeros(len(self) - since + 1, np.int64)
        for rows, part in zip(codes, parts, strict=True):
            row_totals(rows, part.indptr, part.counts, indptr[1:])
        np.cumsum(indptr, out=indptr)
        terms, where = np.empty(indptr[-1], np.int32), indptr[:-1].copy()
        for rows, part in zip(codes, parts, strict=True):
            place_terms(rows, *part.csr, where, terms)
        return TermTable.counted_rows(self.vocabulary(name), indptr, terms)

    def _terms(self, field: str, view: str) -> TermTable:
        def grow(old: TermTable, _: Columns, whole: Columns) -> TermTable:
            return old.with_rows(
                whole._split(field, VIEWS[view], len(old.indptr) - 1), whole.texts(field).codes
            )

        def make(columns: Columns) -> TermTable:
            return replace(columns._split(field, VIEWS[view]), codes=columns.texts(field).codes)

        return self.by_item(("terms", view, field), make, grow)

    def _split(self, field: str, view: TermSplit, since: int = 0) -> TermTable:
        """The terms of a field's texts, a row for each text from number ``since`` on."""
        from ._kernels import count_terms, term_keys

        values = self.texts(field).values
        texts = self.once(("values", field, since), lambda: values[since:])
        letters, starts = self.once(("characters", field, since), partial(PackedTexts.of, texts))
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
    """The columns of tables whose terms are counted together: they share vocabularies."""
    shared: dict[object, Vocabulary] = {}
    return [Columns(table, shared) for table in sets]


def _replace_vocabularies(value: Any, vocabularies: dict[int, Vocabulary]) -> Any:
    """What was made of items, with other vocabularies in place of those of these ids."""
    if isinstance(value, tuple):
        return tuple(_replace_vocabularies(one, vocabularies) for one in value)
    if isinstance(value, TermTable):
        return replace(value, vocabulary=vocabularies[id(value.vocabulary)])
    if isinstance(value, FoldedTexts):
        return value.copy()
    return value


def _append(old: Any, new: Any) -> Any:
    if isinstance(old, tuple):
        return tuple(map(_append, old, new))
    return old.with_rows(new) if isinstance(old, TermTable) else np.concatenate([old, new])
