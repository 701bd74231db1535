"""Plain tables, column by column, to files: what is no set and no prediction."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from clustruct.exceptions import DataError
from clustruct.storage.targets import is_stream, replacing

from .files import _encoded, _opened, plain, suffix_of

ROWS_AT_ONCE = 10_000
KNOWN = (".csv", ".tsv", ".jsonl", ".parquet")


def check_rows_target(path: str | PathLike[str]) -> str:
    """The end of the name, which must be that of a format; a device or a pipe gets CSV."""
    suffix = suffix_of(path)
    if not suffix and is_stream(Path(path)):
        return ".csv"
    if suffix not in KNOWN:
        raise DataError(f"{path}: rows are written as {', '.join(KNOWN[:-1])} or {KNOWN[-1]}")
    return suffix


def write_rows(path: str | PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of one length to .csv, .tsv, .jsonl (also .gz) or .parquet; None is a missing value.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rows(f"{folder}/a.csv", {"id": [1, 2], "name": ["Ann", None]})
    ...     Path(folder, "a.csv").read_text()
    'id,name\\n1,Ann\\n2,\\n'
    """
    suffix = check_rows_target(path)
    if suffix == ".parquet":
        _write_parquet(Path(path), columns)
        return
    with _opened(Path(path)) as f:
        f.writelines(map(_encoded, row_lines(columns, suffix)))


def row_lines(columns: Mapping[str, Sequence[Any]], suffix: str = ".csv") -> Iterator[str]:
    """The text of such a file, piece by piece."""
    names, size = list(columns), len(next(iter(columns.values()), ()))
    if suffix != ".jsonl":
        yield _csv([names], suffix)
    for low in range(0, size, ROWS_AT_ONCE):
        some = [values[low : low + ROWS_AT_ONCE] for values in columns.values()]
        if suffix == ".jsonl":
            rows = zip(*some, strict=True)
            yield "".join(
                json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
            )
        else:
            cells = [[_cell(value) for value in plain(values)] for values in some]
            yield _csv(list(zip(*cells, strict=True)), suffix)


def _csv(rows: Sequence[Sequence[object]], suffix: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise DataError(f"{path}: Parquet files need pyarrow: pip install 'clustruct[parquet]'") from None

    def column(values: Sequence[Any]) -> Any:
        try:
            return pa.array(list(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several kinds
            return pa.array([None if v is None else str(_cell(v)) for v in values])

    with replacing(path) as f:
        parquet.write_table(pa.table({name: column(values) for name, values in columns.items()}), f)
