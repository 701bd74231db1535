"""What scoring needs of known items, made once: a day looks at the texts of its new items alone.

Texts are folded and coded, split into terms, and terms are numbered and counted, for each field and view that
a model looks at (`Columns`). A day adds its items to that. Nothing in it was learned by a model: how rare a
term is follows from counts, which are those of all items, and from the model, which is asked each time. So
the scores are those of all items read anew, whatever model made the index.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from clustruct.data import Table
from clustruct.features.columns import Columns

from .joining import joined


@dataclass(frozen=True)
class KnownIndex:
    """The columns of known items, to be handed on from day to day.

    An index does not change: `with_items` makes another, which shares what it can.

    Attributes
    ----------
    columns : Columns
        What was made of the items for scoring.
    pieces : tuple of object, default=()
        What a store has of it already.

    Examples
    --------
    >>> index = KnownIndex.of(Table([{"name": "Ann"}], ids=["a"]))
    >>> index.columns.texts("name").values
    ['ann']
    >>> later = index.with_items(Table([{"name": "Bob"}, {"name": "ann"}], ids=["b", "c"]))
    >>> later.columns.texts("name").codes.tolist(), len(index), len(later)
    ([0, 1, 0], 1, 3)
    """

    columns: Columns
    # What a store has of it already (`kept_index`).
    pieces: tuple[Any, ...] = ()

    @classmethod
    def of(cls, table: Table) -> KnownIndex:
        """An index of items that is filled when it is used."""
        return cls(Columns(table))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def table(self) -> Table:
        """The items."""
        return self.columns.table

    def with_items(self, new: Table) -> KnownIndex:
        """The index of these items and new ones, at the cost of the new ones."""
        return replace(self, columns=self.columns.extend(new, joined(self.table, new)))
