"""What is known of columns, in words: what they hold, what is compared, what was taken as missing."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import clustruct
from clustruct.core.formatting import count, short

if TYPE_CHECKING:
    from clustruct.data import ColumnReading

# What the fields of training data held, in words.
KIND_WORDS: Mapping[str, str] = {
    "string": "short text",
    "text": "text",
    "number": "numbers",
    "date": "dates",
    "code": "codes",
    "list": "lists",
    "vector": "vectors",
    "id": "ids",
    "nothing": "nothing",
    "context": "(with the set)",
}
_ONE = {"number": "number", "date": "date"}
SHOWN = 4


def column_kind(text: str) -> tuple[str, str]:
    """What ``--as COLUMN=KIND`` says."""
    name, equals, word = text.rpartition("=")
    known = clustruct.data.KIND_WORDS
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"takes COLUMN=KIND, not {text!r}")
    if word not in known:
        raise argparse.ArgumentTypeError(f"{word!r} is no kind of column: choose from {', '.join(known)}")
    return name, word


def add_kinds(parser: argparse._ActionsContainer) -> None:
    """What columns hold, where that is guessed wrong."""
    text = (
        "what a column holds: text, number, decimal-comma, decimal-point, date, day-first, month-first, "
        "code, list or id (default: a guess, see clustruct look)"
    )
    parser.add_argument(
        "--as", dest="kinds", type=column_kind, action="append", default=[], metavar="COLUMN=KIND", help=text
    )


def holds_in_words(reading: ColumnReading) -> str:
    """What a column holds, and how it is written."""
    words = KIND_WORDS[reading.kind]
    if reading.kind == "date" and reading.form:
        return f"{words}, {reading.form}"
    if reading.form == ",":
        return f"{words}, decimal comma"
    return f"{words} of {reading.width} digits" if reading.width else words


def comparison_in_words(reading: ColumnReading, compared: Collection[str]) -> str:
    """Whether a column is compared, and if not, why."""
    if reading.name in compared:
        return "yes"
    if reading.reason:
        return f"no: {reading.reason}"
    return f"in the whole record only: {count(reading.filled, 'row')} of {reading.rows:,} have a value"


def notes(readings: Iterable[ColumnReading]) -> list[str]:
    """What a person should know of how columns are read, a line for each."""
    found = []
    for reading in readings:
        name = short(reading.name, 60)
        if reading.placeholders and reading.held_by_placeholders:
            held = _list_some([repr(word) for word in reading.placeholders])
            rows = count(reading.held_by_placeholders, "row")
            found.append(f"{name}: {held} in {rows}, taken as missing")
        if not reading.form_is_sure and reading.kind == "date":
            other = "day-first" if reading.form == "month first" else "month-first"
            found.append(
                f"{name}: no value shows whether the day or the month comes first; read {reading.form} "
                f"(--as {reading.name}={other})"
            )
        if reading.unread and reading.kind in _ONE:
            what = f"no {_ONE[reading.kind]}, compared as text"
            found.append(f"{name}: {count(reading.unread, 'row')} with {what}")
    return found


def left_out(readings: Iterable[ColumnReading], compared: Collection[str]) -> list[str]:
    """The columns that are not compared by themselves, with the reason, as lines."""
    by_reason: dict[str, list[str]] = {}
    for reading in readings:
        if reading.name not in compared:
            reason = reading.reason or "most rows have no value: compared in the whole record only"
            by_reason.setdefault(reason, []).append(short(reading.name, 60))
    return [f"not compared: {_list_some(names, 20)} ({reason})" for reason, names in by_reason.items()]


def _list_some(names: Sequence[str], most: int = SHOWN) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
