"""Objects in files: `save`, `load`, and `read` for what else a file says.

A file appears whole or not at all. It has a JSON header and arrays:

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
import platform
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from io import BytesIO
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO, Any, Generic, TypeVar, overload

import numpy as np

from clustruct import __version__
from clustruct.core.exceptions import ModelFileError, UnknownLoss

from .encoding import DTYPE, IMPORT_FIRST, Array, Json, decode, encode, entry_of
from .targets import replacing

FORMAT = 1
MAGIC = b"clustruct model\n"
ALIGNMENT = 64
START = len(MAGIC) + 8
DIGEST = hashlib.sha256().digest_size
# JSON of this length can become objects of some twenty times its size, no more.
LONGEST_HEADER = 16 * 2**20
LAST_CHARACTER = 0x10FFFF

T = TypeVar("T")


@dataclass(frozen=True)
class StoredFile(Generic[T]):
    """The object of a file, what was said about it when it was saved, and by which versions."""

    object: T
    about: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def save(path: str | PathLike[str], obj: object, about: Mapping[str, Any] | None = None) -> None:
    """Write an object to one file, whole or not at all; nothing in the file is code.

    Parameters
    ----------
    path : path
        The file to be written.
    obj : object
        A fitted estimator, a Pipeline of them, a result, or an object of any class that is registered
        (`clustruct.core.storage.register`).
    about : mapping, optional
        Plain values to be kept beside it.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from clustruct import PairFeatures, Table
    >>> from clustruct.estimators.baselines import PairwiseClassifierClustering
    >>> sets = [Table([{"a": 1}, {"a": 1}, {"a": 2}])]
    >>> pipeline = make_pipeline(PairFeatures([]), PairwiseClassifierClustering()).fit(sets, [[0, 0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(os.path.join(folder, "model"), pipeline)
    ...     load(os.path.join(folder, "model")).predict(sets)
    [array([0, 1, 2])]
    """
    if entry_of(type(obj)) is None:
        raise ModelFileError(
            f"no file for {type(obj).__qualname__}: its class is not registered "
            "(clustruct.core.storage.register)"
        )
    arrays: list[Array] = []
    header = {
        "format": FORMAT,
        "written_by": "clustruct",
        "versions": _versions(),
        "about": encode(dict(about or {}), arrays),
        "object": encode(obj, arrays),
    }
    write_container(Path(path), header, arrays)


def load(path: str | PathLike[str]) -> Any:
    """The object of a file; `ModelFileError` where the file is not one.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    object
        The object that was saved.
    """
    return read(path).object


@overload
def read(path: str | PathLike[str]) -> StoredFile[Any]: ...
@overload
def read(path: str | PathLike[str], expected: type[T]) -> StoredFile[T]: ...
def read(path: str | PathLike[str], expected: type = object) -> StoredFile[Any]:
    """The object of a file, which must be of the class expected, and what else the file says."""
    try:
        found = _rebuild(*read_container(Path(path)))
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except UnknownLoss as error:
        reason = f"the model was trained for the loss {error.name!r}, which no imported module registers"
        raise ModelFileError(f"{path}: {reason}: {IMPORT_FIRST}") from None
    except Exception as error:
        # A file made by hand can be wrong in any way; whatever its values upset is the file's fault.
        raise ModelFileError(f"{path}: damaged ({type(error).__name__}: {error})") from None
    if not isinstance(found.object, expected):
        raise ModelFileError(f"{path}: holds a {type(found.object).__name__}, not a {expected.__name__}")
    return found


def _rebuild(header: Mapping[str, Json], arrays: list[Array]) -> StoredFile[Any]:
    number, versions, left = header.get("format"), header.get("versions"), list[Array | None](arrays)
    if type(number) is not int or number < 1:
        raise ModelFileError("damaged, it has no format number")
    if number > FORMAT:
        by = versions.get("clustruct", "?") if isinstance(versions, dict) else "?"
        raise ModelFileError(
            f"written in format {number} by clustruct {by}; this version reads formats up to {FORMAT}"
        )
    about, held = decode(header["about"], left), header["object"]
    if not isinstance(about, dict):
        raise ModelFileError("damaged, what it says about itself is no mapping")
    if not isinstance(held, dict) or "$object" not in held:
        raise ModelFileError("damaged, it holds no object")
    return StoredFile(decode(held, left), about, dict(header["versions"]))


@cache
def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"clustruct": __version__, "python": platform.python_version(), **others}


def write_container(path: Path, header: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write the header and the arrays."""
    try:
        pieces = container_pieces(header, arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: the model does not fit: {error}") from None
    with replacing(path) as f:
        f.writelines(pieces)


def container_pieces(header: dict[str, Any], arrays: Sequence[Array]) -> Iterator[bytes]:
    """A container piece by piece, its checksum last."""
    listed = [[a.dtype.str, list(a.shape)] for a in arrays]
    whole = json.dumps({**header, "arrays": listed}, ensure_ascii=False, allow_nan=False)
    text = whole.encode("utf-8", "surrogatepass")
    text += b" " * (-(START + len(text)) % ALIGNMENT)
    if len(text) > LONGEST_HEADER:
        raise ModelFileError(f"its header would be {len(text)} bytes long")
    head = (MAGIC, len(text).to_bytes(8, "little"), text)
    body = (a.tobytes().ljust(_padded_size(a.nbytes), b"\0") for a in arrays)
    return _with_digest(chain(head, body))


def _with_digest(pieces: Iterable[bytes]) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
        yield piece
    yield digest.digest()


def pack(values: Mapping[str, Any]) -> bytes:
    """Plain values and arrays as one container, with its checksum; `unpack` is the way back.

    >>> unpack(pack({"n": 3, "x": np.arange(2)}))
    {'n': 3, 'x': array([0, 1])}
    """
    arrays: list[Array] = []
    held = encode(dict(values), arrays)
    return b"".join(container_pieces({"format": FORMAT, "values": held}, arrays))


def unpack(data: bytes) -> dict[str, Any]:
    """What `pack` was given; `ModelFileError` where these bytes are not what it made."""
    try:
        header, arrays = _read(BytesIO(data), len(data))
        if header.get("format") != FORMAT:
            raise ModelFileError("written in another format")
        found = decode(header["values"], list[Array | None](arrays))
    except ModelFileError:
        raise
    except Exception as error:  # whatever upsets the values is their fault
        raise ModelFileError(f"damaged ({type(error).__name__}: {error})") from None
    if not isinstance(found, dict):
        raise ModelFileError("damaged, it holds no values")
    return found


def _padded_size(nbytes: int) -> int:
    """What so many bytes take up in a file, with the gap to the next array."""
    return nbytes + -nbytes % ALIGNMENT


def read_container(path: Path) -> tuple[dict[str, Any], list[Array]]:
    """The header and the arrays (read-only), or a `ModelFileError`."""
    try:
        with open(path, "rb") as f:
            status = os.fstat(f.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ModelFileError("not a file")
            return _read(f, status.st_size)
    except OSError as error:
        raise ModelFileError(f"cannot be read ({error.strerror or error})") from None


def _read(f: IO[bytes], size: int) -> tuple[dict[str, Any], list[Array]]:
    start = f.read(START)
    if not start:
        raise ModelFileError("the file is empty")
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise ModelFileError("not a clustruct model")
    length = int.from_bytes(start[len(MAGIC) :], "little")
    if len(start) < START or START + length + DIGEST > size:
        raise ModelFileError("the file is cut short or damaged")
    if length > LONGEST_HEADER:
        raise ModelFileError(f"damaged, a header of {length} bytes cannot be")
    text = f.read(length)
    header = _header(text)
    layout = _layout(header)
    body = sum(_padded_size(nbytes) for _, _, nbytes in layout)
    if START + length + body + DIGEST != size:
        raise ModelFileError("the file is cut short or damaged (its size is not what it declares)")
    data = f.read(body)
    digest = hashlib.sha256(start + text)
    digest.update(data)
    if digest.digest() != f.read(DIGEST):
        raise ModelFileError("the file is damaged (its checksum is wrong)")
    return header, _arrays(data, layout)


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelFileError("damaged, its header is not JSON") from None
    if not isinstance(header, dict):
        raise ModelFileError("damaged, its header is not an object")
    return header


def _layout(header: dict[str, Any]) -> list[tuple[str, tuple[int, ...], int]]:
    """dtype, shape and bytes of each array, all plausible."""
    found = []
    listed = header.get("arrays")
    for entry in listed if isinstance(listed, list) else [None]:
        dtype, shape = entry if isinstance(entry, list) and len(entry) == 2 else ("", [])
        sizes = shape if isinstance(shape, list) and len(shape) <= 8 else [-1]
        # A dimension beyond 2^40 would be no array of ours even where another one is zero.
        known = isinstance(dtype, str) and DTYPE.fullmatch(dtype)
        if not known or not all(type(n) is int and 0 <= n < 2**40 for n in sizes):
            raise ModelFileError("damaged, it lists an array that cannot be")
        found.append((dtype, tuple(sizes), math.prod(sizes) * np.dtype(dtype).itemsize))
    return found


def _arrays(data: bytes, layout: list[tuple[str, tuple[int, ...], int]]) -> list[Array]:
    found, start = [], 0
    for dtype, shape, nbytes in layout:
        whole = memoryview(data)[start : start + nbytes]
        if dtype == "|b1" and np.frombuffer(whole, "|u1").max(initial=0) > 1:
            raise ModelFileError("damaged, an array of truth values has others")
        if dtype.startswith("<U") and np.frombuffer(whole, "<u4").max(initial=0) > LAST_CHARACTER:
            raise ModelFileError("damaged, an array of text has what is no character")
        found.append(np.frombuffer(whole, dtype).reshape(shape))
        start += _padded_size(nbytes)
    return found
