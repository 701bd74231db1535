"""Data frames: of pandas, polars, Arrow and others, by narwhals; their columns are taken, not their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from clustruct.exceptions import DataError
from clustruct.records import ArrayColumn, Column, ListColumn, RawSet
from clustruct.text import place

from .arrow import column_from_arrow
from .cutting import Table, known_columns, sets_from_table
from .tables import Columns, LabelUse, check_column, check_header


def sets_of(
    frame: Any,
    *,
    set: str | None = None,
    cluster: str | None = None,
    id: str | None = None,
    group: str | None = None,
    fields: Sequence[str] | None = None,
    labels: LabelUse | None = None,
    columns: Columns | None = None,
) -> list[RawSet]:
    """Raw sets from the rows of a data frame: of pandas, polars, Arrow, or whatever else narwhals knows.

    ``set``, ``cluster``, ``id`` and ``group`` name columns; all others are fields, or those of
    ``fields`` alone. Without ``set`` the frame is one set, without ``cluster`` there are no labels.
    ``labels`` and ``columns`` are those of `read_sets`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"fold": [0, 0, 1], "who": ["x", "x", "y"], "name": ["Ann", "Anne", "Bob"]})
    >>> first, second = sets_of(frame, set="fold", cluster="who")
    >>> first.items, first.labels
    ([{'name': 'Ann'}, {'name': 'Anne'}], ['x', 'x'])
    """
    named = columns or Columns(set=set, id=id, cluster=cluster, group=group, fields=fields)
    use = labels or ("required" if named.cluster else "ignored")
    held = _frame(frame)
    header = list(map(str, held.columns))
    check_header(header, "the table")
    named = known_columns(named, header, use, None)
    wanted = named.needed(header)
    found = {str(c): _column(held[c], str(c)) for c in held.columns if str(c) in wanted}
    return list(sets_from_table(Table(found, np.arange(len(held))), named, use, None))


sets_from_frame = sets_of


def _frame(frame: Any) -> Any:
    if hasattr(frame, "columns") and not isinstance(frame, Mapping):
        check_header([str(c) for c in getattr(frame, "column_names", frame.columns)], "the table")
    try:
        held = nw.from_native(frame, pass_through=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"not a data frame: {type(frame).__name__} ({error})") from None
    return held.collect() if isinstance(held, nw.LazyFrame) else held


def _column(series: Any, name: str) -> Column:
    """A column of a frame; `DataError` where it holds what no field can."""
    column = _values(series)
    check_column(column, name, lambda row: place(None, row))
    return column


def _values(series: Any) -> Column:
    dtype, native = series.dtype, series.to_native()
    if type(native).__module__.partition(".")[0] != "pandas":
        return _from_arrow(series)
    if dtype.is_numeric() and isinstance(native.dtype, np.dtype):
        return ArrayColumn(native.to_numpy())
    if dtype == nw.String and not isinstance(native.dtype, np.dtype):
        return _from_arrow(series)
    values = series.to_list()
    for row in np.flatnonzero(series.is_null().to_numpy()).tolist():
        values[row] = None
    return ListColumn(values)


def _from_arrow(series: Any) -> Column:
    try:
        import pyarrow as pa
    except ImportError:  # an extra
        return ListColumn(series.to_list())
    values = series.to_arrow()
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    try:
        return column_from_arrow(values)
    except (ValueError, OverflowError) as error:
        raise DataError(f"the table: the field {series.name!r} cannot be read ({error})") from None
