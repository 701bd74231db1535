"""Rows in an order that depends on what they hold alone, not on how a file happened to list them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clustruct.core.typing import Ints

from .column_types import ArrayColumn, Column
from .table import Table

__all__ = ["sort_rows"]


def sort_rows(table: Table) -> Table:
    """The same rows sorted by their fields, those of equal rows first that have a label.

    What is learned goes by positions where scores tie and where parts are drawn; in one order two files of
    the same rows give the same model. Tables with a context, such as documents, keep the order of their text.

    >>> rows = [{"name": "Bob"}, {"name": "Ann"}, {"name": "Ann"}]
    >>> sort_rows(Table(rows, labels=["x", None, "y"])).labels
    ['y', None, 'x']
    """
    if table.context:
        return table
    keys: list[Any] = [key for field in sorted(table.fields()) for key in _ranks(table.field_column(field))]
    if table.labels is not None:
        keys.append(np.array([label is None or label == -1 for label in table.labels]))
    order = np.lexsort(keys[::-1]) if keys else np.arange(len(table))
    if (order[1:] > order[:-1]).all():
        return table
    return replace(table, ids=list(table.item_ids)).take(order)


def _ranks(column: Column) -> list[Ints]:
    """Numbers that sort as the values of a column do, one or several for each row; -1: missing."""
    if isinstance(column, ArrayColumn) and column.array.ndim > 1:
        return [np.unique(one, return_inverse=True)[1] for one in column.array.T.reshape(-1, len(column))]
    codes, words = column.factorize()[:2]
    texts = np.array([str(word) for word in words], dtype=object)
    ranks = np.empty(len(texts) + 1, np.int64)
    ranks[np.argsort(texts, kind="stable")], ranks[-1] = np.arange(len(texts)), -1
    return [ranks[codes]]
