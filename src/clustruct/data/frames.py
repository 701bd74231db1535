"""Columns from Parquet files (Arrow) and from data frames of pandas, polars, Arrow and others (narwhals)."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.typing import Ints

from .column_types import ArrayColumn, CodedColumn, Column, ListColumn, without_blank
from .texts import Texts, is_utf8


def column_from_arrow(values: Any) -> Column:
    """A column of a chunked array: texts where they lie, numbers and vectors as arrays, others by value.

    ValueError or OverflowError where Python cannot have a value.
    """
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind):
        return _texts(values)
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not values.null_count):
        return ArrayColumn(values.to_numpy())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _lists(values)
    if pa.types.is_nested(kind):
        return ListColumn(values.to_pylist())
    return _by_distinct(values)


def _is_view(kind: Any) -> bool:
    import pyarrow as pa

    return hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind)


def _texts(values: Any) -> Column:
    import pyarrow as pa

    coded = values.cast(pa.large_string()).dictionary_encode().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    words = coded.dictionary
    size, first = len(words), words.offset
    _, offsets, data = words.buffers()
    if not size:
        return CodedColumn(_codes(coded), [], whole=True)
    place = np.frombuffer(offsets, np.int64)[first : first + size + 1]
    text = np.frombuffer(data if data is not None else b"", np.uint8)
    if not is_utf8(text[place[0] : place[-1]].tobytes()):
        raise ValueError("not UTF-8")
    long = np.diff(place)
    if len(long) and long.max() >= 2**31:
        raise OverflowError("a text of gigabytes")
    return without_blank(_codes(coded).astype(np.int32), Texts(text, place[:-1], long.astype(np.int32)))


def _codes(coded: Any) -> Ints:
    return coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _lists(values: Any) -> Column:
    """Vectors of one length as one array; other lists as they are."""
    import pyarrow as pa

    kind = values.type.value_type
    held = values.combine_chunks()
    held = pa.concat_arrays(held.chunks) if isinstance(held, pa.ChunkedArray) else held
    if not held.null_count and (pa.types.is_floating(kind) or pa.types.is_integer(kind)) and len(held):
        inner = held.flatten()
        width, rest = divmod(len(inner), len(held))
        lengths = (
            [width]
            if pa.types.is_fixed_size_list(held.type)
            else pa.compute.list_value_length(held).unique().to_pylist()
        )
        if width > 1 and not rest and lengths == [width] and not inner.null_count:
            return ArrayColumn(inner.to_numpy(zero_copy_only=False).reshape(len(held), width))
    return ListColumn(values.to_pylist())


def _by_distinct(values: Any) -> Column:
    import pyarrow as pa

    try:
        coded = values.dictionary_encode().combine_chunks()
    except (NotImplementedError, pa.ArrowNotImplementedError):
        return ListColumn(values.to_pylist())
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    return CodedColumn(_codes(coded), coded.dictionary.to_pylist(), whole=True)


def open_frame(frame: Any) -> Any:
    """The frame as narwhals has it.

    TypeError where it is none, `DataError` where two of its columns have one name.
    """
    import narwhals as nw

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
    """A column of `open_frame`. Numbers stay in their array, texts in that of Arrow, if it is there."""
    import narwhals as nw

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
    return _stack_arrays(values) or ListColumn(values)


def _stack_arrays(values: list[Any]) -> Column | None:
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
