"""Files that hold a table by column: arrays of NumPy (.npy, .npz), and Parquet (needs pyarrow)."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from clustruct.core import memory
from clustruct.core.callbacks import working
from clustruct.core.exceptions import DataError
from clustruct.core.formatting import place
from clustruct.data import Column, Table
from clustruct.data.column_types import as_column
from clustruct.data.frames import column_from_arrow

from .formats import FileFormat, Reading, register
from .tables import ParsedTable, check_header, known_columns, sets_from_table

# What is wrong with a file that is not what its name says, or not all of it.
FAULTS = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)


@register
class ArrayFile(FileFormat):
    """.npy: an array of two dimensions, each row an item with the field "vector".

    .npz: arrays with one row or entry for each item, named as the fields are. A label, a name of an item, or
    the set of it stands in an array whose name is given as that of a column is.
    """

    suffixes = (".npy", ".npz")
    is_table = True

    def read(self, path: Path, reading: Reading) -> Iterator[Table]:
        if path.is_dir():
            raise DataError(f"{path}: is a folder, not a file")
        try:
            return self._sets(path, reading)
        except FAULTS as error:
            if isinstance(error, DataError):
                raise
            what = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise DataError(f"{path}: not a readable file of arrays ({what})") from None

    def _sets(self, path: Path, reading: Reading) -> Iterator[Table]:
        if path.suffix.lower() == ".npy":
            with open(path, "rb") as f:
                held = {"vector": _array(f, path.stat().st_size, path)}
            columns = known_columns(reading.columns, list(held), reading.labels, path)
        else:
            with zipfile.ZipFile(path) as archive:
                header = [name.removesuffix(".npy") for name in archive.namelist()]
                check_header(header, str(path))
                columns = known_columns(reading.columns, header, reading.labels, path)
                held = _arrays(archive, columns.columns_to_read(header), path)
        return sets_from_table(_table(held, path), columns, reading.labels, path)


def _arrays(archive: zipfile.ZipFile, wanted: Collection[str], path: Path) -> dict[str, NDArray[Any]]:
    found = {}
    with working("reading", len(archive.infolist())) as work:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in wanted:
                with archive.open(info) as f:
                    found[name] = _array(f, info.file_size, path)
            work.advance()
        work.keep(rows=max((len(array) for array in found.values() if array.ndim), default=0))
    return found


def _array(f: IO[bytes], size: int, path: Path) -> NDArray[Any]:
    """The array of a stream of so many bytes; refused where it says that it has more, or holds objects."""
    version = npy.read_magic(f)  # type: ignore[no-untyped-call, unused-ignore]
    read: Any = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_column, dtype = read(f)
    if dtype.kind not in "biufU":
        raise ValueError(f"an array of {dtype} holds neither numbers nor texts")
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if count * dtype.itemsize > size:
        raise ValueError("it is cut short")
    memory.require(2 * count * dtype.itemsize, f"{path}: an array of {' x '.join(map(str, shape))}")
    data = f.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise ValueError("it is cut short")
    found = np.frombuffer(data, dtype).reshape(shape, order="F" if by_column else "C")
    # Numbers beyond those of Python are infinite.
    kind = np.dtype(np.float64) if dtype.kind == "f" and dtype.itemsize > 8 else dtype.newbyteorder("=")
    with np.errstate(over="ignore"):
        return found.astype(kind, order="C", copy=False)


def _table(held: dict[str, NDArray[Any]], path: Path) -> ParsedTable:
    columns: dict[str, Column] = {}
    sizes = {name: array.shape for name, array in held.items()}
    for name, array in held.items():
        fits = array.ndim in (1, 2) and len({shape[:1] for shape in sizes.values()}) == 1
        if not fits or (path.suffix.lower() == ".npy" and array.ndim != 2):
            listed = ", ".join(
                f"{n}: {' x '.join(map(str, s)) or 'a number'}" for n, s in list(sizes.items())[:10]
            )
            raise DataError(f"{path}: expected arrays with one row for each item, there are {listed}")
        if array.size == 0:
            raise DataError(f"{path}: the array {name!r} is empty")
        columns[name] = as_column(array if array.dtype.kind != "U" else array.tolist())
    return ParsedTable(
        columns, np.arange(1, 1 + next(iter(sizes.values()))[0]) if sizes else np.zeros(0, np.int64)
    )


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
        table = _parquet_table(path, held, header, columns.columns_to_read(header))
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


def _parquet_table(path: Path, held: Any, header: list[str], wanted: Collection[str]) -> ParsedTable:
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
