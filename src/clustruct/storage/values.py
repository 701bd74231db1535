"""Nested values as JSON, arrays put aside, and back: same types, same values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.exceptions import ModelFileError

from .container import Array, storable
from .registry import entry_named, entry_of

__all__ = ["Unstorable", "decode", "encode"]

Json: TypeAlias = Any
Arrays: TypeAlias = list[Array | None]

# Lists of at least so many strings (vocabularies) are kept as arrays, so that the header stays short.
MANY = 64
# A file made by hand must not drive the reading into the stack's end.
DEEPEST = 50
PLAIN = (type(None), bool, int, str)
COLLECTIONS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
}


class Unstorable(ModelFileError):
    """A value that files cannot hold: what it is, and where it was found."""

    def __init__(self, what: str, where: tuple[str, ...] = ()) -> None:
        place = "".join(f"{part}: " for part in where)
        super().__init__(f"{place}a file holds plain values, arrays and registered objects, not {what}")
        self.what, self.where = what, where


def encode(value: object, arrays: list[Array], depth: int = 0) -> Json:
    """JSON for plain values, collections, arrays, sparse matrices, and objects of registered classes.

    >>> encode({"a": (1, 2.5), "b": np.arange(3)}, [])
    {'a': {'$tuple': [1, 2.5]}, 'b': {'$array': 0}}
    """
    if depth > DEEPEST:
        raise Unstorable("values nested so deeply")
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, np.generic):
        return {"$scalar": _aside(np.asarray(value), arrays)}
    if isinstance(value, float) and kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, list) and kind is list:
        return _list(value, arrays, depth)
    if isinstance(value, dict) and kind is dict:
        return _dict(value, arrays, depth)
    if isinstance(value, tuple | set | frozenset) and f"${kind.__name__}" in COLLECTIONS:
        members = [encode(v, arrays, depth + 1) for v in value]
        # A set has no order: the same one is to be the same file.
        return {f"${kind.__name__}": members if kind is tuple else sorted(members, key=repr)}
    if isinstance(value, np.ndarray) and kind is np.ndarray:
        return _array(value, arrays, depth)
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        parts = [_aside(a, arrays) for a in (rows.data, rows.indices, rows.indptr)]
        return {"$csr": [*parts, list(rows.shape)]}
    return _object(value, arrays, depth)


def _list(value: list[Any], arrays: list[Array], depth: int) -> Json:
    if len(value) >= MANY and all(type(v) is str for v in value):
        # The words end to end, and where each one ends.
        coded = [w.encode("utf-8", "surrogatepass") for w in value]
        ends = np.cumsum([len(c) for c in coded], dtype=np.int64)
        text = np.frombuffer(b"".join(coded), np.uint8)
        return {"$strings": [_aside(text, arrays), _aside(ends, arrays)]}
    return [encode(v, arrays, depth + 1) for v in value]


def _dict(value: dict[Any, Any], arrays: list[Array], depth: int) -> Json:
    if not all(type(k) is str and not k.startswith("$") for k in value):
        return {"$dict": [[encode(part, arrays, depth + 2) for part in pair] for pair in value.items()]}
    coded = {}
    for key, held in value.items():
        with _within(key):
            coded[key] = encode(held, arrays, depth + 1)
    return coded


def _array(value: Array, arrays: list[Array], depth: int) -> Json:
    if value.dtype == object:
        return {"$objects": [_list(value.ravel().tolist(), arrays, depth + 1), list(value.shape)]}
    return {"$array": _aside(value, arrays)}


def _aside(value: Array, arrays: list[Array]) -> int:
    array = value.astype(value.dtype.newbyteorder("<")) if value.dtype.byteorder == ">" else value
    if not storable(array.dtype):
        raise Unstorable(f"an array of {value.dtype}")
    arrays.append(array)
    return len(arrays) - 1


def _object(value: object, arrays: list[Array], depth: int) -> Json:
    kind = type(value)
    entry = entry_of(kind)
    if entry is None:
        raise Unstorable(f"a {kind.__module__}.{kind.__qualname__}")
    with _within(entry.name):
        return {"$object": entry.name, "state": _dict(entry.state(value), arrays, depth + 1)}


@contextmanager
def _within(part: str) -> Iterator[None]:
    """What cannot be stored in here is in this part of the whole."""
    try:
        yield
    except Unstorable as error:
        raise Unstorable(error.what, (part, *error.where)) from None


def decode(value: Json, arrays: Arrays, depth: int = 0) -> Any:
    """What `encode` was given; ModelFileError where the JSON was not made by it.

    An array is taken once, and its place is None then: naming one a thousand times must not make
    a thousand lists of its words.
    """
    if depth > DEEPEST:
        raise ModelFileError("damaged, its values are nested too deeply")
    if isinstance(value, list):
        return [decode(v, arrays, depth + 1) for v in value]
    if not isinstance(value, dict):
        return value
    mark = next(iter(value), "")
    if not mark.startswith("$"):
        return {k: decode(v, arrays, depth + 1) for k, v in value.items()}
    if mark == "$object":
        return entry_named(value[mark]).rebuild(decode(value.get("state"), arrays, depth + 1))
    held = value[mark]
    if mark in COLLECTIONS and isinstance(held, list):
        return COLLECTIONS[mark](decode(v, arrays, depth + 1) for v in held)
    if mark == "$dict" and isinstance(held, list):
        return dict(decode(pair, arrays, depth + 1) for pair in held)
    if mark == "$objects" and isinstance(held, list) and len(held) == 2:
        return _objects(decode(held[0], arrays, depth + 1), held[1])
    if mark == "$float" and held in ("inf", "-inf", "nan"):
        return float(held)
    return _from_arrays(mark, held, arrays)


def _from_arrays(mark: str, held: Json, arrays: Arrays) -> Any:
    if mark == "$array":
        return _taken(held, arrays)
    if mark == "$scalar":
        return _taken(held, arrays)[()]
    if mark == "$strings" and isinstance(held, list) and len(held) == 2:
        return _words(_taken(held[0], arrays), _taken(held[1], arrays))
    if mark == "$csr" and isinstance(held, list) and len(held) == 4:
        return _rows([_taken(number, arrays) for number in held[:3]], held[3])
    raise ModelFileError("damaged, it holds a value of no known kind")


def _taken(number: Json, arrays: Arrays) -> Array:
    array = arrays[number] if type(number) is int and 0 <= number < len(arrays) else None
    if array is None:
        raise ModelFileError("damaged, it names an array that is not there")
    arrays[number] = None
    return array


def _objects(members: object, shape: Json) -> NDArray[np.object_]:
    sizes = shape if isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape) else []
    if not isinstance(members, list) or math.prod(sizes) != len(members) or len(sizes) > 8:
        raise ModelFileError("damaged, an array of objects does not fit its shape")
    found = np.empty(len(members), object)
    for place, member in enumerate(members):
        found[place] = member
    return found.reshape(sizes)


def _rows(parts: list[Array], shape: Json) -> sparse.csr_array:
    sizes = shape if isinstance(shape, list) and len(shape) == 2 else [None]
    if any(a.ndim != 1 for a in parts) or not all(type(n) is int and 0 <= n < 2**40 for n in sizes):
        raise ModelFileError("damaged, a sparse matrix does not fit")
    # A copy: scipy sorts in place, and what was read is read-only.
    rows = sparse.csr_array(tuple(parts), shape=tuple(sizes), copy=True)
    rows.check_format(full_check=True)
    return rows


def _words(text: Array, ends: Array) -> list[str]:
    whole = ends.ndim == text.ndim == 1 and ends.dtype == np.int64 and text.dtype == np.uint8
    if not whole or (np.diff(ends, prepend=0) < 0).any() or (len(ends) and ends[-1] != len(text)):
        raise ModelFileError("damaged, its list of words does not fit")
    data, stops = text.tobytes(), ends.tolist()
    try:
        starts = [0, *stops[:-1]] if stops else []
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, stops, strict=True)]
    except UnicodeDecodeError:
        raise ModelFileError("damaged, its words are not UTF-8") from None
