"""Parquet files, batch by batch (needs pyarrow: ``pip install clustruct[parquet]``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustruct.exceptions import DataError
from clustruct.records import RawSet
from clustruct.text import place

from .files import FileFormat, Reading, register
from .tables import Row, check_header, check_values, sets_from_rows


@register
class ParquetFile(FileFormat):
    """One item per row; needs pyarrow."""

    suffixes = (".parquet", ".pq")
    is_table = True

    def read(self, path: Path, reading: Reading) -> Iterator[RawSet]:
        header, rows = parquet_rows(path)
        return sets_from_rows(rows, header, reading.columns, reading.labels, path)


def parquet_rows(path: Path) -> tuple[list[str], Iterator[Row]]:
    """The column names, and (row from 1, values by column) of each row."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError(f"{path}: Parquet files need pyarrow: pip install 'clustruct[parquet]'") from None
    try:
        held = parquet.ParquetFile(path)
        header = list(held.schema_arrow.names)
    except (OSError, ValueError, ArrowException) as error:
        raise DataError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None
    if held.metadata.num_rows == 0:
        raise DataError(f"{path}: the file has no rows")
    check_header(header, str(path))
    return header, _rows(path, held)


def _rows(path: Path, held: Any) -> Iterator[Row]:
    from pyarrow import ArrowException

    number = 0
    batches = held.iter_batches(batch_size=4096)
    try:
        while (batch := next(batches, None)) is not None:
            for row in _values(batch, path, number):
                number += 1
                check_values(row, place(path, number))
                yield number, row
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: damaged after row {number} ({_first_line(error)})") from None
    finally:
        held.close()


def _values(batch: Any, path: Path, before: int) -> list[dict[str, Any]]:
    """The rows of a batch as Python has them; what it cannot have is named by row and column."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (ValueError, OverflowError) as error:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for row, value in enumerate(column, before + 1):
                _check_readable(value, name, place(path, row))
        raise DataError(f"{path}: a value after row {before} cannot be read ({_first_line(error)})") from None
    return rows


def _check_readable(value: Any, column: str, where: str) -> None:
    try:
        value.as_py()
    except UnicodeDecodeError:
        raise DataError(f"{where}: the field {column!r} is not UTF-8") from None
    except (ValueError, OverflowError) as error:
        what = f"the field {column!r} ({value.type}) is out of range ({_first_line(error)})"
        raise DataError(f"{where}: {what}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]
