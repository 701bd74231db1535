"""What columns have made of items, as arrays that only get longer, so that files can keep it in pieces.

Texts, rows of terms and numbers of items grow at their ends alone: a file is given what came since it was
last written (`tail`), and its pieces, put end to end, are the whole (`restore_columns`). No piece is trusted:
numbers that lead outside what they number are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from clustruct.core.typing import Ints
from clustruct.data import Table

from .columns import Columns, TermTable
from .vocabulary import FoldedTexts, Vocabulary

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
# How long each array is in the file, by the name of what it belongs to.
Lengths: TypeAlias = dict[str, list[int]]
# The arrays of a piece, by the same names.
Piece: TypeAlias = dict[str, list[Array]]
WORDS = "vocabulary "


class CacheError(ValueError):
    """What was made of items cannot be kept in a file, or does not fit what the file has."""


def tail(columns: Columns, lengths: Mapping[str, Sequence[int]] | None = None) -> Piece:
    """The ends of all arrays, from these lengths on; `CacheError` where there are no such arrays."""
    known, found = lengths or {}, Piece()
    names = {id(words): _text(name) for name, words in columns.vocabularies.items()}
    for words in columns.vocabularies.values():
        name = WORDS + names[id(words)]
        found[name] = _from([words.keys], known.get(name))
    for key, value in columns.by_key().items():
        for part, one in _members(value):
            name = f"{_kind(one)} {part} {names.get(id(getattr(one, 'vocabulary', None)), '')} {_text(key)}"
            found[name] = _tail(one, known.get(name))
    _require(set(known) <= set(found))
    return found


def add_lengths(lengths: Mapping[str, Sequence[int]], piece: Piece) -> Lengths:
    both = {name: list(held) for name, held in lengths.items()}
    for name, arrays in piece.items():
        before = both.get(name, [0] * len(arrays))
        both[name] = [n + len(a) for n, a in zip(before, arrays, strict=True)]
    return both


def restore_columns(table: Table, pieces: Iterable[Piece]) -> Columns:
    parts: dict[str, list[list[Array]]] = {}
    for piece in pieces:
        for name, arrays in piece.items():
            parts.setdefault(name, []).append(arrays)
    whole = {name: [np.concatenate(some) for some in zip(*held, strict=True)] for name, held in parts.items()}
    words = {
        _key(name.removeprefix(WORDS)): Vocabulary.of_keys(keys)
        for name, (keys, *_) in whole.items()
        if name.startswith(WORDS)
    }
    columns = Columns(table, words)
    values: dict[Any, dict[int, Any]] = {}
    # Texts first: rows of terms may be those of texts, which say which text an item has.
    for name, arrays in sorted(whole.items(), key=lambda entry: not entry[0].startswith("texts ")):
        if name.startswith(WORDS):
            continue
        kind, part, rest = name.split(" ", 2)
        vocabulary, key = _split_names(rest)
        made = values.setdefault(key, {})
        if kind == "texts":
            made[int(part)] = _texts(arrays, len(table))
        elif kind == "terms":
            texts = values[("texts", *key[2:])][-1] if key[0] == "terms" else None
            made[int(part)] = _term_table(arrays, words[vocabulary], texts, len(table))
        else:
            _require(kind.startswith("array") and len(arrays[0]) == len(table))
            made[int(part)] = arrays[0]
    for key, made in values.items():
        members = [made[part] for part in sorted(made)]
        columns.keep(key, members[0] if list(made) == [-1] else tuple(members))
    return columns


def _texts(arrays: list[Array], n: int) -> FoldedTexts:
    codes, letters, sizes = arrays
    values = _split(letters, sizes)
    _require(len(codes) == n and _within(codes, len(values)))
    places = {text: place for place, text in enumerate(values)}
    found = FoldedTexts(codes.astype(np.int64), values, places, int(sizes.max(initial=0)))
    _require(len(found.places) == len(values))
    return found


def _term_table(arrays: list[Array], words: Vocabulary, texts: FoldedTexts | None, n: int) -> TermTable:
    sizes, indices, counts = arrays
    indptr = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    _require(len(sizes) >= (n if texts is None else len(texts.values)) and sizes.min(initial=0) >= 0)
    _require(indptr[-1] == len(indices) == len(counts) and _within(indices, len(words)))
    _require(texts is not None or len(sizes) == n)
    return TermTable(words, indptr, indices.astype(np.int32), counts, None if texts is None else texts.codes)


def _members(value: Any) -> list[tuple[int, Any]]:
    """The members of a tuple, numbered; a value that is no tuple has number -1."""
    return list(enumerate(value)) if isinstance(value, tuple) else [(-1, value)]


def _kind(value: Any) -> str:
    kinds = {FoldedTexts: "texts", TermTable: "terms", np.ndarray: "array"}
    if type(value) not in kinds:
        raise CacheError(f"a {type(value).__name__} is not kept")
    # Vectors of another length than those that were kept are something else.
    return kinds[type(value)] + ",".join(map(str, getattr(value, "shape", ())[1:]))


def _tail(value: Any, lengths: Sequence[int] | None) -> list[Array]:
    if isinstance(value, FoldedTexts):
        items, _, texts = lengths or (0, 0, 0)
        coded = [text.encode("utf-8", "surrogatepass") for text in value.values[texts:]]
        joined = np.frombuffer(b"".join(coded), np.uint8)
        return [value.codes[items:].astype(np.int32), joined, np.array([*map(len, coded)], np.int32)]
    if isinstance(value, TermTable):
        rows, terms, _ = lengths or (0, 0, 0)
        _require(value.indptr[rows] == terms)
        return [np.diff(value.indptr[rows:]).astype(np.int32), value.indices[terms:], value.counts[terms:]]
    return _from([value], lengths)


def _from(arrays: list[Array], lengths: Sequence[int] | None) -> list[Array]:
    return [a[n:] for a, n in zip(arrays, lengths or [0] * len(arrays), strict=True)]


def _split(letters: Array, sizes: Array) -> list[str]:
    """Texts that stand end to end."""
    ends = np.cumsum(sizes, dtype=np.int64)
    _require(sizes.min(initial=0) >= 0 and int(ends[-1] if len(ends) else 0) == len(letters))
    text = letters.tobytes()
    if text.isascii():  # then letters are bytes, and one decoding does for all
        whole = text.decode("ascii")
        return [whole[i:j] for i, j in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
    begins = [0, *ends[:-1].tolist()]
    return [text[i:j].decode("utf-8", "surrogatepass") for i, j in zip(begins, ends.tolist(), strict=True)]


def _within(numbers: Array | Ints, n: int) -> bool:
    kind = numbers.dtype.kind in "iu"
    return kind and bool(not len(numbers) or (numbers.min() >= 0 and numbers.max() < n))


def _require(holds: object) -> None:
    if not holds:
        raise CacheError("what was kept does not fit together")


def _text(key: object) -> str:
    """A key (a string, or a tuple of plain values) as text without spaces at its ends."""
    return json.dumps(key, ensure_ascii=True, separators=(",", ":"))


def _key(text: str) -> Any:
    return _as_tuple(json.loads(text))


def _split_names(text: str) -> tuple[Any, Any]:
    """The name of the vocabulary, None where there is none, and the key."""
    if text.startswith(" "):
        return None, _key(text[1:])
    value, end = json.JSONDecoder().raw_decode(text)
    return _as_tuple(value), _key(text[end:])


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
