"""Columns whose values are read when somebody looks at one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from clustruct.core.typing import Bools

from .columns import Coded, Column, Part


class LaterColumn(Column):
    """So many values that ``read`` gives when they are looked at; often nobody does.

    >>> from clustruct.data.records.columns import as_column
    >>> column = LaterColumn(2, lambda: as_column(["a", "b"]))
    >>> len(column), column[1]
    (2, 'b')
    """

    def __init__(self, size: int, read: Callable[[], Column]) -> None:
        self._size, self._read = size, read

    @cached_property
    def _column(self) -> Column:
        found = self._read()
        if len(found) != self._size:
            raise ValueError(f"{self._size:,} values were expected, and {len(found):,} were read")
        return found

    def __len__(self) -> int:
        return self._size

    def part(self, rows: Part) -> Column:
        return self._column.part(rows)

    def tolist(self) -> list[Any]:
        return self._column.tolist()

    def missing(self) -> Bools:
        return self._column.missing()

    def _cell(self, row: int) -> Any:
        return self._column[row]

    def _encode(self) -> Coded:
        return self._column.coded()
