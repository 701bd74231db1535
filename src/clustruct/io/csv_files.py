"""CSV files, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from clustruct.exceptions import DataError, place

from .lines import bare_suffix, text_lines
from .tables import Row

__all__ = ["csv_rows"]

# A field beyond this is a quote that was never closed.
LONGEST_FIELD = 2**20
LONGEST_LINE = 32 * 2**20


def csv_rows(path: Path, delimiter: str | None = None) -> tuple[list[str], Iterator[Row]]:
    """The header, and (line, values by column) of each row. Empty cells are None.

    The delimiter is a tab for .tsv, else a comma.
    """
    mark = delimiter or ("\t" if bare_suffix(path) == ".tsv" else ",")
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader((text for _, text in text_lines(path, LONGEST_LINE)), delimiter=mark, strict=True)
    records = _records(path, reader)
    first = next(records, None)
    if first is None:
        raise DataError(f"{path}: the file is empty")
    header = _check_header(first[1], path, mark)
    return header, _rows(path, header, records)


def _records(path: Path, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """(line where it begins, cells) of each record that is not blank."""
    while True:
        line = reader.line_num + 1  # type: ignore[attr-defined]
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"{place(path, line)}: not CSV: {_plain(error)}") from None
        if any(cell.strip() for cell in cells):
            yield line, cells


def _plain(error: csv.Error) -> str:
    if "field limit" in str(error):
        return "a field is longer than 1 MiB; a quote may have been left open"
    if "unexpected end" in str(error):
        return "a quote is opened and never closed"
    return str(error)


def _check_header(cells: list[str], path: Path, mark: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    for a, name in enumerate(header):
        if not name:
            raise DataError(f"{place(path, 1)}: column {a + 1} has no name")
        if name in header[:a]:
            raise DataError(f"{place(path, 1)}: two columns are named {name!r}")
    if len(header) == 1 and mark == "," and any(other in header[0] for other in ";\t|"):
        raise DataError(f"{place(path, 1)}: one column only; is there another delimiter? (--delimiter)")
    return header


def _rows(path: Path, header: list[str], records: Iterator[tuple[int, list[str]]]) -> Iterator[Row]:
    found = False
    for line, cells in records:
        found = True
        if len(cells) != len(header):
            raise DataError(f"{place(path, line)}: the row has {len(cells)} cells, the header {len(header)}")
        yield line, {name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)}
    if not found:
        raise DataError(f"{path}: there is a header but no row")
