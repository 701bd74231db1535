"""Dates as people write them: what stands where, in the order of days and months that a column has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

from .numerals import without_invisible

# What comes first where both numbers could be either; "" says that nothing is known of it.
Order = Literal["", "day first", "month first"]

_TIME = (
    r"(?:(?:[T,]\s*|\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d+)?))?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?P<zone>z|utc|gmt|[+-]\d\d:?(?:\d\d)?)?)?"
)
_NAME = r"(?P<name>[^\W\d_]{3,12})\.?"
_WEEKDAY = r"(?:[^\W\d_]{2,12}\.?,?\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?P<year>\d{4}|'?\d\d)"
_FORMS = {
    form: re.compile(pattern + _TIME, re.IGNORECASE)
    for form, pattern in {
        "digits": r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
        "year first": r"(?P<year>\d{4})(?P<mark>[-/.])\s?(?P<month>\d{1,2})(?P=mark)\s?(?P<day>\d{1,2})",
        "year last": r"(?P<first>\d{1,2})(?P<mark>[-/.])\s?(?P<last>\d{1,2})(?P=mark)\s?(?P<year>\d{4})",
        "short year": r"(?P<first>\d\d)(?P<mark>[-/.])(?P<last>\d\d)(?P=mark)(?P<year>\d\d)",
        "slashes": r"(?P<first>\d{1,2})(?P<mark>/)(?P<last>\d{1,2})/(?P<year>\d\d)",
        # 1.2.10 is a date among dates alone.
        "short": r"(?P<first>\d{1,2})(?P<mark>[-.])(?P<last>\d{1,2})(?P=mark)(?P<year>\d\d)",
        "day, name": (
            rf"{_WEEKDAY}{_DAY}(?:\s+(?:de|of)(?=\s))?[\s/-]*{_NAME}(?:\s+del?(?=\s))?,?[\s/-]*{_YEAR}"
        ),
        "name, day": rf"{_WEEKDAY}{_NAME}\s*{_DAY},?\s+{_YEAR}",
        "year, name": rf"(?P<year>\d{{4}})[\s/-]*{_NAME}[\s/-]*{_DAY}",
    }.items()
}
_LETTERS = re.compile(r"[^\W\d_]{3}")
_NUMERIC = ("digits", "year first", "year last", "short year", "slashes")
_NAMED = ("day, name", "name, day", "year, name")
# How months begin in English, German, French, Spanish, Italian, Dutch and Portuguese.
_MONTHS = {
    beginning: month
    for month, beginnings in enumerate(
        (
            "jan ene gen",
            "feb fev f\u00e9v",
            "mar mrt m\u00e4r mae",
            "apr avr abr",
            "mai may mei mag",
            "jun juin giu",
            "jul juil lug",
            "aug ago aou ao\u00fb",
            "sep set",
            "oct okt ott out",
            "nov",
            "dec dez dic d\u00e9c",
        ),
        1,
    )
    for beginning in beginnings.split()
}
LONGEST = 48  # letters of a date
# Of years with two digits those below are of this century, as spreadsheets have it.
CENTURY_FROM = 30
# Day 0 of spreadsheets, and the last day that they know.
_SPREADSHEET_ZERO, _SPREADSHEET_LAST = date(1899, 12, 30), 2_958_465


class Moment(NamedTuple):
    """The parts of a date as they were written: the day may be none of the calendar (31 February)."""

    year: int
    month: int
    day: int
    seconds: float = 0.0
    offset: int = 0  # minutes before universal time

    def canonical(self) -> str:
        """The one way in which equal moments are written: ISO, in universal time, no time at midnight."""
        moment = self
        if self.offset and (there := self.to_datetime()) is not None:
            moment = Moment.of(there)
        text = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
        if not moment.seconds:
            return text
        minutes, seconds = divmod(moment.seconds, 60.0)
        clock = f"T{int(minutes) // 60:02d}:{int(minutes) % 60:02d}:"
        return f"{text}{clock}{int(seconds):02d}" + (f"{seconds % 1:.6f}"[1:].rstrip("0").rstrip("."))

    def to_datetime(self) -> datetime | None:
        """The moment in universal time; None where the calendar has no such day."""
        try:
            day = datetime(self.year, self.month, self.day)
            return day + timedelta(seconds=self.seconds, minutes=-self.offset)
        except (ValueError, OverflowError):
            return None

    def day_number(self) -> float:
        """Days since 1 January of the year 1, the time as a fraction; NaN where there is no such day."""
        if (there := self.to_datetime()) is None:
            return float("nan")
        within = there - datetime(there.year, there.month, there.day)
        return there.toordinal() + within / timedelta(days=1)

    @classmethod
    def of(cls, value: date) -> Moment:
        """The parts of a date, or of a date and a time."""
        if not isinstance(value, datetime):
            return cls(value.year, value.month, value.day)
        if value.tzinfo is not None and value.utcoffset() is not None:
            value = value.astimezone(UTC)
        seconds = 3600 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6
        return cls(value.year, value.month, value.day, seconds)


def find_date(value: object, order: Order = "") -> Moment | None:
    """The parts of a date, None where the value is written like none.

    Without an ``order``, 04/05/2020 is 5 April and 04.05.2020 is 4 May; 13/04/2020 can only be 13 April.

    >>> [find_date(v, "day first").canonical() for v in ("4/5/20", "4 mai 2020", "2020-05-04T00:30+02:00")]
    ['2020-05-04', '2020-05-04', '2020-05-03T22:30:00']
    """
    if isinstance(value, date):
        return Moment.of(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    text = text if text.isascii() else without_invisible(text).strip()
    if not 6 <= len(text) <= LONGEST or not any(c.isdigit() for c in text):
        return None
    return _find(text, order)


def from_serial(value: object) -> Moment | None:
    """The date of a day number of a spreadsheet, in a column of dates; 43926 is 2020-04-05."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    if not 1.0 <= number <= _SPREADSHEET_LAST or isinstance(value, bool):
        return None
    day = _SPREADSHEET_ZERO + timedelta(days=int(number))
    return Moment(day.year, day.month, day.day, float(round(number % 1 * 86_400)))


def _find(text: str, order: Order) -> Moment | None:
    if len(text) == 10 and text[4] == text[7] == "-" and text.isascii():  # in a fifth of the time
        year, month, day = text[:4], text[5:7], text[8:]
        if year.isdigit() and month.isdigit() and day.isdigit():
            return Moment(int(year), int(month), int(day))
    for form in _NAMED if _LETTERS.search(text) else _NUMERIC:
        found = _FORMS[form].fullmatch(text)
        if found is not None and (moment := _read(found, order)) is not None:
            return moment
    if order and (found := _FORMS["short"].fullmatch(text)) is not None:
        return _read(found, order)
    # The zone may be a word of three letters (UTC), and weekdays stand before numbers.
    if _LETTERS.search(text):
        for form in _NUMERIC:
            if (found := _FORMS[form].fullmatch(text)) is not None:
                return _read(found, order)
    return None


def _read(found: re.Match[str], order: Order) -> Moment | None:
    held = found.groupdict()
    year = _full_year(held["year"])
    if held.get("name") is not None:
        month = _MONTHS.get(held["name"].lower()[:4]) or _MONTHS.get(held["name"].lower()[:3])
        if month is None:
            return None
        day = int(held["day"])
    elif "first" in held:
        month, day = _month_and_day(int(held["first"]), int(held["last"]), held["mark"], order)
    else:
        month, day = int(held["month"]), int(held["day"])
    seconds = _seconds(held)
    return None if seconds is None else Moment(year, month, day, seconds, _offset(held["zone"]))


def _month_and_day(first: int, last: int, mark: str, order: Order) -> tuple[int, int]:
    if not order:
        order = "month first" if mark == "/" else "day first"
        if (first if order == "month first" else last) > 12:
            order = "day first" if order == "month first" else "month first"
    return (first, last) if order == "month first" else (last, first)


def _full_year(text: str) -> int:
    digits = text.lstrip("'")
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year < CENTURY_FROM else 1900)


def _seconds(held: dict[str, str | None]) -> float | None:
    """The time of day; None where there is no such time."""
    if held["hour"] is None:
        return 0.0
    hour, minute = int(held["hour"]), int(held["minute"] or 0)
    second = float((held["second"] or "0").replace(",", "."))
    if held["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if held["half"][0].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second >= 61.0:
        return None
    return round(3600 * hour + 60 * minute + second, 6)


def _offset(zone: str | None) -> int:
    """Minutes before universal time."""
    if not zone or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = 60 * int(digits[:2]) + int(digits[2:] or 0)
    return minutes if zone[0] == "+" else -minutes


def order_votes(texts: Iterable[tuple[str, float]]) -> dict[Order, float]:
    """How many dates can only be day first, only month first, and both ("").

    ``texts`` has each value once, with the number of rows that have it.
    """
    votes: dict[Order, float] = {"day first": 0.0, "month first": 0.0, "": 0.0}
    for text, rows in texts:
        found = None
        for form in ("year last", "short year", "slashes"):
            found = found or _FORMS[form].fullmatch(text.strip())
        if found is None:
            continue
        first, last = int(found["first"]), int(found["last"])
        if first > 12 >= last > 0 and first < 32:
            votes["day first"] += rows
        elif last > 12 >= first > 0 and last < 32:
            votes["month first"] += rows
        elif first != last:
            votes["day first" if found["mark"] == "." else ""] += rows
    return votes
