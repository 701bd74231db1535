"""Parquet files, by column (needs pyarrow: ``pip install clustruct[parquet]``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.callbacks import working
from clustruct.core.exceptions import DataError
from clustruct.core.text import place
from clustruct.data import Column, Table
from clustruct.data.column_types import as_column
from clustruct.data.frames import column_from_arrow

from .files import FileFormat, Reading, register
from .tables import ParsedTable, check_header, known_columns, sets_from_table


@register
class ParquetFile(FileFormat):
    """One item per row; needs pyarrow."""

    suffixes = (".parquet", ".pq")
    is_table = True

    def read(self, path: Path, reading: Reading) -> Iterator[Table]:
        held = open_parquet(path)
        header = list(held.schema_arrow.names)
        check_header(header, str(path))
        columns = known_columns(reading.columns, header, reading.labels, path)
        table = _table(path, held, header, columns.columns_to_read(header))
        return sets_from_table(table, columns, reading.labels, path)


def open_parquet(path: Path) -> Any:
    """A file that has rows; `DataError` where it is none."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError(f"{path}: Parquet files need pyarrow: pip install 'clustruct[parquet]'") from None
    try:
        held = parquet.ParquetFile(path)
    except (OSError, ValueError, ArrowException) as error:
        raise DataError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None
    if held.metadata.num_rows == 0:
        raise DataError(f"{path}: the file has no rows")
    return held


def _table(path: Path, held: Any, header: list[str], wanted: Collection[str]) -> ParsedTable:
    from pyarrow import ArrowException

    found: dict[str, Column] = {}
    with working("reading", len(header)) as work:
        work.keep(rows=held.metadata.num_rows)
        try:
            for name in header:
                if name in wanted:
                    found[name] = _column(held.read([name], use_threads=False).column(0), name, path)
                work.advance()
        except (OSError, ArrowException) as error:
            raise DataError(
                f"{path}: damaged, the field {name!r} cannot be read ({_first_line(error)})"
            ) from None
        finally:
            held.close()
    return ParsedTable(found, np.arange(1, held.metadata.num_rows + 1))


def _column(values: Any, name: str, path: Path) -> Column:
    """A column as Python has it; where one value of it cannot be had, value by value."""
    try:
        return column_from_arrow(values)
    except (ValueError, OverflowError):
        return as_column([_readable(value, name, path, row) for row, value in enumerate(values, 1)])


def _readable(value: Any, name: str, path: Path, row: int) -> Any:
    """The value, missing where it is a time that Python does not know; text that is none is an error."""
    try:
        return value.as_py()
    except UnicodeDecodeError:
        raise DataError(f"{place(path, row)}: the field {name!r} is not UTF-8") from None
    except (ValueError, OverflowError):
        return None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]
