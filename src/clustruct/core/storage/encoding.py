"""Nested values as JSON, arrays put aside, and back, and the list of classes that files may hold.

A file names a class by the name it was registered under. What may be named is what a table lists (`names`),
whose module is imported when a file names it, and what users have registered: all else is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.exceptions import ModelFileError

from .names import FIELDS, INNER, STORED

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = list[Array | None]
Json: TypeAlias = Any
State: TypeAlias = dict[str, Any]
C = TypeVar("C", bound=type)
T = TypeVar("T")

# Lists of at least so many strings (vocabularies) are kept as arrays, so that the header stays short.
MANY = 64
# A file made by hand must not drive the reading into the stack's end.
DEEPEST = 50
# Arrays of truth values, integers, floats and complex numbers; text of at least one character.
DTYPE = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|<U[1-9]\d{0,8}|\|S[1-9]\d{0,8}")
PLAIN = (type(None), bool, int, str)
COLLECTIONS = (tuple, set, frozenset)
# What helps where a file names something that is not registered.
IMPORT_FIRST = "import the module that does first (for the command: --import MODULE)"
# What helps where a parameter of this name cannot be stored.
REGISTERED = {"loss": "a loss needs a name for that: clustruct.losses.register"}


@dataclass(frozen=True)
class Entry:
    """A registered class: how its objects become states, and states objects."""

    name: str
    cls: type
    state: Callable[[Any], State]
    rebuild: Callable[[Mapping[str, Any]], Any]


_BY_NAME: dict[str, Entry] = {}
_BY_CLASS: dict[type, Entry] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: files may hold objects of this class, under this name.

    Examples
    --------
    >>> @register("doctest point")
    ... class Point:
    ...     def state(self): return {}
    ...     @classmethod
    ...     def from_state(cls, state): return cls()
    >>> entry_by_name("doctest point").cls is Point, entry_of(Point).name
    (True, 'doctest point')
    """

    def enter(cls: C) -> C:
        if not (hasattr(cls, "state") and hasattr(cls, "from_state")):
            raise TypeError(f"{cls.__qualname__} cannot be registered: it lacks state() or from_state()")
        register_foreign(name, cls, cls.state, cls.from_state)
        return cls

    return enter


def register_foreign(
    name: str, cls: type, state: Callable[[Any], State], rebuild: Callable[[Mapping[str, Any]], Any]
) -> None:
    """Register a class of another package: ``state`` and ``rebuild`` are what its methods would be."""
    taken = _BY_NAME[name].cls.__qualname__ if name in _BY_NAME else class_name(name)
    if taken not in (None, cls.__qualname__):
        raise ValueError(f"the name {name!r} is taken by {taken}")
    _BY_NAME[name] = _BY_CLASS[cls] = Entry(name, cls, state, rebuild)


def entry_of(cls: type) -> Entry | None:
    """How files keep objects of the class (not of its subclasses); None where they do not."""
    # A class of another library is registered by a module that need not have been imported.
    if cls not in _BY_CLASS and (home := home_of(cls.__qualname__)) is not None:
        import_module(home)
    return _BY_CLASS.get(cls)


def class_name(name: str) -> str | None:
    """The class that a stored name stands for; None where the table does not have the name."""
    return STORED[name].partition(":")[2] if name in STORED else None


def home_of(class_name: str) -> str | None:
    """The module that registers the class of that name; None where the table does not have it."""
    homes = (home.partition(":") for home in STORED.values())
    return next((module for module, _, other in homes if other == class_name), None)


def registered_classes(base: type[T]) -> dict[str, type[T]]:
    """The registered classes below a class, by name, in the order of their registration."""
    return {name: entry.cls for name, entry in _BY_NAME.items() if issubclass(entry.cls, base)}


def entry_by_name(name: object) -> Entry:
    """The class of that name; ModelFileError where none is registered."""
    if isinstance(name, str) and name in STORED and name not in _BY_NAME:
        module, _, cls = STORED[name].partition(":")
        _BY_NAME[name] = _BY_CLASS[getattr(import_module(module), cls)]
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise ModelFileError(f"it names {name!r}, which no imported module registers: {IMPORT_FIRST}")
    return found


def to_file(name: str, state: dict[str, Any]) -> dict[str, Any]:
    """A state with the names that files have for its parts."""
    return _rename(state, FIELDS.get(name, {}))


def from_file(name: str, state: Any) -> Any:
    """A state from a file with the names that the code has for its parts."""
    return _rename(state, {old: new for new, old in FIELDS.get(name, {}).items()})


def _rename(state: Any, names: Mapping[str, str]) -> Any:
    if not names or not isinstance(state, dict):
        return state
    return {names.get(k, k): _rename(v, names) if k in INNER else v for k, v in state.items()}


class Unstorable(ModelFileError):
    """A value that files cannot hold: what it is, and where it was found."""

    def __init__(self, what: str, where: tuple[str, ...] = ()) -> None:
        place = "".join(f"{part}: " for part in where)
        help = next((f"; {REGISTERED[part]}" for part in where if part in REGISTERED), "")
        super().__init__(f"{place}a file holds plain values, arrays and registered objects, not {what}{help}")
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
    inner = partial(encode, arrays=arrays, depth=depth + 1)
    if isinstance(value, list) and kind is list:
        are_words = len(value) >= MANY and all(type(v) is str for v in value)
        return _strings(value, arrays) if are_words else list(map(inner, value))
    if isinstance(value, dict) and kind is dict:
        if not all(type(k) is str and not k.startswith("$") for k in value):
            return {"$dict": list(map(inner, map(list, value.items())))}
        coded = {}
        for key, member in value.items():
            with _within(key):
                coded[key] = inner(member)
        return coded
    if isinstance(value, COLLECTIONS) and kind in COLLECTIONS:
        members = list(map(inner, value))
        # A set has no order: the same one is to be the same file.
        return {f"${kind.__name__}": members if kind is tuple else sorted(members, key=repr)}
    if isinstance(value, np.ndarray) and kind is np.ndarray:
        if value.dtype == object:
            return {"$objects": [inner(value.ravel().tolist()), list(value.shape)]}
        return {"$array": _aside(value, arrays)}
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        parts = [_aside(a, arrays) for a in (rows.data, rows.indices, rows.indptr)]
        return {"$csr": [*parts, list(rows.shape)]}
    entry = entry_of(kind)
    if entry is None:
        is_function = kind is FunctionType
        raise Unstorable("a function" if is_function else f"a {kind.__module__}.{kind.__qualname__}")
    with _within(entry.name):
        return {"$object": entry.name, "state": inner(to_file(entry.name, entry.state(value)))}


def _strings(words: list[str], arrays: list[Array]) -> Json:
    """The words end to end, and where each one ends."""
    coded = [w.encode("utf-8", "surrogatepass") for w in words]
    ends = np.cumsum([len(c) for c in coded], dtype=np.int64)
    text = np.frombuffer(b"".join(coded), np.uint8)
    return {"$strings": [_aside(text, arrays), _aside(ends, arrays)]}


def _aside(value: Array, arrays: list[Array]) -> int:
    array = value.astype(value.dtype.newbyteorder("<")) if value.dtype.byteorder == ">" else value
    if not DTYPE.fullmatch(array.dtype.str):
        raise Unstorable(f"an array of {value.dtype}")
    arrays.append(array)
    return len(arrays) - 1


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

    inner = partial(decode, arrays=arrays, depth=depth + 1)
    match value:
        case list():
            return list(map(inner, value))
        case {"$object": name}:
            return entry_by_name(name).rebuild(from_file(name, inner(value.get("state"))))
        case {"$tuple": list(held)}:
            return tuple(map(inner, held))
        case {"$set": list(held)}:
            return set(map(inner, held))
        case {"$frozenset": list(held)}:
            return frozenset(map(inner, held))
        case {"$dict": list(held)}:
            return dict(map(inner, held))
        case {"$objects": [members, shape]}:
            return _objects(inner(members), shape)
        case {"$float": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"$array": number}:
            return _take_array(number, arrays)
        case {"$scalar": number}:
            return _take_array(number, arrays)[()]
        case {"$strings": [text, ends]}:
            return _words(_take_array(text, arrays), _take_array(ends, arrays))
        case {"$csr": [data, indices, starts, shape]}:
            return _rows([_take_array(number, arrays) for number in (data, indices, starts)], shape)
        case dict() if not any(key.startswith("$") for key in value):
            return dict(zip(value, map(inner, value.values()), strict=True))
        case dict():
            raise ModelFileError("damaged, it holds a value of no known kind")
    return value


def _take_array(number: Json, arrays: Arrays) -> Array:
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
    # Assigned as one, a list of equally long lists would become a table.
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
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise([0, *stops])]
    except UnicodeDecodeError:
        raise ModelFileError("damaged, its words are not UTF-8") from None


DIGEST_BYTES = 16


def digest(*values: object) -> str:
    """The BLAKE2b digest of anything that files can hold, as hexadecimal digits.

    Equal values in another form (a list for an array, CSR for a dense array, float32 for float64) have
    another digest.

    >>> len(digest(1, "a", np.arange(3))), digest([1, 2]) == digest([1, 2]), digest([1, 2]) == digest([2, 1])
    (32, True, False)
    """
    arrays: list[Array] = []
    coded = encode(list(values), arrays)
    found = blake2b(digest_size=DIGEST_BYTES)
    shapes = [[a.dtype.str, list(a.shape)] for a in arrays]
    found.update(json.dumps([coded, shapes], ensure_ascii=True, allow_nan=False).encode())
    for a in arrays:
        found.update(np.ascontiguousarray(a).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
