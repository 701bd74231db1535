"""Lists of strings, such as authors or tags: what two items' lists share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Ints
from clustruct.data import Fields, as_text, fold, is_missing
from clustruct.features.base import Comparison, Values, missing
from clustruct.features.columns import Columns, TermTable
from clustruct.features.terms import TermBlock, TfIdfRows
from clustruct.features.vocabulary import Letters

_KINDS = (
    *("missing in one", "missing in both", "shared entries", "share of the shorter list"),
    *("shared entries that are rare here", "same list"),
)


@register("Lists")
@dataclass(eq=False, repr=False)
class Lists(TermBlock):
    """Entries that two lists share.

    An entry that all items of the set have (the very name that is to be told apart) says nothing: beside the
    counts, "rare here" weighs an entry by log(m / items of this set that have it).

    Parameters
    ----------
    field : str
        A field with lists of strings, or strings with entries between `separator`.
    separator : str, optional
        Where strings are cut (None: lists only).

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"by": ["Li", "Wu"]}, {"by": ["Li", "wu"]}, {"by": ["Li"]}])
    >>> block = Lists("by").fit([table])
    >>> block.get_feature_names_out()  # doctest: +NORMALIZE_WHITESPACE
    ['by: missing in one', 'by: missing in both', 'by: shared entries', 'by: share of the shorter list',
     'by: shared entries that are rare here', 'by: same list']
    """

    suits: ClassVar = {"records": ("list",)}

    field: str
    separator: str | None = None

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise ValueError(f"separator must be a string, not {self.separator!r}")

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        return [cls(field)]

    def tables(self, columns: Columns) -> list[TermTable]:
        return [self._rows_and_sets(columns)[0]]

    def _rows_and_sets(self, columns: Columns) -> tuple[TermTable, Ints]:
        """The entries of each item, and a number for what its list has, in whatever order."""
        return columns.by_item(("entries", self.field, self.separator), self._read_all)

    def _read_all(self, columns: Columns) -> tuple[TermTable, Ints]:
        entries = [self._read(value) for value in columns.table.column(self.field)]
        table = TermTable.of(entries, columns.vocabulary(("entries", self.field)))
        whole = ["\0".join(sorted(set(entry))) for entry in entries]
        numbers = columns.vocabulary(("lists", self.field)).number(
            Letters.of(whole).keys(), lambda where: [whole[k] for k in where]
        )
        return table, numbers.astype(np.int64)

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.field}: {kind}" for kind in _KINDS]

    def prepare(self, columns: Columns) -> Comparison:
        (rows,) = self.rows(columns)
        return partial(_compare, rows, self._rows_and_sets(columns)[1])

    def _read(self, value: object) -> list[str]:
        if is_missing(value):
            return []
        if isinstance(value, list | tuple | set | frozenset):
            parts = [as_text(v) for v in value]
        else:
            parts = as_text(value).split(self.separator) if self.separator else [as_text(value)]
        return [t for t in map(fold, parts) if t]


def _compare(rows: TfIdfRows, code: Ints, pairs: Ints) -> Values:
    found, rare = rows.compare(pairs), rows.shared_rare(pairs)
    there = rows.table.sizes > 0
    same = (code[pairs[:, 0]] == code[pairs[:, 1]]) & there[pairs[:, 0]]
    return np.column_stack([*missing(there, pairs), found.cosine, found.contained, rare, same])
