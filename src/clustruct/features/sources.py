"""Tables of several sources: which field says where an item comes from, and what that means for its pairs.

Two tables that are linked are one set with a field for the table. Items of one source are not compared: what
speaks for a pair is learned from pairs across sources, and an item's likely mates are looked for in the
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Ints

from .columns import Columns

Within: TypeAlias = Literal["apart", "uncompared"]


@register("Sources")
@dataclass(frozen=True)
class Sources(DataclassState):
    """The field that names the source of an item.

    Attributes
    ----------
    field : str
        Of the items; every item must have a value there.
    within : Within, default="uncompared"
        What is known of two items of one source. "uncompared": nothing; they are not compared, but both
        may belong to an item of another source, and are then in one cluster. "apart": that they never
        belong together, since no source has duplicates.
    lacking : tuple of str, default=()
        Fields that a whole source lacked in training.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"shop": "Abt"}, {"shop": "buy"}, {"shop": "abt "}])
    >>> Sources("shop").codes(Columns(table)).tolist()
    [0, 1, 0]
    """

    field: str
    within: Within = "uncompared"
    lacking: tuple[str, ...] = ()

    def learn(self, columns: Sequence[Columns], names: Iterable[str]) -> Sources:
        """With those of the fields named that a source of these sets has no value of."""
        return replace(self, lacking=tuple(name for name in names if self._lacks(columns, name)))

    def _lacks(self, columns: Sequence[Columns], name: str) -> bool:
        there: dict[str, bool] = {}
        for c in columns:
            source, known = c.texts(self.field), c.table.factorize(name).codes >= 0
            count = np.bincount(source.codes, weights=known, minlength=len(source.values))
            for value, n in zip(source.values, count.tolist(), strict=True):
                there[value] = there.get(value, False) or n > 0
        return any(there.values()) and not all(there.values())

    def codes(self, columns: Columns) -> Ints:
        """The number of each item's source; `DataError` where an item has none."""
        texts = columns.texts(self.field)
        if not texts.present.all():
            item = columns.table.item_title(int(np.argmin(texts.present)))
            raise DataError(f"{item} has no source (the field {self.field!r} is empty)")
        return texts.codes

    def apart(self, codes: Ints) -> Ints | None:
        """The sources that clusters have one item of at most, as searches take them."""
        return codes if self.within == "apart" else None


def across(pairs: Ints, codes: Ints) -> Ints:
    """The pairs of items of different sources.

    >>> across(np.array([[0, 1], [0, 2], [1, 2]]), np.array([0, 0, 1])).tolist()
    [[0, 2], [1, 2]]
    """
    return pairs[codes[pairs[:, 0]] != codes[pairs[:, 1]]]
