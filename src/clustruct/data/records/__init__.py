"""Raw sets: items as they came from a file or a table, before any features, and what their fields hold:
strings, texts, numbers, dates, lists, vectors.
``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from __future__ import annotations

from .columns import (
    ArrayColumn as ArrayColumn,
    ChainedColumn as ChainedColumn,
    Coded,
    CodedColumn as CodedColumn,
    Column,
    LazyColumn as LazyColumn,
    ListColumn as ListColumn,
    as_column as as_column,
    first_appearance as first_appearance,
    without_blank as without_blank,
)
from .fields import Fields, ItemKind, field_kinds
from .table import Table, Rows as Rows, Source
from .texts import Texts as Texts, is_utf8 as is_utf8
from .values import as_day, as_number, as_text, fold, holds as holds, is_missing, is_vector as is_vector

__all__ = [
    "Coded",
    "Column",
    "Fields",
    "ItemKind",
    "Source",
    "Table",
    "as_day",
    "as_number",
    "as_text",
    "field_kinds",
    "fold",
    "is_missing",
]
