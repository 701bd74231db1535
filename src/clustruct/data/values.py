"""What single values are: missing, text, number, date."""

from __future__ import annotations

import re
import sys
import unicodedata
from decimal import Decimal

import numpy as np

from .dates import find_date
from .numerals import find_number, without_invisible

LONGEST_TEXT = 100_000  # letters of a value that are looked at
LARGEST = sys.float_info.max
_ACCENTS = re.compile("[\u0300-\u036f]")


def is_missing(value: object) -> bool:
    """Whether a value says nothing: None, NaN, an empty or blank string."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Decimal):
        return value.is_nan()
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
    if isinstance(value, Decimal) and value.is_finite():
        plain = f"{value:f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return str(value)[:LONGEST_TEXT]


def fold(text: str) -> str:
    """Lower case without accents, blanks squeezed: what two spellings of one thing share.

    >>> fold("  Café  ﬁx STRASSE ")
    'cafe fix strasse'
    """
    if text.isascii():  # the same, in a quarter of the time
        return " ".join(text.lower().split())
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", without_invisible(text)))
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
    return find_number(value)


def as_day(value: object) -> float:
    """The day number of a date from 1 January of the year 1 on, the time as a fraction; NaN for others.

    >>> [as_day(v) - 735302 for v in ("20140310", "2014-03-11T12:00:00", "2014-03-10T02:00+02:00")]
    [0.0, 1.5, 0.0]
    """
    moment = find_date(value)
    return np.nan if moment is None else moment.day_number()
