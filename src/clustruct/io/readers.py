"""Raw sets from files, whatever their kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from clustruct.exceptions import DataError
from clustruct.records import RawSet

from .columns import Columns, LabelUse
from .csv_files import csv_rows
from .jsonl import read_jsonl
from .lines import bare_suffix
from .parquet import parquet_rows
from .tables import sets_from_rows

__all__ = ["read_sets"]

KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def read_sets(
    *paths: str | PathLike[str],
    columns: Columns | None = None,
    labels: LabelUse = "required",
    delimiter: str | None = None,
    **named: str,
) -> Iterator[RawSet]:
    """The sets of one or more files, read as they are asked for.

    ``set``, ``id``, ``cluster`` and ``group`` name columns; ``columns`` says more of them.

    The end of the name tells the kind: .jsonl (one set per line), .csv, .tsv (rows, grouped by the column
    ``columns.set``), .parquet; all but Parquet may end in .gz. ``labels`` is "required", "skip"
    (items without a label are left out) or "ignored" (sets come without labels). Whatever is wrong is a
    `DataError` that names file and line.
    """
    wanted = Columns(**named) if columns is None else columns  # type: ignore[arg-type]
    for given in paths:
        yield from _not_empty(Path(given), _one_file(Path(given), wanted, labels, delimiter))


def _one_file(path: Path, columns: Columns, labels: LabelUse, delimiter: str | None) -> Iterator[RawSet]:
    kind = KINDS.get(bare_suffix(path))
    if kind == "jsonl":
        return read_jsonl(path, columns, labels)
    if kind == "csv":
        header, rows = csv_rows(path, delimiter)
        return sets_from_rows(rows, header, columns, labels, path)
    if kind == "parquet":
        header, rows = parquet_rows(path)
        return sets_from_rows(rows, header, columns, labels, path)
    raise DataError(f"{path}: unknown kind of file; known are {', '.join(KINDS)} (and .gz of text)")


def _not_empty(path: Path, sets: Iterable[RawSet]) -> Iterator[RawSet]:
    found = False
    for raw in sets:
        found = True
        yield raw
    if not found:
        raise DataError(f"{path}: no sets to use" if path.stat().st_size else f"{path}: the file is empty")
