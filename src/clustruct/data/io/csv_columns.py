"""Tables of text by column: the plain ones in compiled code, any other row by row.

Both give the same: cells by the codes of their distinct values, blank ones missing.
"""

from __future__ import annotations

import gzip
import random
import stat
import zlib
from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clustruct.core.callbacks import working
from clustruct.core.typing import Ints
from clustruct.data.records import Column, ListColumn, Texts, is_utf8, without_blank

from .cutting import ParsedTable

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
    from ._kernels import split_rows

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
        from ._kernels import encode

        self._make_room(self.count + len(start))
        codes = np.empty(len(start), np.int32)
        held = (self.table, self.start, self.length)
        self.count = encode(self.text, start, length, self.seed, *held, self.count, codes)
        self.codes.append(codes)

    def _make_room(self, most: int) -> None:
        from ._kernels import enter

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
