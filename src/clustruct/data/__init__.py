"""Tables and their pairs, and what goes from room to room as plain types: evidence and groupings.

In: files, frames, arrays and label vectors. Out: frozen records. Nothing here searches or learns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .column_types import Coded, Column
    from .compared_pairs import Pairs, PairScores, all_pairs
    from .evidence import Evidence
    from .groupings import Grouping, GroupingOptions
    from .item_set import ItemSet, as_item_set, pair_table, with_distances
    from .table import Source, Table
    from .values import Fields, ItemKind, as_day, as_number, as_text, field_kinds, fold, is_missing

__all__ = [
    "Coded",
    "Column",
    "Evidence",
    "Fields",
    "Grouping",
    "GroupingOptions",
    "ItemKind",
    "ItemSet",
    "PairScores",
    "Pairs",
    "Source",
    "Table",
    "all_pairs",
    "as_day",
    "as_item_set",
    "as_number",
    "as_text",
    "field_kinds",
    "fold",
    "is_missing",
    "pair_table",
    "with_distances",
]

__getattr__, __dir__ = lazy_names(__name__, "datasets", "io")
