"""Tables and their pairs, and what goes from room to room as plain types: evidence and groupings.

In: files, frames, arrays and label vectors. Out: frozen records. Nothing here searches or learns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .column_kinds import field_kinds as field_kinds
    from .column_kinds import learn_readings
    from .column_types import Coded as Coded
    from .column_types import Column as Column
    from .compared_pairs import Pairs, PairScores, all_pairs
    from .equal_rows import EqualRows as EqualRows
    from .evidence import Evidence
    from .groupings import Grouping, GroupingOptions
    from .groupings import Remarks as Remarks
    from .groupings import uncompared_line as uncompared_line
    from .item_ids import alike_ids as alike_ids
    from .item_set import ItemSet, pair_table, with_distances
    from .item_set import as_item_set as as_item_set
    from .readings import KIND_WORDS as KIND_WORDS
    from .readings import ColumnReading, Readings
    from .readings import Fields as Fields
    from .readings import ItemKind as ItemKind
    from .table import Source, Table
    from .values import as_day as as_day
    from .values import as_number as as_number
    from .values import as_text as as_text
    from .values import fold as fold
    from .values import is_missing as is_missing

__all__ = [
    "ColumnReading",
    "Evidence",
    "Grouping",
    "GroupingOptions",
    "ItemSet",
    "PairScores",
    "Pairs",
    "Readings",
    "Source",
    "Table",
    "all_pairs",
    "learn_readings",
    "pair_table",
    "with_distances",
]

__getattr__, __dir__ = lazy_names(__name__, "datasets", "io")
