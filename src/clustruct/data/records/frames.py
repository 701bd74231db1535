"""Data frames by column: of pandas, polars, Arrow and others, by narwhals."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from clustruct.core.exceptions import DataError

from .arrow import column_from_arrow
from .columns import ArrayColumn, CodedColumn, Column, ListColumn


def opened_frame(frame: Any) -> Any:
    """The frame as narwhals has it.

    TypeError where it is none, `DataError` where two of its columns have one name.
    """
    seen, is_lazy = set[str](), hasattr(frame, "collect")
    for name in () if is_lazy else getattr(frame, "column_names", getattr(frame, "columns", ())):
        if str(name) in seen:
            raise DataError(f"the table: two columns are named {str(name)!r}")
        seen.add(str(name))
    try:
        held = nw.from_native(frame)
    except TypeError:
        raise TypeError(
            f"expected a data frame (pandas, polars, Arrow), not {type(frame).__name__}"
        ) from None
    return held.collect() if isinstance(held, nw.LazyFrame) else held


def frame_column(series: Any) -> Column:
    """A column of `opened_frame`. Numbers stay in their array, texts in that of Arrow, if it is there."""
    dtype, native = series.dtype, series.to_native()
    if type(native).__module__.partition(".")[0] != "pandas":
        return _from_arrow(series)
    if dtype.is_numeric() and isinstance(native.dtype, np.dtype):
        return ArrayColumn(native.to_numpy())
    if dtype == nw.String and not isinstance(native.dtype, np.dtype):
        return _from_arrow(series)
    if hasattr(native, "cat") and all(
        isinstance(word, str) and word.strip() for word in native.cat.categories
    ):
        return CodedColumn(native.cat.codes.to_numpy(), native.cat.categories.to_list())
    values = series.to_list()
    for row in np.flatnonzero(series.is_null().to_numpy()).tolist():
        values[row] = None
    return _stacked(values) or ListColumn(values)


def _stacked(values: list[Any]) -> Column | None:
    """Arrays of one length as the rows of one; None where the values are something else."""
    first = values[0] if values else None
    if (
        not isinstance(first, np.ndarray)
        or first.ndim != 1
        or first.dtype.kind not in "fiu"
        or len(first) < 2
    ):
        return None
    if not all(
        isinstance(v, np.ndarray) and v.shape == first.shape and v.dtype == first.dtype for v in values
    ):
        return None
    return ArrayColumn(np.stack(values))


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
