"""Damage to files of `clustruct.core.storage`: to their bytes, or to what they hold, the checksum made
right.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clustruct.core.storage.container import MAGIC, read_container

Array = np.ndarray[Any, Any]
DIGEST = hashlib.sha256().digest_size
ALIGNMENT = 64
# Headers beyond this make cases slow to write without being other cases.
LONGEST = 6_000_000


class Held(NamedTuple):
    """The header (without its list of arrays) and the arrays of a file."""

    header: dict[str, Any]
    arrays: list[Array]


def held(path: Path) -> Held:
    """What a file holds."""
    header, arrays = read_container(path)
    header.pop("arrays")
    return Held(header, list(arrays))


def sealed(header: Any, arrays: Sequence[Array], listed: Any = None) -> bytes:
    """A file whose sizes and checksum are right, whatever it says (``listed``: of its arrays)."""
    rows = [[a.dtype.str, list(a.shape)] for a in arrays] if listed is None else listed
    whole = {**header, "arrays": rows} if isinstance(header, dict) else header
    text = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % ALIGNMENT)
    body = b"".join(a.tobytes() + bytes(-a.nbytes % ALIGNMENT) for a in arrays)
    return resealed(MAGIC + len(text).to_bytes(8, "little") + text + body)


def resealed(data: bytes) -> bytes:
    return data + hashlib.sha256(data).digest()


def damaged(file: Held, others: Sequence[Held], rng: np.random.Generator) -> tuple[bytes, str]:
    """The bytes of a damaged file, and how it was damaged: "bytes" (checksum as it was) or "contents"."""
    how = rng.random()
    if how < 0.1:
        return _bytes(sealed(*file), rng), "bytes"
    if how < 0.2:
        return resealed(_bytes(sealed(*file)[:-DIGEST], rng)), "contents"
    header, arrays = copy.deepcopy(file.header), list(file.arrays)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if arrays and rng.random() < 0.35:
            _array(arrays, rng)
        else:
            _tree(header, arrays, others, rng)
    if rng.random() < 0.02:
        rows = [[a.dtype.str, list(a.shape)] for a in arrays]
        _tree(rows, arrays, others, rng) if rows else None
        return sealed(header, arrays, rows), "contents"
    return sealed(header, arrays), "contents"


def _bytes(data: bytes, rng: np.random.Generator) -> bytes:
    found, place = bytearray(data), int(rng.integers(len(data)))
    kind = rng.choice(["flip", "many", "cut", "insert", "append", "zero", "length", "swap"])
    if kind == "flip":
        found[place] ^= int(rng.integers(1, 256))
    elif kind == "many":
        for at in rng.integers(0, len(found), 10):
            found[at] = int(rng.integers(256))
    elif kind == "cut":
        del found[place:]
    elif kind == "insert":
        found[place:place] = rng.bytes(int(rng.integers(1, 70)))
    elif kind == "append":
        found += rng.bytes(int(rng.integers(1, 70)))
    elif kind == "zero":
        found[place : place + 64] = bytes(len(found[place : place + 64]))
    elif kind == "length":
        found[len(MAGIC) : len(MAGIC) + 8] = int(rng.choice([0, 1, 64, 2**24, 2**40, 2**62])).to_bytes(
            8, "little"
        )
    else:
        other = int(rng.integers(len(found)))
        a, b = found[place : place + 16], found[other : other + 16]
        if len(a) == len(b) == 16:
            found[place : place + 16], found[other : other + 16] = b, a
    return bytes(found)


def hostile(rng: np.random.Generator, n_arrays: int) -> Any:
    """A value that may not be what is expected."""
    number = int(rng.integers(0, max(1, n_arrays)))
    deep: Any = 1
    for _ in range(int(rng.choice([5, 60, 200]))):
        deep = [deep]
    choices: list[Any] = [
        *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31, 2**53, 2**63, -(2**63), 10**30, 10**400),
        *(0.0, 0.5, -0.5, 1e-300, 1e300, -1e300, 1.0, 2.5, 1e6),
        *({"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}, {"$float": "one"}),
        *(
            "",
            "x",
            "a" * 100_000,
            "\x1b[31m",
            "\ud800",
            "*",
            "pairwise",
            "greedy",
            "title",
            "name",
            "1",
            "cv",
        ),
        *([], {}, [[]], [None], ["*"], [["*", "*"]], [0, 1], list(range(2000)), deep),
        *({"$array": number}, {"$array": -1}, {"$scalar": number}, {"$tuple": [1, 2]}, {"$set": [1, "a"]}),
        *({"$tuple": []}, {"$dict": [[1, 2]]}, {"$dict": [[{"$array": number}, 1]]}, {"$set": [[]]}),
        *({"$strings": [number, number]}, {"$csr": [number, number, number, [3, 3]]}, {"$unknown": 1}),
        *({"$objects": [["a", "b"], [2]]}, {"$objects": [[1, 2], [2**40]]}, {"$objects": [[], []]}),
        *({"$object": "Constant", "state": {}}, {"$object": "Pipeline", "state": {"steps": []}}),
        *({"$object": "os.system", "state": "ls"}, {"$object": [1]}, {"a": 1}),
    ]
    return copy.deepcopy(choices[int(rng.integers(len(choices)))])


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """All (holder, key) below a value."""
    found, waiting = [], [tree]
    while waiting:
        holder = waiting.pop()
        inner = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in inner:
            found.append((holder, key))
            if isinstance(value, dict | list) and value:
                waiting.append(value)
    return found


def _walk(tree: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """A place: found by going down at random, or any."""
    if rng.random() < 0.5:
        places = _places(tree)
        return places[int(rng.integers(len(places)))]
    holder = tree
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = keys[int(rng.integers(len(keys)))]
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.25:
            return holder, key
        holder = inner


def _tree(tree: Any, arrays: list[Array], others: Sequence[Held], rng: np.random.Generator) -> None:
    """One change to a header."""
    if not tree:
        return
    holder, key = _walk(tree, rng)
    kinds = (
        ["hostile"] * 4
        + ["number"] * 3
        + ["drop", "repeat", "repeat", "graft", "swap", "add", "rename", "wrap"]
    )
    kind = kinds[int(rng.integers(len(kinds)))]
    value = holder[key]
    if kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = _other_number(value, rng)
    elif kind == "drop":
        del holder[key]
    elif kind == "repeat":
        _repeat(holder, key, rng)
    elif kind == "graft" and others:
        there = _walk(others[int(rng.integers(len(others)))].header, rng)
        holder[key] = copy.deepcopy(there[0][there[1]])
    elif kind == "swap":
        other, at = _walk(tree, rng)
        # Within itself a value cannot go: that would have no end.
        a, b = copy.deepcopy(value), copy.deepcopy(other[at])
        other[at] = a
        if key in holder if isinstance(holder, dict) else key < len(holder):
            holder[key] = b
    elif kind == "add" and isinstance(holder, dict):
        holder[str(rng.choice(["evil", "$object", "$array", "w_", "state", ""]))] = hostile(rng, len(arrays))
    elif kind == "rename" and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == "wrap":
        holder[key] = [value] if rng.random() < 0.5 else {"$tuple": [value]}
    else:
        holder[key] = hostile(rng, len(arrays))


def _other_number(value: float, rng: np.random.Generator) -> Any:
    changes: list[Any] = [
        -value,
        value + 1,
        value - 1,
        value * 1000,
        float(value) if abs(value) < 1e300 else 1e-300,
        str(value),
        0,
        1e300,
        2**62,
    ]
    return changes[int(rng.integers(len(changes)))]


def _repeat(holder: Any, key: Any, rng: np.random.Generator) -> None:
    """A member of a list many times over; a value becomes a list of itself."""
    times = int(rng.choice([1, 2, 10, 1000, 5000, 100_000, 200_000]))
    times = max(1, min(times, LONGEST // (len(json.dumps(holder[key])) + 2)))
    if isinstance(holder, list):
        holder[key:key] = [holder[key]] * times
    else:
        holder[key] = [holder[key]] * times


def _array(arrays: list[Array], rng: np.random.Generator) -> None:
    """One change to an array."""
    at = int(rng.integers(len(arrays)))
    array = arrays[at].copy()
    kind = rng.choice(
        ["value", "value", "all", "dtype", "shape", "shorter", "longer", "swap", "shuffle", "empty"]
    )
    if kind == "value" and array.size:
        array.flat[int(rng.integers(array.size))] = _entry(array, rng)
    elif kind == "all" and array.size:
        array[...] = _entry(array, rng)
    elif kind == "dtype":
        array = _recast(
            array, str(rng.choice(["<f8", "<f4", "<i8", "<i4", "|u1", "|b1", "<c16", "<U3", "|S2", "<u8"]))
        )
    elif kind == "shape":
        shapes = [(-1,), (1, -1), (-1, 1), (1, 1, -1)]
        array = array.reshape(shapes[int(rng.integers(len(shapes)))]) if array.size else array
    elif kind == "shorter":
        array = array[:-1] if array.ndim else array
    elif kind == "longer":
        array = np.concatenate([array, array]) if array.ndim else np.stack([array, array])
    elif kind == "swap":
        other = int(rng.integers(len(arrays)))
        arrays[other], array = arrays[at], arrays[other]
    elif kind == "shuffle" and array.ndim:
        array = rng.permutation(array)
    else:
        array = array[:0] if array.ndim else array
    arrays[at] = np.ascontiguousarray(array) if array.ndim else array


def _entry(array: Array, rng: np.random.Generator) -> Any:
    if array.dtype.kind in "fc":
        return float(rng.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-300, 1e9]))
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        options = [info.min, info.max, 0, 1, max(info.min, -1), min(info.max, 2**40)]
        return options[int(rng.integers(len(options)))]
    return bool(rng.integers(2)) if array.dtype.kind == "b" else "\x1b"


def _recast(array: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        try:
            return array.astype(dtype)
        except (ValueError, TypeError):
            return np.zeros(array.shape, dtype)
