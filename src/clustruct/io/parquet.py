"""Parquet files, batch by batch (needs pyarrow: ``pip install clustruct[parquet]``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clustruct.exceptions import DataError
from clustruct.records import RawSet

from .files import FileFormat, Reading, register
from .tables import Row, sets_from_rows


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
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: not a readable Parquet file ({_first_line(error)})") from None
    if held.metadata.num_rows == 0:
        raise DataError(f"{path}: the file has no rows")
    return list(held.schema_arrow.names), _rows(path, held)


def _rows(path: Path, held: Any) -> Iterator[Row]:
    from pyarrow import ArrowException

    number = 0
    try:
        for batch in held.iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: damaged after row {number} ({_first_line(error)})") from None
    finally:
        held.close()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]
