"""What single values are (missing, text, number, date), and what the fields of tables hold."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from .table import Table

LONGEST_TEXT = 100_000  # letters of a value that are looked at
TOO_LARGE = 1e100  # numbers from here on are no measurements
LARGEST = sys.float_info.max
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ACCENTS = re.compile("[\u0300-\u036f]")
_ROUND = " \t.,;:()[]{}$\u20ac\u00a3\u00a5'\"`~#%"
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y")
# What one of these forms can match: to try them all takes 40 microseconds, and most strings are no dates.
_MAYBE_DATE = re.compile(
    r"\d{4}[-/]?\d\d?[-/]?[ \d]?\d|\d\d?[./][ \d]?\d[./]\d{4}"
    r"|\d\d?\s+[^\W\d_]+\s+\d{4}|[^\W\d_]+\s+\d\d?,\s+\d{4}"
)


def is_missing(value: object) -> bool:
    """Whether a value says nothing: None, NaN, an empty or blank string."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def as_text(value: object) -> str:
    """A field's value as one string, empty where missing; a list is joined.

    Of longer values the first 100,000 letters are taken: features of a cell of megabytes would cost minutes.
    """
    if is_missing(value):
        return ""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, list | tuple):
        return " ; ".join(text for text in map(as_text, value) if text)[:LONGEST_TEXT]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)[:LONGEST_TEXT]


def fold(text: str) -> str:
    """Lower case without accents, blanks squeezed: what two spellings of one thing share.

    >>> fold("  Café  ﬁx STRASSE ")
    'cafe fix strasse'
    """
    if text.isascii():  # the same, in a quarter of the time
        return " ".join(text.lower().split())
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(unicodedata.normalize("NFKC", plain).casefold().split())


def is_vector(value: object) -> bool:
    """Whether a value is a list of at least two numbers, all finite."""
    if isinstance(value, np.ndarray):
        return (
            value.ndim == 1
            and value.size > 1
            and value.dtype.kind in "fiu"
            and bool(np.isfinite(value).all())
        )
    if not isinstance(value, list | tuple) or len(value) < 2:
        return False
    return all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= LARGEST for v in value)


def as_number(value: object) -> float:
    """The number that a value is, NaN where it is none, infinite, or too large to measure anything.

    >>> [as_number(v) for v in ("1988.", "$1,299.50", 7, "7 in", "2e859", None)]
    [1988.0, 1299.5, 7.0, nan, nan, nan]
    """
    if is_missing(value) or isinstance(value, bool):
        return np.nan
    if isinstance(value, np.floating | np.integer):
        value = value.item()
    if isinstance(value, complex) and not value.imag:  # a column of a frame is complex as a whole
        value = value.real
    if isinstance(value, int | float):
        return float(value) if -TOO_LARGE < value < TOO_LARGE else np.nan
    text = str(value).strip(_ROUND)
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return np.nan
    number = float(text.replace(",", ""))
    return number if abs(number) < TOO_LARGE else np.nan


def as_day(value: object) -> float:
    """The day number of a date from 1 January of the year 1 on, the time as a fraction; NaN for others."""
    if isinstance(value, datetime):
        return value.toordinal() + (value.hour + value.minute / 60) / 24
    if isinstance(value, date):
        return float(value.toordinal())
    if is_missing(value) or not isinstance(value, str | int | float):
        return np.nan
    text = str(value).strip()
    if (len(text) == 10 and text[4] == text[7] == "-") or (
        len(text) == 8 and text.isascii() and text.isdigit()
    ):
        with suppress(ValueError):  # the same as the forms below, thirty times as fast
            return float(date.fromisoformat(text).toordinal())
    for form in _DATES if 6 <= len(text) <= 20 and _MAYBE_DATE.fullmatch(text) else ():
        try:
            return float(datetime.strptime(text, form).toordinal())
        except ValueError:
            continue
    try:
        return as_day(datetime.fromisoformat(text)) if "T" in text or ":" in text else np.nan
    except ValueError:
        return np.nan


def holds(kind: str, value: object) -> bool:
    """Whether a value can be what a field of this kind holds. Anything but a vector can be read as text."""
    if kind in ("string", "text"):
        return not is_vector(value)
    return kind not in TESTS or TESTS[kind](value)


# In the order in which they are tried: most lists of numbers are lists, most dates of digits are numbers.
TESTS: dict[str, Callable[[object], bool]] = {
    "vector": is_vector,
    "list": lambda v: isinstance(v, list | tuple | set | frozenset),
    "date": lambda v: bool(np.isfinite(as_day(v))),
    "number": lambda v: bool(np.isfinite(as_number(v))),
}


ItemKind = Literal["auto", "records", "text", "mentions", "vectors"]
LOOKED_AT = 2000  # values of a field that are looked at
MOST_SETS = 1000  # sets that are looked at, of all parts of the data
LONG = 100  # letters from which on a string is a text
MOSTLY = 0.9
MOST_MISSING = 0.75
FEWEST_VALUES = 10  # of two values each: a category
_NAMED_ID = re.compile(r"(^|_|\b)(id|ids|url|uri|key|hash)$|[a-z]I[dD]$", re.IGNORECASE)


@dataclass(frozen=True)
class Fields:
    """Tables as a guess of features sees them: what the items are, and what each field holds."""

    sets: Sequence[Table]
    items: ItemKind  # what the items are: "records", "text", "mentions" or "vectors"
    kinds: Mapping[str, str]  # what each field holds, by its name

    def holding(self) -> list[str]:
        """The fields that say something."""
        return [field for field, kind in self.kinds.items() if kind not in ("id", "nothing")]

    def compared_fields(self) -> list[str]:
        """The fields that are compared by themselves: of records those that are there often enough.

        A field that most items lack is compared as part of the record only: with few values to learn from,
        its own features fit what is accidental (on the training folds of cora they cost more than they gave).
        """
        if self.items != "records":
            return self.holding()
        return [f for f in self.holding() if self.missing_share(f) <= MOST_MISSING]

    def missing_share(self, field: str) -> float:
        """Which share of the items lacks the field."""
        sample = _sample(self.sets, field)
        return 1.0 - sum(v is not None for v in sample) / max(len(sample), 1)

    def is_category(self, field: str) -> bool:
        """Whether a field of records has but two values: all its likenesses would be one and the same."""
        if self.items != "records" or self.kinds[field] not in ("string", "number", "date"):
            return False
        known = self.known_values(field)
        return len(known) >= FEWEST_VALUES and len(set(map(fold, known))) <= 2

    def known_values(self, field: str) -> list[str]:
        """Values of a field that are not missing, from all sets alike, as texts."""
        return [as_text(v) for v in _sample(self.sets, field) if v is not None]


def field_kinds(sets: Sequence[Table], fields: Sequence[str] | None = None) -> dict[str, str]:
    """What each field holds: "string", "text", "number", "date", "list", "vector", "id", "nothing".

    Names of items ("id", no value twice in a set) say nothing of other sets; a field that never varies holds
    nothing.
    """
    there = dict.fromkeys(name for table in sets for name in table.fields())
    if fields is None:
        return {field: _kind(sets, field) for field in there}
    for name in fields:
        if name not in there:
            raise ValueError(f"no item has the field {name!r}; there are {', '.join(sorted(there))}")
    return {field: _kind(sets, field, chosen=True) for field in fields}


def _kind(sets: Sequence[Table], field: str, *, chosen: bool = False) -> str:
    values = [v for v in _sample(sets, field) if v is not None]
    if not values or len({repr(v) for v in values}) == 1:
        return "nothing"
    if not chosen and _NAMED_ID.search(field) and _distinct(sets, field):
        return "id"
    for kind, test in TESTS.items():
        if np.mean([test(v) for v in values]) >= MOSTLY:
            return kind
    return "text" if np.mean([len(as_text(v)) for v in values]) > LONG else "string"


def _sample(sets: Sequence[Table], field: str) -> list[Any]:
    some = sets[:: 1 + (len(sets) - 1) // MOST_SETS]
    each = max(LOOKED_AT // len(some), 20)
    return [v for table in some for v in table.some(field, slice(0, each))]


def _distinct(sets: Sequence[Table], field: str) -> bool:
    """Whether no value is there twice in a set, read as a text."""
    for table in sets:
        codes, values = table.factorize(field)
        if np.count_nonzero(codes >= 0) > len(values) or len(set(map(as_text, values))) < len(values):
            return False
    return True
