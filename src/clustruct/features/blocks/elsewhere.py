"""A value that stands in another field of the other record: the maker in the title, say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Ints
from clustruct.data import Fields
from clustruct.features.base import Comparison, Values
from clustruct.features.columns import Columns, TermTable
from clustruct.features.split import words
from clustruct.features.terms import TermBlock, TfIdfRows

# A field of a few words which so many of the records lack, more or less.
MOST_WORDS = 5.0
OFTEN_MISSING = 0.2


@register("Elsewhere")
@dataclass(eq=False, repr=False)
class Elsewhere(TermBlock):
    """How much of a field's words stands in other fields of the other item, rare words counting more.

    Of the two directions the larger share; 0 where neither item has the field. Where tables of two sources
    are put together, what one has in a column of its own the other often has in its title.

    Parameters
    ----------
    field : str
        The field, of a few words.
    fields : sequence of str
        Where its words are looked for in the other item.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"maker": "Acme", "title": "anvil"}, {"title": "acme anvil"}, {"title": "rocket"}])
    >>> block = Elsewhere("maker", ["title"]).fit([table])
    >>> block.get_feature_names_out()
    ['maker: found elsewhere in the other']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).tolist()
    [[1.0], [0.0]]
    """

    suits: ClassVar = {"records": ("string",)}

    field: str
    fields: Sequence[str]

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        """For short fields that many records lack."""
        known = data.known_values(field)
        few = np.mean([len(words(text)) for text in known]) < MOST_WORDS
        others = [name for name in data.holding() if name != field and data.kinds[name] in ("string", "text")]
        return [cls(field, others)] if few and others and data.missing_share(field) > OFTEN_MISSING else []

    def tables(self, columns: Columns) -> list[TermTable]:
        return [columns.terms([self.field], ["words"])]

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.field}: found elsewhere in the other"]

    def prepare(self, columns: Columns) -> Comparison:
        own, elsewhere = self.rows(columns)[0], columns.terms(self.fields, ["words"])
        return partial(self._compare, own, elsewhere)

    def _compare(self, own: TfIdfRows, elsewhere: TermTable, pairs: Ints) -> Values:
        from clustruct.features._kernels import found_weights

        table, shares = own.table, []
        for a, b in (pairs.T, pairs.T[::-1]):
            rows = a if table.codes is None else table.codes[a]
            others = b if elsewhere.codes is None else elsewhere.codes[b]
            found = found_weights(
                table.indptr, table.indices, elsewhere.indptr, elsewhere.indices, own.idf, rows, others
            )
            total = own.totals(rows)
            shares.append(found / np.where(total > 0.0, total, 1.0))
        return np.minimum(np.maximum(*shares), 1.0)[:, None]
