"""CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.core.text import count, place
from clustruct.data.records import RawSet

from .csv_columns import LONGEST_FIELD, ROWS_AT_ONCE, gathered_table, plain_table, whole_text
from .cutting import ParsedTable, known_columns, sets_from_table
from .files import Prediction, Reading, TextFormat, plain, register, suffix_of, text_lines
from .tables import Columns, check_header

LONGEST_LINE = 32 * 2**20


@register
class CsvFile(TextFormat):
    """Cells with a comma between them, in .tsv a tab, or whatever is asked for; the first row has names."""

    suffixes = (".csv", ".tsv")
    is_table = True

    def read(self, path: Path, reading: Reading) -> Iterator[RawSet]:
        return sets_from_table(*csv_table(path, reading), reading.labels, path)

    def set_lines(self, sets: Iterable[RawSet], suffix: str) -> Iterator[str]:
        held = list(sets)
        fields = list(dict.fromkeys(name for raw in held for name in raw.fields()))
        yield from _lines([["set", "id", "cluster", *fields]], suffix)
        for raw in held:
            labels = raw.labels or [None] * len(raw)
            rows = zip(raw.item_ids, labels, raw.items, strict=True)
            yield from _lines(
                ([raw.name, name, label, *map(item.get, fields)] for name, label, item in rows), suffix
            )

    def prediction_lines(self, prediction: Prediction, suffix: str, first: Prediction) -> Iterator[str]:
        raw, labels, more = prediction
        named = bool(first.raw.name)
        if prediction is first:
            yield from _lines([[*["set"] * named, "id", "cluster", *more]], suffix)
        for low in range(0, len(raw), ROWS_AT_ONCE):
            part = slice(low, low + ROWS_AT_ONCE)
            columns = [raw.item_ids[part], *(plain(values[part]) for values in (labels, *more.values()))]
            names = [repeat(raw.name, len(columns[0]))] * named
            yield from _lines(zip(*names, *columns, strict=True), suffix)


def _mark(suffix: str) -> str:
    return "\t" if suffix == ".tsv" else ","


def _lines(rows: Iterable[Sequence[object]], suffix: str) -> Iterator[str]:
    """The text of rows, many at a time."""
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        text = io.StringIO()
        csv.writer(text, delimiter=_mark(suffix), lineterminator="\n").writerows(some)
        yield text.getvalue()


def csv_table(path: Path, reading: Reading) -> tuple[ParsedTable, Columns]:
    """The columns of a file that are needed, and which of them is what. Blank cells are missing."""
    mark = _mark(suffix_of(path)) if reading.delimiter is None else check_delimiter(reading.delimiter)
    reader, header, records = _opened_csv(path, mark)
    columns = known_columns(reading.columns, header, reading.labels, path)
    data, wanted = whole_text(path, LONGEST_LINE), columns.needed(header)
    table = None if data is None else plain_table(data, reader.line_num, header, mark, wanted)
    if table is None:
        table = gathered_table(_rows(path, header, records), header, wanted)
    if not len(table.lines):
        raise DataError(f"{path}: there is a header but no row")
    return table, columns


def csv_rows(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """(line, cells by column) of each row of a small file, one by one; blank cells are None."""
    _, header, records = _opened_csv(path, _mark(suffix_of(path)))
    for line, cells in _rows(path, header, records):
        yield line, {name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)}


def _opened_csv(path: Path, mark: str) -> tuple[Any, list[str], Iterator[tuple[int, list[str]]]]:
    """The reader of a file, its header, and the records that follow."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader((text for _, text in text_lines(path, LONGEST_LINE)), delimiter=mark, strict=True)
    records = _records(path, reader)
    first = next(records, None)
    if first is None:
        raise DataError(f"{path}: the file is empty")
    return reader, _check_header(first[1], path, mark), records


def check_delimiter(given: str) -> str:
    r"""One character that can stand between cells; a backslash and t are a tab.

    >>> check_delimiter(";"), check_delimiter("\\t")
    (';', '\t')
    """
    mark = "\t" if given == "\\t" else given
    if len(mark) != 1 or mark in '"\r\n':
        raise ValueError(f"the delimiter must be one character, not {given!r:.40}")
    return mark


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
    check_header(header, place(path, 1))
    if len(header) == 1 and any(other in header[0] for other in ",;\t|"):
        raise DataError(f"{place(path, 1)}: one column only; is there another delimiter? (--delimiter)")
    return header


def _rows(
    path: Path, header: list[str], records: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    for line, cells in records:
        if len(cells) != len(header):
            raise DataError(
                f"{place(path, line)}: the row has {count(len(cells), 'cell')}, the header {len(header)}"
            )
        yield line, cells
