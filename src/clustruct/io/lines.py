"""Lines of text files, plain or gzipped, one at a time: number and text, or an error that names the line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from clustruct.exceptions import DataError, place

# A set of a hundred thousand records is one line of JSONL of this order. A line beyond it is no line.
LONGEST_LINE = 256 * 2**20


def open_bytes(path: Path) -> IO[bytes]:
    """The file for reading, unpacked where its name ends in .gz."""
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a file")
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


def text_lines(path: Path, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """(number from 1, text) of each line, its line end kept; a byte order mark is left out."""
    limit = LONGEST_LINE if longest is None else longest
    number = 0
    with open_bytes(path) as f:
        while True:
            number += 1
            raw = _next_line(f, path, number, limit)
            if not raw:
                return
            yield (
                number,
                _decode(raw[3:] if number == 1 and raw[:3] == b"\xef\xbb\xbf" else raw, path, number),
            )


def _next_line(f: IO[bytes], path: Path, number: int, limit: int) -> bytes:
    try:
        raw = f.readline(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{place(path, number)}: the file is damaged ({error})") from None
    if len(raw) > limit:
        raise DataError(f"{place(path, number)}: the line is longer than {limit / 2**20:.0f} MiB")
    return raw


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = raw[error.start]
        raise DataError(
            f"{place(path, number)}: byte {error.start + 1} of the line (0x{wrong:02x}) is not UTF-8; "
            "save the file as UTF-8"
        ) from None


def bare_suffix(path: Path) -> str:
    """The end of a file's name that tells its kind: .csv for a.csv and a.csv.gz.

    >>> bare_suffix(Path("news.JSONL.gz"))
    '.jsonl'
    """
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix
