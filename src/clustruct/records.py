"""Raw sets: items as they came from a file or a table, before any features, and what their fields hold:
strings, texts, numbers, dates, lists, vectors.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

from clustruct.text import place

ItemKind = Literal["auto", "records", "text", "mentions", "vectors"]
LOOKED_AT = 2000  # values of a field that are looked at
LONG = 100  # letters from which on a string is a text
LONGEST_TEXT = 100_000  # letters of a value that are looked at
MOSTLY = 0.9
MOST_MISSING = 0.75
FEWEST_VALUES = 10  # of two values each: a category
TOO_LARGE = 1e100  # numbers from here on are no measurements
_NAMED_ID = re.compile(r"(^|_|\b)(id|ids|url|uri|key|hash)$|[a-z]I[dD]$", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_INFINITE = re.compile(r"[-+]?inf(?:inity)?", re.IGNORECASE)
_ACCENTS = re.compile("[\u0300-\u036f]")
_ROUND = " \t.,;:()[]{}$\u20ac\u00a3\u00a5'\"`~#%"
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y")


@dataclass(frozen=True)
class Source:
    """Where a set was read: the file, and the line of the set or, in a table, that of each item.

    >>> Source("a.jsonl", 3).place(), Source("a.csv", lines=[2, 5]).place(1)
    ('a.jsonl:3', 'a.csv:5')
    """

    path: str
    line: int | None = None
    lines: Sequence[int] | None = None

    def place(self, item: int | None = None) -> str:
        """File and line, of one item where they are known."""
        return place(self.path, self.line if item is None or self.lines is None else self.lines[item])

    def part(self, items: Sequence[int]) -> Source:
        """Where some of the items were read."""
        return self if self.lines is None else Source(self.path, lines=[self.lines[a] for a in items])


@dataclass(frozen=True)
class RawSet:
    """Items to be grouped together, each a mapping from field names to values.

    Parameters
    ----------
    items : one mapping per item; a field that is absent, None, NaN or an empty string is missing
    labels : the right cluster of each item, any hashable; None, NaN or -1 for an item whose cluster is not
        known, None for a set without labels
    name : how the set is called in messages
    ids : names of the items
    group : sets of one group share something (stories, say) and must not be split between train and test
    context : what belongs to the set as a whole: the tokens of a document, the links between pages
    source : the file it was read from, for messages

    >>> raw = RawSet([{"title": "a b"}, {"title": ""}], labels=["x", "x"], name="first")
    >>> len(raw), raw.column("title")
    (2, ['a b', None])
    """

    items: Sequence[Mapping[str, Any]]
    labels: Sequence[Hashable] | None = None
    name: str = ""
    ids: Sequence[Hashable] | None = None
    group: Hashable | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError(f"{self.title}: no items")
        for what, given in (("labels", self.labels), ("ids", self.ids)):
            if given is not None and len(given) != len(self.items):
                raise ValueError(f"{self.title}: {len(self.items)} items but {len(given)} {what}")

    @property
    def called(self) -> str:
        """The set by its name alone."""
        return f"set {self.name}" if self.name else "a set"

    @property
    def title(self) -> str:
        """The set as messages begin: file and line where it was read, and its name."""
        if self.source is None:
            return self.called
        where = self.source.place()
        return f"{where}: {self.called}" if self.name and not where.endswith(self.name) else where

    def item_title(self, item: int) -> str:
        """An item, counted from 0, as messages begin.

        >>> RawSet([{}, {}], name="s", ids=["x", "y"], source=Source("a.jsonl", 3)).item_title(1)
        "a.jsonl:3: item 'y' of set s"
        """
        where = "" if self.source is None else self.source.place(item) + ": "
        return f"{where}item {item + 1 if self.ids is None else repr(self.ids[item])} of {self.called}"

    def __len__(self) -> int:
        return len(self.items)

    def column(self, field: str) -> list[Any]:
        """The values of one field, None where missing."""
        values = [item.get(field) for item in self.items]
        return [None if is_missing(v) else v for v in values]

    @property
    def item_ids(self) -> Sequence[Hashable]:
        """The names of the items, or their numbers from 1."""
        return self.ids if self.ids is not None else range(1, len(self) + 1)

    def fields(self) -> list[str]:
        """All fields that some item has, in the order of appearance."""
        return list(dict.fromkeys(name for item in self.items for name in item))


def is_missing(value: object) -> bool:
    """Whether a value says nothing: None, NaN, an empty or blank string.

    >>> [is_missing(v) for v in (None, float("nan"), " ", 0, "a", [])]
    [True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def as_text(value: object) -> str:
    """A field's value as one string, empty where missing; a list is joined.

    Of longer values the first 100,000 letters are taken: features of a cell of megabytes would cost minutes.

    >>> as_text(["A. Smith", "B. Jones"]), as_text(None), as_text(1.0), as_text(7)
    ('A. Smith ; B. Jones', '', '1', '7')
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

    >>> fold("  Caf\u00e9  \ufb01x STRASSE ")
    'cafe fix strasse'
    """
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(unicodedata.normalize("NFKC", plain).casefold().split())


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
        least = {f: (1 - MOST_MISSING) * len(_sample(self.sets, f)) for f in self.holding()}
        return [f for f in least if len(self.known(f)) >= least[f]]

    def is_category(self, field: str) -> bool:
        """Whether a field of records has but two values: all its likenesses would be one and the same."""
        if self.items != "records" or self.kinds[field] not in ("string", "number", "date"):
            return False
        known = self.known(field)
        return len(known) >= FEWEST_VALUES and len(set(map(fold, known))) <= 2

    def known(self, field: str) -> list[str]:
        """Values of a field that are not missing, from all sets alike, as texts."""
        return [as_text(v) for v in _sample(self.sets, field) if v is not None]


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
    for name in fields:
        if name not in there:
            raise ValueError(f"no item has the field {name!r}; there are {', '.join(sorted(there))}")
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
        number = np.inf if is_too_large(value) else float(value)
    else:
        text = str(value).strip(_ROUND)
        if len(text) > 40 or not _NUMBER.fullmatch(text):
            return np.nan
        number = float(text.replace(",", ""))
    return number if abs(number) < TOO_LARGE else np.nan


def is_too_large(value: object) -> bool:
    """Whether a value is a number, or the text of one, that is infinite or as good as that.

    >>> [is_too_large(v) for v in (float("inf"), "-Infinity", "1e999", 10**400, "infinity pool", 1e99, None)]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, int | float | np.floating | np.integer):
        return not -TOO_LARGE < value < TOO_LARGE
    text = value.strip(_ROUND) if isinstance(value, str) else ""
    if _INFINITE.fullmatch(text):
        return True
    return bool(_NUMBER.fullmatch(text)) and abs(float(text.replace(",", ""))) >= TOO_LARGE


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


def holds(kind: str, value: object) -> bool:
    """Whether a value can be what a field of this kind holds. Anything but a vector can be read as text.

    >>> holds("number", "7.5"), holds("number", "seven"), holds("string", 7), holds("string", [1.5, 2.5])
    (True, False, True, False)
    """
    if kind in ("string", "text"):
        return not _is_vector(value)
    return kind not in _TESTS or _TESTS[kind](value)


# In the order in which they are tried: most lists of numbers are lists, most dates of digits are numbers.
_TESTS: dict[str, Callable[[object], bool]] = {
    "vector": _is_vector,
    "list": lambda v: isinstance(v, list | tuple | set | frozenset),
    "date": lambda v: bool(np.isfinite(as_day(v))),
    # A number that is too large is one, and refused where it is read as such.
    "number": lambda v: bool(np.isfinite(as_number(v))) or is_too_large(v),
}
