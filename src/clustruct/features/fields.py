"""What the fields of raw items hold: strings, texts, numbers, dates, lists, vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

from clustruct.records import RawSet, is_missing

from .words import as_text

__all__ = ["Fields", "ItemKind", "as_day", "as_number", "field_kinds"]

ItemKind = Literal["auto", "records", "text", "mentions", "vectors"]
LOOKED_AT = 2000  # values of a field that are looked at
LONG = 100  # letters from which on a string is a text
MOSTLY = 0.9
MOST_MISSING = 0.75
_NAMED_ID = re.compile(r"(^|_|\b)(id|ids|url|uri|key|hash)$|[a-z]I[dD]$", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ROUND = " \t.,;:()[]{}$\u20ac\u00a3\u00a5'\"`~#%"
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y")


@dataclass(frozen=True)
class Fields:
    """Raw sets as a guess of features sees them: what the items are, and what each field holds."""

    sets: Sequence[RawSet]
    items: ItemKind
    kinds: Mapping[str, str]

    def holding(self) -> list[str]:
        """The fields that say something."""
        return [field for field, kind in self.kinds.items() if kind not in ("id", "nothing")]

    def compared(self) -> list[str]:
        """The fields that are compared by themselves: of records those that are there often enough.

        A field that most items lack is compared as part of the record only: with few values to learn from,
        its own features fit what is accidental (on the training folds of cora they cost more than they gave).
        """
        if self.items != "records":
            return self.holding()
        return [f for f in self.holding() if len(self.known(f)) >= (1 - MOST_MISSING) * len(self.sample(f))]

    def sample(self, field: str) -> list[Any]:
        """Values of a field, from all sets alike."""
        return _sample(self.sets, field)

    def known(self, field: str) -> list[str]:
        """Those that are not missing, as texts."""
        return [as_text(v) for v in self.sample(field) if v is not None]


def field_kinds(sets: Sequence[RawSet], fields: Sequence[str] | None = None) -> dict[str, str]:
    """What each field holds: "string", "text", "number", "date", "list", "vector", "id", "nothing".

    Without `fields` all are looked at. Names of items ("id", no value twice in a set) are told apart, since
    they say nothing of other sets; a field that never varies holds nothing.

    >>> items = [{"id": 1, "title": "a b", "year": 1990}, {"id": 2, "title": "c", "year": "1991"}]
    >>> field_kinds([RawSet(items)])
    {'id': 'id', 'title': 'string', 'year': 'number'}
    """
    there = dict.fromkeys(name for raw in sets for name in raw.fields())
    if fields is None:
        return {field: _kind(sets, field) for field in there}
    for field in fields:
        if field not in there:
            raise ValueError(f"no item has the field {field!r}; there are {', '.join(sorted(there))}")
    return {field: _kind(sets, field, chosen=True) for field in fields}


def _kind(sets: Sequence[RawSet], field: str, *, chosen: bool = False) -> str:
    values = [v for v in _sample(sets, field) if v is not None]
    if not values or len({repr(v) for v in values}) == 1:
        return "nothing"
    if not chosen and _NAMED_ID.search(field) and _distinct(sets, field):
        return "id"
    for kind, test in _TESTS.items():
        if np.mean([test(v) for v in values]) >= MOSTLY:
            return kind
    return "text" if np.mean([len(as_text(v)) for v in values]) > LONG else "string"


def _sample(sets: Sequence[RawSet], field: str) -> list[Any]:
    each = max(LOOKED_AT // len(sets), 20)
    return [v for raw in sets for v in raw.column(field)[:each]]


def _distinct(sets: Sequence[RawSet], field: str) -> bool:
    columns = [[as_text(v) for v in raw.column(field) if v is not None] for raw in sets]
    return all(len(set(c)) == len(c) for c in columns)


def _is_vector(value: object) -> bool:
    """Whether a value is a list of at least two numbers."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.size > 1 and value.dtype.kind in "fiu"
    if not isinstance(value, list | tuple) or len(value) < 2:
        return False
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in value)


def as_number(value: object) -> float:
    """The number that a value is, NaN where it is none.

    >>> [as_number(v) for v in ("1988.", "$1,299.50", 7, "7 in", None)]
    [1988.0, 1299.5, 7.0, nan, nan]
    """
    if is_missing(value) or isinstance(value, bool):
        return np.nan
    if isinstance(value, int | float | np.floating | np.integer):
        number = float(value)
    else:
        text = str(value).strip(_ROUND)
        if len(text) > 40 or not _NUMBER.fullmatch(text):
            return np.nan
        number = float(text.replace(",", ""))
    return number if abs(number) < 1e100 else np.nan


def as_day(value: object) -> float:
    """The day number of a date, NaN where it is none.

    >>> as_day("2014-03-11") - as_day("20140310")
    1.0
    >>> as_day("someday"), as_day("2014-03-11T12:00:00") - as_day("2014-03-11")
    (nan, 0.5)
    """
    if isinstance(value, datetime):
        return value.toordinal() + (value.hour + value.minute / 60) / 24
    if isinstance(value, date):
        return float(value.toordinal())
    if is_missing(value) or not isinstance(value, str | int | float):
        return np.nan
    text = str(value).strip()
    for form in _DATES if 6 <= len(text) <= 20 else ():
        try:
            return float(datetime.strptime(text, form).toordinal())
        except ValueError:
            continue
    try:
        return as_day(datetime.fromisoformat(text)) if "T" in text or ":" in text else np.nan
    except ValueError:
        return np.nan


# In the order in which they are tried: most lists of numbers are lists, most dates of digits are numbers.
_TESTS: dict[str, Callable[[object], bool]] = {
    "vector": _is_vector,
    "list": lambda v: isinstance(v, list | tuple | set | frozenset),
    "date": lambda v: bool(np.isfinite(as_day(v))),
    "number": lambda v: bool(np.isfinite(as_number(v))),
}
