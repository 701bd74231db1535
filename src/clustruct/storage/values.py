"""Nested values as JSON, arrays put aside, and back: same types, same values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.exceptions import ModelFileError

from .container import DTYPES
from .registry import Stateful, class_named, name_of

__all__ = ["decode", "encode"]

# Lists of at least so many strings (vocabularies) are kept as arrays, so that the header stays short.
MANY = 64
# A file made by hand must not drive the reading into the stack's end.
DEEPEST = 50


def encode(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """JSON for None, bool, int, float, str, lists, tuples, dicts with string keys, and arrays."""
    if isinstance(value, np.ndarray):
        return {"$array": _aside(value, arrays)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, tuple):
        return {"$tuple": [encode(v, arrays) for v in value]}
    if isinstance(value, list):
        if len(value) >= MANY and all(type(v) is str for v in value):
            return _strings(value, arrays)
        return [encode(v, arrays) for v in value]
    if isinstance(value, dict) and all(type(k) is str and not k.startswith("$") for k in value):
        return {k: encode(v, arrays) for k, v in value.items()}
    name = name_of(type(value))
    if name is not None and isinstance(value, Stateful):
        return {"$object": name, "state": encode(value.state(), arrays)}
    raise ModelFileError(f"a model file holds plain values and arrays, not {type(value).__name__}")


def _aside(value: NDArray[Any], arrays: list[NDArray[Any]]) -> int:
    array = value.astype(value.dtype.newbyteorder("<")) if value.dtype.byteorder == ">" else value
    if array.dtype.str not in DTYPES:
        raise ModelFileError(f"a model file holds no arrays of {value.dtype}")
    arrays.append(array)
    return len(arrays) - 1


def _strings(words: list[str], arrays: list[NDArray[Any]]) -> Any:
    """The words end to end, and where each one ends."""
    coded = [w.encode("utf-8", "surrogatepass") for w in words]
    ends = np.cumsum([len(c) for c in coded], dtype=np.int64)
    text = np.frombuffer(b"".join(coded), np.uint8)
    return {"$strings": [_aside(text, arrays), _aside(ends, arrays)]}


def decode(value: Any, arrays: list[NDArray[Any] | None], depth: int = 0) -> Any:
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
    held = value[mark]
    if mark == "$array":
        return _array(held, arrays)
    if mark == "$tuple" and isinstance(held, list):
        return tuple(decode(v, arrays, depth + 1) for v in held)
    if mark == "$float" and held in ("inf", "-inf", "nan"):
        return float(held)
    if mark == "$strings" and isinstance(held, list) and len(held) == 2:
        return _words(_array(held[0], arrays), _array(held[1], arrays))
    if mark == "$object" and set(value) == {"$object", "state"}:
        return class_named(held).from_state(decode(value["state"], arrays, depth + 1))
    raise ModelFileError("damaged, it holds a value of no known kind")


def _array(number: Any, arrays: list[NDArray[Any] | None]) -> NDArray[Any]:
    array = arrays[number] if type(number) is int and 0 <= number < len(arrays) else None
    if array is None:
        raise ModelFileError("damaged, it names an array that is not there")
    arrays[number] = None
    return array


def _words(text: NDArray[Any], ends: NDArray[Any]) -> list[str]:
    whole = ends.ndim == text.ndim == 1 and ends.dtype == np.int64 and text.dtype == np.uint8
    if not whole or (np.diff(ends, prepend=0) < 0).any() or (len(ends) and ends[-1] != len(text)):
        raise ModelFileError("damaged, its list of words does not fit")
    data, stops = text.tobytes(), ends.tolist()
    try:
        starts = [0, *stops[:-1]] if stops else []
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, stops, strict=True)]
    except UnicodeDecodeError:
        raise ModelFileError("damaged, its words are not UTF-8") from None
