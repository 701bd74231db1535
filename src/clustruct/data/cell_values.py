"""Single values: what is missing, and what text, number or date a value is."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime

import numpy as np

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
    """Whether a value says nothing: None, NaN, an empty or blank string.

    Parameters
    ----------
    value : object
        A value of a field.

    Returns
    -------
    bool
        True where it says nothing.

    Examples
    --------
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

    Parameters
    ----------
    value : object
        A value of a field.

    Returns
    -------
    str
        The text.

    Examples
    --------
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

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The folded text.

    Examples
    --------
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

    Parameters
    ----------
    value : object
        A value of a field: a number, or the text of one.

    Returns
    -------
    float
        The number, or NaN.

    Examples
    --------
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
    """The day number of a date, NaN where it is none.

    Parameters
    ----------
    value : object
        A value of a field: a date, a time, or text in one of the usual forms.

    Returns
    -------
    float
        The day, counted from 1 January of the year 1; the time of day is its fraction.

    Examples
    --------
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
    """Whether a value can be what a field of this kind holds. Anything but a vector can be read as text.

    >>> holds("number", "7.5"), holds("number", "seven"), holds("string", 7), holds("string", [1.5, 2.5])
    (True, False, True, False)
    """
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
