"""Items of several sets as one set, none of their values looked at."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clustruct.core.typing import Ints
from clustruct.data import Source, Table
from clustruct.data.column_types import ChainedColumn


def joined(first: Table, second: Table) -> Table:
    """One set of the items of two, without labels.

    >>> joined(Table([{"t": 1}], ids=["a"]), Table([{"u": 2}], ids=["b"])).column("t")
    [1, None]
    """
    fields = list(dict.fromkeys([*first.fields(), *second.fields()]))
    ids: list[Hashable] = [*first.item_ids, *second.item_ids]
    source = JoinedSource.of(first, second)
    if not fields:
        return Table([{}] * len(ids), ids=ids, source=source)
    columns = {field: _joined_column(first, second, field) for field in fields}
    context = {**first.context, **second.context}
    return replace(Table.from_columns(columns, ids=ids, context=context), source=source)


@dataclass(frozen=True)
class JoinedSource(Source):
    """Where the items of a set were read that is made of several: file and line of each of them."""

    sources: tuple[Source, ...] = ()
    which: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, first: Table, second: Table) -> JoinedSource | None:
        """That of all items of two sets; None where one of them came from no file."""
        if first.source is None or second.source is None:
            return None
        sizes = [len(first), len(second)]
        rows = np.concatenate([np.arange(n) for n in sizes])
        return cls(
            first.source.path, None, None, (first.source, second.source), np.repeat([0, 1], sizes), rows
        )

    def place(self, item: int | None = None) -> str:
        """File and line of an item; of no item that of the first set."""
        source = self.sources[0 if item is None else self.which[item]]
        return source.place(None if item is None else int(self.rows[item]))

    def part(self, items: Sequence[int] | Ints) -> JoinedSource:
        """Where some of the items were read."""
        return replace(self, which=self.which[items], rows=self.rows[items])


def _joined_column(first: Table, second: Table, field: str) -> Any:
    """The values of two columns, none of them looked at; vectors side by side where both are arrays."""
    rows, more = first.matrix(field), second.matrix(field)
    if rows is not None and more is not None:
        return np.concatenate([rows, more])
    return ChainedColumn.of(first.field_column(field), second.field_column(field))
