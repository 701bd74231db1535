"""Raw sets: items as they came from a file or a table, before any features, and what their fields hold:
strings, texts, numbers, dates, lists, vectors.
"""

from __future__ import annotations

from .columns import (
    ArrayColumn,
    ChainedColumn,
    Coded,
    CodedColumn,
    Column,
    ListColumn,
    as_column,
    first_appearance,
    without_blank,
)
from .fields import Fields, ItemKind, field_kinds
from .later import LaterColumn
from .raw_set import RawSet, Source
from .rows import Rows
from .texts import Texts, is_utf8
from .values import as_day, as_number, as_text, fold, holds, is_missing, is_vector

__all__ = [
    "ArrayColumn",
    "ChainedColumn",
    "Coded",
    "CodedColumn",
    "Column",
    "Fields",
    "ItemKind",
    "LaterColumn",
    "ListColumn",
    "RawSet",
    "Rows",
    "Source",
    "Texts",
    "as_column",
    "as_day",
    "as_number",
    "as_text",
    "field_kinds",
    "first_appearance",
    "fold",
    "holds",
    "is_missing",
    "is_utf8",
    "is_vector",
    "without_blank",
]
