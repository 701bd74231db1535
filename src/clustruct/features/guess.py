"""Which features suit the data: a look at the fields of raw sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from clustruct.records import RawSet

from .base import PairBlock
from .blocks.links import Links
from .blocks.lists import Lists
from .blocks.mentions import Mentions
from .blocks.numbers import Dates, Numbers, as_day, as_number
from .blocks.strings import Strings
from .blocks.terms import Terms
from .blocks.text import TextCosines
from .blocks.vectors import PARTS, Vectors
from .words import as_text, codes, quoted

__all__ = ["field_kinds", "guess_blocks"]

Kind = Literal["auto", "records", "text", "mentions", "vectors"]
KINDS = ("auto", "records", "text", "mentions", "vectors")
LOOKED_AT = 2000  # values of a field that are looked at
LONG = 100  # letters from which on a string is a text
MOSTLY = 0.9
SOME = 0.1
MOST_MISSING = 0.75
_NAMED_ID = re.compile(r"(^|_|\b)(id|ids|url|uri|key|hash)$|[a-z]I[dD]$", re.IGNORECASE)


def field_kinds(sets: Sequence[RawSet], fields: Sequence[str] | None = None) -> dict[str, str]:
    """What each field holds: "string", "text", "number", "date", "list", "vector", "id", "nothing".

    Without `fields` all are looked at. Names of items ("id", no value twice in a set) are told apart, since
    they say nothing of other sets; a field that never varies holds nothing.

    >>> items = [{"id": 1, "title": "a b", "year": 1990}, {"id": 2, "title": "c", "year": "1991"}]
    >>> field_kinds([RawSet(items)])
    {'id': 'id', 'title': 'string', 'year': 'number'}
    """
    if fields is None:
        fields = list(dict.fromkeys(name for raw in sets for name in raw.fields()))
        return {field: _kind(sets, field) for field in fields}
    known = {name for raw in sets for name in raw.fields()}
    for field in fields:
        if field not in known:
            raise ValueError(f"no item has the field {field!r}; there are {', '.join(sorted(known))}")
    return {field: _kind(sets, field, chosen=True) for field in fields}


def _kind(sets: Sequence[RawSet], field: str, *, chosen: bool = False) -> str:
    values = [v for v in _sample(sets, field) if v is not None]
    if not values or len({repr(v) for v in values}) == 1:
        return "nothing"
    if not chosen and _NAMED_ID.search(field) and _distinct(sets, field):
        return "id"
    if _share(values, _is_vector):
        return "vector"
    if _share(values, lambda v: isinstance(v, list | tuple | set | frozenset)):
        return "list"
    if _share(values, lambda v: bool(np.isfinite(as_day(v)))):
        return "date"
    if _share(values, lambda v: bool(np.isfinite(as_number(v)))):
        return "number"
    return "text" if np.mean([len(as_text(v)) for v in values]) > LONG else "string"


def _sample(sets: Sequence[RawSet], field: str) -> list[Any]:
    """Values from all sets alike."""
    each = max(LOOKED_AT // len(sets), 20)
    return [v for raw in sets for v in raw.column(field)[:each]]


def _is_vector(value: Any) -> bool:
    """Whether a value is a list of at least two numbers."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.size > 1 and value.dtype.kind in "fiu"
    numbers = isinstance(value, list | tuple) and len(value) > 1
    return numbers and all(isinstance(v, int | float) and not isinstance(v, bool) for v in value)


def _distinct(sets: Sequence[RawSet], field: str) -> bool:
    columns = [[as_text(v) for v in raw.column(field) if v is not None] for raw in sets]
    return all(len(set(c)) == len(c) for c in columns)


def _share(values: list[Any], test: Any) -> bool:
    return bool(np.mean([test(v) for v in values]) >= MOSTLY)


def guess_blocks(
    sets: Sequence[RawSet], kind: Kind = "auto", fields: Sequence[str] | None = None
) -> list[PairBlock]:
    """Blocks of features that suit the sets.

    Parameters
    ----------
    sets : raw sets
    kind : "records" (string likenesses of each field and of the whole record), "text" (n-gram cosines of
        text fields), "mentions" (noun phrases), "vectors" (lists of numbers, or numbers side by side), or
        "auto": mentions where items are places in a text, text
        where at most two fields hold anything and one is long, records otherwise
    fields : the fields to look at (all by default, without names of items)

    >>> sets = [RawSet([{"title": "Dog bites man", "year": 1990}, {"title": "Rain", "year": 1991}])]
    >>> [block.kind for block in guess_blocks(sets, "records")]
    ['strings', 'terms', 'strings', 'numbers', 'terms']
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if kind == "mentions" or (kind == "auto" and fields is None and _are_mentions(sets)):
        return [Mentions()]
    kinds = field_kinds(sets, fields)
    if kind == "auto":
        kind = _guess_kind(kinds)
    makers = {"text": _text_blocks, "vectors": _vector_blocks}
    blocks = makers.get(kind, _record_blocks)(sets, kinds)
    if any("links" in raw.context for raw in sets):
        blocks.append(Links())
    if not blocks:
        raise ValueError(f"no field to compare items by: {_told(kinds)}")
    return blocks


def _are_mentions(sets: Sequence[RawSet]) -> bool:
    """Whether items are places in a text."""
    return all("tokens" in raw.context and {"sent", "start", "end"} <= set(raw.items[0]) for raw in sets)


def _guess_kind(kinds: dict[str, str]) -> Kind:
    """Text where most that is said is said in words that are not short columns."""
    holding = [k for k in kinds.values() if k not in ("id", "nothing")]
    return "text" if "text" in holding and len(holding) <= 2 else "records"


def _told(kinds: dict[str, str]) -> str:
    return ", ".join(f"{field} holds {kind}" for field, kind in kinds.items()) or "the items have no fields"


def _text_blocks(sets: Sequence[RawSet], kinds: dict[str, str]) -> list[PairBlock]:
    blocks: list[PairBlock] = []
    for field, kind in kinds.items():
        if kind in ("string", "text", "list"):
            blocks.append(TextCosines(field))
            if any(quoted(as_text(v)) for v in _sample(sets, field)):
                blocks.append(TextCosines(field, quotations=True))
    return blocks


def _vector_blocks(sets: Sequence[RawSet], kinds: dict[str, str]) -> list[PairBlock]:
    """Each field of vectors; numbers side by side are one vector."""
    blocks: list[PairBlock] = [
        Vectors([f], ["cosine", "nearness"]) for f, k in kinds.items() if k == "vector"
    ]
    numbers = [field for field, kind in kinds.items() if kind == "number"]
    return blocks + ([Vectors(numbers, PARTS, name="numbers")] if numbers else [])


def _record_blocks(sets: Sequence[RawSet], kinds: dict[str, str]) -> list[PairBlock]:
    """Each field that is there often enough, and all fields together.

    A field that most items lack is compared as part of the record only: with few values to learn from, its
    own features fit what is accidental (on the training folds of cora they cost more than they gave).
    """
    blocks: list[PairBlock] = []
    holding = [field for field, kind in kinds.items() if kind not in ("id", "nothing")]
    for field in holding:
        values = _sample(sets, field)
        if sum(v is None for v in values) <= MOST_MISSING * len(values):
            blocks += _column_blocks(field, kinds[field], [as_text(v) for v in values if v is not None])
    worded = [field for field in holding if kinds[field] != "vector"]
    if len(worded) > 1 or (worded and not blocks):
        blocks.append(Terms(worded, name="record"))
    return blocks


def _column_blocks(field: str, kind: str, texts: list[str]) -> list[PairBlock]:
    if kind == "vector":
        return [Vectors([field])]
    views = ["words", "letters"]
    if kind != "list" and np.mean([bool(codes(text)) for text in texts]) > SOME:
        views.append("codes")
    if kind == "text":
        return [Terms([field], views, missing_values=True)]
    if kind == "string":
        return [Strings(field), Terms([field], views)]
    if kind == "list":
        return [Lists(field), Terms([field], views)]
    short = Strings(field, measures=["spelling", "spelling of the beginning"])
    return [short, (Numbers if kind == "number" else Dates)(field, missing_values=False)]
