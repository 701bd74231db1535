"""Labelled pairs of records given by their values, as dedupe writes its training: the rows that they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from clustruct.core.exceptions import DataError
from clustruct.data import Table, as_text, fold

from .decisions import Kind

# The lists of pairs, and what they say.
LISTS: dict[str, Kind] = {"match": "same", "distinct": "different"}
LONGEST_FILE = 2**30


class RecordPair(NamedTuple):
    """Two records by field, and whether they are the same."""

    kind: Kind
    first: Mapping[str, Any]
    second: Mapping[str, Any]
    number: int


def read_record_pairs(path: Path) -> tuple[RecordPair, ...]:
    """The pairs of a JSON file with lists "match" and "distinct", each of pairs of records."""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise DataError(f"{path}: too large for a file of labelled pairs")
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise DataError(f"{path}: not JSON") from None
    form = 'labels in JSON are an object with lists "match" and "distinct" of pairs of records'
    if not isinstance(held, dict) or not held.keys() & LISTS.keys():
        raise DataError(f"{path}: {form}")
    found = list[RecordPair]()
    for name, kind in LISTS.items():
        pairs = _plain(held.get(name, []))
        if not isinstance(pairs, list):
            raise DataError(f"{path}: {form}")
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(r, dict) for r in pair):
                raise DataError(f"{path}: {name!r} has something that is no pair of records: {pair!r:.60}")
            found.append(RecordPair(kind, pair[0], pair[1], len(found) + 1))
    if not found:
        raise DataError(f"{path}: there are no labels")
    return tuple(found)


def _plain(value: Any) -> Any:
    """The value without the classes that dedupe notes beside tuples and sets.

    >>> _plain({"__class__": "tuple", "__value__": [{"t": {"__class__": "frozenset", "__value__": ["a"]}}]})
    [{'t': ['a']}]
    """
    if isinstance(value, dict):
        if value.keys() == {"__class__", "__value__"}:
            return _plain(value["__value__"])
        return {name: _plain(held) for name, held in value.items()}
    return [_plain(held) for held in value] if isinstance(value, list) else value


@dataclass
class RowsByValue:
    """The rows of a table by what some fields say: after folding, or else by letters and digits alone."""

    table: Table
    fields: tuple[str, ...]

    def find(self, record: Mapping[str, Any]) -> list[int]:
        """The rows that are like a record in all these fields."""
        key = tuple(fold(as_text(record.get(name))) for name in self.fields)
        return self._by_folded_key.get(key) or self._bare.get(_bare(key), [])

    @cached_property
    def _keys(self) -> list[tuple[str, ...]]:
        columns = [[fold(as_text(v)) for v in self.table.column(name)] for name in self.fields]
        return list(zip(*columns, strict=True))

    @cached_property
    def _by_folded_key(self) -> dict[tuple[str, ...], list[int]]:
        return _number_rows(self._keys)

    @cached_property
    def _bare(self) -> dict[tuple[str, ...], list[int]]:
        return _number_rows([_bare(key) for key in self._keys])


def _bare(key: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("".join(letter for letter in text if letter.isalnum()) for text in key)


def _number_rows(keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for a, key in enumerate(keys):
        if any(key):
            found.setdefault(key, []).append(a)
    return found


def find_pair(rows: RowsByValue, pair: RecordPair) -> tuple[int, int] | None:
    """Two rows that have the values of a pair of records; None where one is not there."""
    first, second = rows.find(pair.first), rows.find(pair.second)
    return next(((a, b) for a in first[:2] for b in second[:2] if a != b), None)
