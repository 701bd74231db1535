"""One file with a JSON header and arrays.

    16 bytes   "clustruct model\\n"
     8 bytes   length of the header, little-endian
     header    JSON, padded with spaces; "arrays" lists [dtype, shape] in the order of the file
     arrays    little-endian, C order, each at a multiple of 64 bytes
    32 bytes   SHA-256 of all that comes before

Reading checks every size against the size of the file before anything of that size is made. The layout
is that of safetensors, which was looked at: it knows no checksum and keeps only text beside the arrays, so
most of this file would be needed over it, and it would be one more compiled package in every installation.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustruct.exceptions import ModelFileError

from .atomic import replacing

__all__ = ["Array", "read_container", "storable", "write_container"]

MAGIC = b"clustruct model\n"
ALIGNMENT = 64
START = len(MAGIC) + 8
DIGEST = hashlib.sha256().digest_size
# JSON of this length can become objects of some twenty times its size, no more.
LONGEST_HEADER = 16 * 2**20
# Truth values, integers, floats and complex numbers; text of at least one character.
DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|<U[1-9]\d{0,8}|\|S[1-9]\d{0,8}")
LAST_CHARACTER = 0x10FFFF

Array: TypeAlias = NDArray[Any]


def storable(dtype: np.dtype[Any]) -> bool:
    """Whether the container holds arrays of this type.

    >>> storable(np.dtype("float64")), storable(np.dtype(object))
    (True, False)
    """
    return DTYPE.fullmatch(dtype.str) is not None


def write_container(path: Path, header: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write the file, whole or not at all."""
    listed = [[a.dtype.str, list(a.shape)] for a in arrays]
    whole = json.dumps({**header, "arrays": listed}, ensure_ascii=False, allow_nan=False)
    text = whole.encode("utf-8", "surrogatepass")
    text += b" " * (-(START + len(text)) % ALIGNMENT)
    if len(text) > LONGEST_HEADER:
        raise ModelFileError(f"{path}: the model does not fit: its header would be {len(text)} bytes long")
    with replacing(path) as f:
        digest = hashlib.sha256()
        _write(f, digest, MAGIC + len(text).to_bytes(8, "little") + text)
        for array in arrays:
            data = np.ascontiguousarray(array).tobytes()
            _write(f, digest, data + bytes(-len(data) % ALIGNMENT))
        f.write(digest.digest())


def _write(f: IO[bytes], digest: Any, data: bytes) -> None:
    f.write(data)
    digest.update(data)


def read_container(path: Path) -> tuple[dict[str, Any], list[Array]]:
    """The header and the arrays (read-only), or a `ModelFileError`."""
    try:
        with open(path, "rb") as f:
            status = os.fstat(f.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelFileError(f"{path}: not a file")
            return _read(f, status.st_size, path)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from None


def _read(f: IO[bytes], size: int, path: Path) -> tuple[dict[str, Any], list[Array]]:
    start = f.read(START)
    if not start:
        raise ModelFileError(f"{path}: the file is empty")
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise ModelFileError(f"{path}: not a clustruct model")
    length = int.from_bytes(start[len(MAGIC) :], "little")
    if len(start) < START or START + length + DIGEST > size:
        raise ModelFileError(f"{path}: the file is cut short or damaged")
    if length > LONGEST_HEADER:
        raise ModelFileError(f"{path}: damaged, a header of {length} bytes cannot be")
    text = f.read(length)
    header = _header(text, path)
    layout = _layout(header, path)
    body = sum(nbytes + -nbytes % ALIGNMENT for _, _, nbytes in layout)
    if START + length + body + DIGEST != size:
        raise ModelFileError(f"{path}: the file is cut short or damaged (its size is not what it declares)")
    data = f.read(body)
    digest = hashlib.sha256(start + text)
    digest.update(data)
    if digest.digest() != f.read(DIGEST):
        raise ModelFileError(f"{path}: the file is damaged (its checksum is wrong)")
    return header, _arrays(data, layout, path)


def _header(text: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFileError(f"{path}: damaged, its header is not JSON") from None
    if not isinstance(header, dict):
        raise ModelFileError(f"{path}: damaged, its header is not an object")
    return header


def _layout(header: dict[str, Any], path: Path) -> list[tuple[str, tuple[int, ...], int]]:
    """dtype, shape and bytes of each array, all plausible."""
    found = []
    listed = header.get("arrays")
    for entry in listed if isinstance(listed, list) else [None]:
        dtype, shape = entry if isinstance(entry, list) and len(entry) == 2 else ("", [])
        sizes = shape if isinstance(shape, list) and len(shape) <= 8 else [-1]
        # A dimension beyond 2^40 would be no array of ours even where another one is zero.
        known = isinstance(dtype, str) and DTYPE.fullmatch(dtype)
        if not known or not all(type(n) is int and 0 <= n < 2**40 for n in sizes):
            raise ModelFileError(f"{path}: damaged, it lists an array that cannot be")
        found.append((dtype, tuple(sizes), math.prod(sizes) * np.dtype(dtype).itemsize))
    return found


def _arrays(data: bytes, layout: list[tuple[str, tuple[int, ...], int]], path: Path) -> list[Array]:
    found, start = [], 0
    for dtype, shape, nbytes in layout:
        if dtype == "|b1" and _largest(data, "|u1", nbytes, start) > 1:
            raise ModelFileError(f"{path}: damaged, an array of truth values has others")
        if dtype.startswith("<U") and _largest(data, "<u4", nbytes, start) > LAST_CHARACTER:
            raise ModelFileError(f"{path}: damaged, an array of text has what is no character")
        found.append(np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape))
        start += nbytes + -nbytes % ALIGNMENT
    return found


def _largest(data: bytes, dtype: str, nbytes: int, start: int) -> int:
    count = nbytes // np.dtype(dtype).itemsize
    return int(np.frombuffer(data, dtype, count, start).max(initial=0))
