"""Which rows of a table are equal in all that features compare: the same folded values, of one source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustruct.core.typing import Bools, Ints
from clustruct.data import Column, EqualRows, is_missing
from clustruct.data.column_types import ArrayColumn, ListColumn
from clustruct.data.values import is_vector

from .columns import Columns
from .vocabulary import Keys, PackedTexts, mix_keys

# Equal rows of which features see so many at most: how rare a term is does not depend on how often a row was
# copied, and so many copies are as many as learning needs to see what an identical pair means.
MOST_COPIES = 10


def find_equal_rows(columns: Columns, fields: Sequence[str]) -> EqualRows | None:
    """The rows that are equal in these fields; None where no two are.

    Rows without any value are equal to none: there is nothing in which they agree.
    """
    if columns.whole is not None:
        return None

    def find() -> EqualRows | None:
        coded = [_codes(columns, field) for field in fields]
        known = _has_value(coded, len(columns))
        row = _number_rows([codes for codes, _ in coded], known)
        return None if row is None else EqualRows.of(row)

    return columns.once(("equal rows", *fields), find)


def row_keys(columns: Columns, fields: Sequence[str]) -> tuple[Keys, Bools]:
    """A key of each row that equal rows share in whatever part of a table; and which rows have a value."""
    keys, there = np.zeros(len(columns), np.uint64), np.zeros(len(columns), np.bool_)
    for k, field in enumerate(fields):
        texts = columns.texts(field)
        keys = mix_keys(keys ^ np.uint64(k), PackedTexts.of(texts.values).keys()[texts.codes])
        there |= texts.present
    return keys, there


def _has_value(coded: Sequence[tuple[Ints, Bools]], n: int) -> Bools:
    return np.logical_or.reduce([there for _, there in coded], initial=False) | np.zeros(n, np.bool_)


def _codes(columns: Columns, field: str) -> tuple[Ints, Bools]:
    """A number that equal values of a field share, and which values are there."""
    column = columns.table.field_column(field)
    if (isinstance(column, ArrayColumn) and column.array.ndim > 1) or _holds_vectors(column):
        from .blocks.vectors import vectors_of  # which models of records do without

        vectors, there = vectors_of(columns, [field])
        rows = np.ascontiguousarray(vectors)
        keys = rows.view(f"V{max(rows.strides[0], 1)}").ravel() if rows.size else np.zeros(len(rows))
        return np.unique(keys, return_inverse=True)[1], there
    if isinstance(column, ArrayColumn):
        codes = column.factorize().codes
        return codes, codes >= 0
    texts = columns.texts(field)
    return texts.codes, texts.present


def _holds_vectors(column: Column) -> bool:
    """Whether values are lists of numbers, by the first that is there."""
    if not isinstance(column, ListColumn):
        return False
    return is_vector(next((value for value in column.values if not is_missing(value)), None))


def _number_rows(codes: Sequence[Ints], known: Bools) -> Ints | None:
    """A number that equal rows share, by a key of 64 bits; by all codes where two have one key by chance."""
    keys = np.zeros(len(known), np.uint64)
    for k, one in enumerate(codes):
        keys = mix_keys(keys ^ np.uint64(k), one.astype(np.uint64))
    ordered = np.sort(keys[known])
    if not (ordered[1:] == ordered[:-1]).any():  # as in most tables: nothing else needs to be looked at
        return None
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    if any((one[first[row]] != one)[known].any() for one in codes):
        row = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()
    return np.where(known, row, len(known) + np.arange(len(known)))
