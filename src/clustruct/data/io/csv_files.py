"""CSV files by column: plain ones in compiled code, any other row by row.

Both give the same: cells by the codes of their distinct values, blank ones missing.
"""

from __future__ import annotations

import csv
import gzip
import io
import random
import stat
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.callbacks import working
from clustruct.core.exceptions import DataError
from clustruct.core.formatting import count, place
from clustruct.core.typing import Ints
from clustruct.data import Column, Table
from clustruct.data.column_types import ListColumn, without_blank
from clustruct.data.texts import Texts, is_utf8

from .formats import Prediction, Reading, TextFormat, plain, register, suffix_of, text_lines
from .tables import ColumnRoles, ParsedTable, check_header, known_columns, sets_from_table

# Smaller files are not worth loading compiled code for; of wide ones, rows are few.
SMALLEST, WIDEST = 2**20, 500
BLOCK = 2**22
CELLS_AT_ONCE, ROWS_AT_ONCE = 2**17, 2**14
# A field beyond this is a quote that was never closed.
LONGEST_FIELD = 2**20


def whole_text(path: Path, longest_line: int) -> bytearray | None:
    """All bytes of a file that is a file; None where it is small, cannot be read or has an endless line."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or path.stat().st_size < SMALLEST // 8:
            return None
        data, length = bytearray(), 0
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as f:
            while block := f.read(BLOCK):
                end = block.rfind(b"\n")
                length = len(block) - end - 1 if end >= 0 else length + len(block)
                if length > longest_line:
                    return None
                data += block
    except (OSError, EOFError, zlib.error):
        return None
    return data if len(data) >= SMALLEST else None


def plain_table(
    data: bytes | bytearray, head: int, header: Sequence[str], mark: str, wanted: Collection[str]
) -> ParsedTable | None:
    """The wanted columns of a table whose rows begin after so many lines; None where something is odd."""
    if not mark.isascii() or len(header) > WIDEST or not is_utf8(data):
        return None
    from clustruct.data._kernels import split_rows

    text, at = np.frombuffer(data, np.uint8), _after_lines(data, head)
    most = max(64, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(header)))
    start = np.empty((len(header), most), np.int64)
    length, lines = np.empty((len(header), most), np.int32), np.empty(most, np.int64)
    coders = {k: _Coder(text) for k, name in enumerate(header) if name in wanted}
    found, line = [np.zeros(0, np.int64)], head + 1
    with working("reading", len(data)) as work:
        while at < len(data):
            before = at
            at, line, rows, plain = split_rows(text, at, line, ord(mark), LONGEST_FIELD, start, length, lines)
            if not plain:
                return None
            for k, coder in coders.items():
                coder.add(start[k, :rows], length[k, :rows])
            found.append(lines[:rows].copy())
            work.advance(at - before)
        where = np.concatenate(found)
        work.keep(rows=len(where))
    return ParsedTable({header[k]: coder.column() for k, coder in coders.items()}, where)


def _after_lines(data: bytes | bytearray, lines: int) -> int:
    at = 0
    for _ in range(lines):
        at = data.find(b"\n", at) + 1 or len(data)
    return at


class _Coder:
    """The cells of one column, coded as they come."""

    def __init__(self, text: NDArray[np.uint8]) -> None:
        self.text, self.count, self.codes = text, 0, list[NDArray[np.int32]]()
        self.seed = np.uint64(random.getrandbits(64))
        self.table = np.zeros(2, np.uint64)
        self.start = np.empty(0, np.int32 if len(text) < 2**31 else np.int64)
        self.length = np.empty(0, np.int32)

    def add(self, start: Ints, length: NDArray[np.int32]) -> None:
        """Further cells: where they begin, and how long they are (negative: with doubled quotes)."""
        from clustruct.data._kernels import encode

        self._make_room(self.count + len(start))
        codes = np.empty(len(start), np.int32)
        held = (self.table, self.start, self.length)
        self.count = encode(self.text, start, length, self.seed, *held, self.count, codes)
        self.codes.append(codes)

    def _make_room(self, most: int) -> None:
        from clustruct.data._kernels import enter

        if len(self.start) < most:
            more = most + self.count // 4 - self.count
            self.start, self.length = (
                np.concatenate([held[: self.count], np.empty(more, held.dtype)])
                for held in (self.start, self.length)
            )
        if 3 * len(self.table) < 4 * most:
            larger = np.zeros(1 << (4 * most // 3).bit_length(), np.uint64)
            enter(self.table, larger)
            self.table = larger

    def column(self) -> Column:
        """The column, and an end to the coding."""
        codes = np.concatenate(self.codes) if self.codes else np.empty(0, np.int32)
        start, length = self.start[: self.count].copy(), self.length[: self.count].copy()
        del self.table, self.codes, self.start, self.length
        doubled = length < 0
        texts = Texts(self.text, start, np.abs(length))
        if not doubled.any():
            return without_blank(codes, texts)
        # One text may be there twice, with quotes and without.
        words = [
            w.replace('""', '"') if d else w for w, d in zip(texts.tolist(), doubled.tolist(), strict=True)
        ]
        seen = dict.fromkeys(words)
        numbers = {word: k for k, word in enumerate(seen)}
        merged = np.array([*(numbers[word] for word in words), -1], np.int32)
        return without_blank(merged[codes], list(seen))


def gathered_table(
    records: Iterable[tuple[int, Sequence[str]]], header: Sequence[str], wanted: Collection[str]
) -> ParsedTable:
    """The wanted columns of (line, cells) of each row, which may be anything."""
    lines = array("q")
    kept = [k for k, name in enumerate(header) if name in wanted]
    cells: list[list[str]] = [[] for _ in kept] if len(header) > WIDEST else []
    seen: list[dict[str, int]] = [{} for _ in kept]
    codes = [array("i") for _ in kept]
    rows, most = iter(records), max(16, min(ROWS_AT_ONCE, 2**22 // len(header)))
    with working("reading") as work:
        while some := list(islice(rows, most)):
            lines.extend(line for line, _ in some)
            columns = list(zip(*(row for _, row in some), strict=True))
            for place, k in enumerate(kept):
                if cells:
                    cells[place].extend(columns[k])
                else:
                    known = seen[place]
                    codes[place].extend([known.setdefault(cell, len(known)) for cell in columns[k]])
            work.advance(len(some))
            work.keep(rows=len(some))
    where = np.array(lines, np.int64)
    if cells:
        return ParsedTable({header[k]: ListColumn(held) for k, held in zip(kept, cells, strict=True)}, where)
    found = {
        header[k]: without_blank(np.array(c, np.int32), list(s))
        for k, c, s in zip(kept, codes, seen, strict=True)
    }
    return ParsedTable(found, where)


LONGEST_LINE = 32 * 2**20


@register
class CsvFile(TextFormat):
    """Cells with a comma between them, in .tsv a tab, or whatever is asked for; the first row has names."""

    suffixes = (".csv", ".tsv")
    is_table = True

    def read(self, path: Path, reading: Reading) -> Iterator[Table]:
        return sets_from_table(*csv_table(path, reading), reading.labels, path)

    def set_lines(self, sets: Iterable[Table], suffix: str) -> Iterator[str]:
        held = list(sets)
        fields = list(dict.fromkeys(name for table in held for name in table.fields()))
        yield from _lines([["set", "id", "cluster", *fields]], suffix)
        for table in held:
            labels = table.labels or [None] * len(table)
            rows = zip(table.item_ids, labels, table.items, strict=True)
            yield from _lines(
                ([table.name, name, label, *map(item.get, fields)] for name, label, item in rows), suffix
            )

    def prediction_lines(self, prediction: Prediction, suffix: str, first: Prediction) -> Iterator[str]:
        table, labels, more = prediction
        named = bool(first.table.name)
        if prediction is first:
            yield from _lines([[*["set"] * named, "id", "cluster", *more]], suffix)
        for low in range(0, len(table), ROWS_AT_ONCE):
            part = slice(low, low + ROWS_AT_ONCE)
            columns = [table.item_ids[part], *(plain(values[part]) for values in (labels, *more.values()))]
            names = [repeat(table.name, len(columns[0]))] * named
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


def csv_table(path: Path, reading: Reading) -> tuple[ParsedTable, ColumnRoles]:
    """The columns of a file that are needed, and which of them is what. Blank cells are missing."""
    mark = _mark(suffix_of(path)) if reading.delimiter is None else check_delimiter(reading.delimiter)
    reader, header, records = _open_csv(path, mark)
    columns = known_columns(reading.columns, header, reading.labels, path)
    data, wanted = whole_text(path, LONGEST_LINE), columns.columns_to_read(header)
    table = None if data is None else plain_table(data, reader.line_num, header, mark, wanted)
    if table is None:
        table = gathered_table(_rows(path, header, records), header, wanted)
    if not len(table.lines):
        raise DataError(f"{path}: there is a header but no row")
    return table, columns


def csv_rows(path: Path, *, unnamed: bool = False) -> Iterator[tuple[int, dict[str, str | None]]]:
    """(line, cells by column) of each row of a small file, one by one; blank cells are None. ``unnamed``
    columns are called by their numbers from 0, instead of being refused.
    """
    _, header, records = _open_csv(path, _mark(suffix_of(path)), unnamed=unnamed)
    for line, cells in _rows(path, header, records):
        yield line, {name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)}


def _open_csv(
    path: Path, mark: str, *, unnamed: bool = False
) -> tuple[Any, list[str], Iterator[tuple[int, list[str]]]]:
    """The reader of a file, its header, and the records that follow."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader((text for _, text in text_lines(path, LONGEST_LINE)), delimiter=mark, strict=True)
    records = _records(path, reader)
    first = next(records, None)
    if first is None:
        raise DataError(f"{path}: the file is empty")
    names = [cell.strip() or str(a) for a, cell in enumerate(first[1])] if unnamed else first[1]
    return reader, _check_header(names, path, mark), records


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
    if "new-line character" in str(error):
        return "a line ends in a carriage return alone; save the file with line feeds"
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
