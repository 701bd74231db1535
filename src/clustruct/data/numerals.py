"""Numbers as people write them: currencies, thousands, and the decimal mark that a column has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

import numpy as np

Mark = Literal[".", ","]
TOO_LARGE = 1e100  # numbers from here on are no measurements
LONGEST = 40
# Marks of the direction of writing, joiners, soft hyphens: nobody sees them.
_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?"
)
_AROUND = " \t,;:[]{}'\"`~#%\u00a0"
_CURRENCY = (
    r"(?:[$\u00a2-\u00a5\u20a0-\u20bf]|US\$|R\$|[A-Z]{3}(?![A-Za-z])|(?:kr|Fr|Rs|z\u0142|K\u010d|Ft)\b\.?)"
)
_MONEY = re.compile(
    rf"([-+]?)\s*(?:{_CURRENCY})?\s*([-+]?[\d.,][^A-Za-z$]*?(?:[eE][-+]?\d+)?)\s*(?:{_CURRENCY})?"
)
# Blanks and apostrophes between thousands.
_GAPS = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_SWAPPED = str.maketrans(",.", ".,")
_DIGITS = r"\d{1,3}(?:[ \u00a0\u2009\u202f'\u2019]\d{3})*"
_POINT = re.compile(
    rf"(?:{_DIGITS}|\d+)\.(?:\d{{1,2}}|\d{{4,}})|0?\.\d+|\d{{4,}}\.\d+"
    r"|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}"
)
_COMMA = re.compile(
    rf"(?:{_DIGITS}|\d+),(?:\d{{1,2}}|\d{{4,}})|0?,\d+|\d{{4,}},\d+"
    r"|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"
)


def without_invisible(text: str) -> str:
    """A text without characters that are not seen, such as marks of the direction of writing."""
    return _INVISIBLE.sub("", text)


def find_number(value: object, mark: Mark = ".") -> float:
    """The number that a value is; NaN where it is none, infinite, or too large to measure anything.

    The ``mark`` is that of 1,299 and 1.299, which may have either; 12,5 and 1.299,50 can have but one. In
    parentheses a number is negative, as in accounts; a year in parentheses is a year.

    >>> [find_number(v) for v in ("1988.", "$1,299.50", 7, "7 in", "2e859", "(7)", "(1988)", None)]
    [1988.0, 1299.5, 7.0, nan, nan, -7.0, 1988.0, nan]
    >>> [find_number(v, ",") for v in ("1.299,50 \u20ac", "12,5", "CHF 1'200,00")]
    [1299.5, 12.5, 1200.0]
    """
    if value is None or isinstance(value, bool):
        return np.nan
    if isinstance(value, np.floating | np.integer):
        value = value.item()
    if isinstance(value, complex) and not value.imag:  # a column of a frame is complex as a whole
        value = value.real
    if isinstance(value, int | float | Decimal):
        return float(value) if -TOO_LARGE < value < TOO_LARGE else np.nan
    if not isinstance(value, str) or len(value) > LONGEST or not (bare := _bare(value)):
        return np.nan
    if (_mark_of(bare) or mark) == ",":
        bare = bare.translate(_SWAPPED)
    if not _NUMBER.fullmatch(bare):
        return np.nan
    number = float(bare.replace(",", ""))
    return number if abs(number) < TOO_LARGE else np.nan


def _bare(text: str) -> str:
    """Sign, digits and marks of a number; empty where there is something else."""
    bare = (text if text.isascii() else without_invisible(text)).strip(_AROUND)
    if bare.isdecimal() and bare.isascii():
        return bare
    bare, negative = _without_parentheses(bare)
    money = _MONEY.fullmatch(bare.replace("\u2212", "-"))
    if money is None or (money[1] and money[2][0] in "-+"):
        return ""
    found = _GAPS.sub("", money[2].rstrip(f"{_AROUND}."))
    if found.endswith("-"):  # as some accounts have it
        found = f"-{found[:-1]}"
    sign = "-" if negative else money[1]
    return sign + found


def _without_parentheses(text: str) -> tuple[str, bool]:
    """What stands in parentheses, and whether they say that it is negative."""
    stripped = text.rstrip(".,;: ")
    if not (stripped.startswith("(") and stripped.endswith(")")):
        return text.strip("().;: ") if "(" in text or ")" in text else text, False
    inner = stripped[1:-1].strip(_AROUND)
    is_year = len(inner.rstrip(".")) == 4 and inner[:1] in "12" and inner.rstrip(".").isdecimal()
    return inner, not is_year


def _mark_of(bare: str) -> Mark | None:
    """The decimal mark that a number has for sure."""
    if "," not in bare and "." not in bare:
        return None
    digits = bare.lstrip("+-")
    return "." if _POINT.fullmatch(digits) else "," if _COMMA.fullmatch(digits) else None


def mark_votes(texts: Iterable[tuple[str, float]]) -> dict[Mark, float]:
    """How many numbers have a decimal point for sure, and how many a decimal comma.

    1,299 and 1.299 may be either, and do not vote.
    """
    votes: dict[Mark, float] = {".": 0.0, ",": 0.0}
    for text, rows in texts:
        if len(text) <= LONGEST and ("," in text or "." in text):
            found = _mark_of(_bare(text))
            if found is not None:
                votes[found] += rows
    return votes
