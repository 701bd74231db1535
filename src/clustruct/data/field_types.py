"""What the fields of tables hold: strings, texts, numbers, dates, lists, vectors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .cell_values import TESTS, as_text, fold
from .table import Table

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
    """Raw sets as a guess of features sees them: what the items are, and what each field holds.

    Attributes
    ----------
    sets : sequence of Table
        Raw sets.
    items : ItemKind
        What the items are: "records", "text", "mentions" or "vectors".
    kinds : mapping
        What each field holds, by its name.
    """

    sets: Sequence[Table]
    items: ItemKind
    kinds: Mapping[str, str]

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

    Without `fields` all are looked at. Names of items ("id", no value twice in a set) are told apart, since
    they say nothing of other sets; a field that never varies holds nothing.

    Parameters
    ----------
    sets : sequence of Table
        Raw sets.
    fields : sequence of str, optional
        The fields to look at; all by default.

    Returns
    -------
    dict
        The kind of each field, by its name.

    Examples
    --------
    >>> items = [{"id": 1, "title": "a b", "year": 1990}, {"id": 2, "title": "c", "year": "1991"}]
    >>> field_kinds([Table(items)])
    {'id': 'id', 'title': 'string', 'year': 'number'}
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
