"""Arrays of numpy: the rows of a .npy file are vectors, the arrays of a .npz file columns of a table."""

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
from clustruct.data import Column, Table
from clustruct.data.column_types import as_column

from .files import FileFormat, Reading, register
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
