"""What the columns of tables hold, learned from all their values: kinds, forms, placeholders.

Nothing here goes by the order of rows: of a column of many different values those are looked at whose check
sums end in zeros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clustruct.core.typing import Bools, Floats

from .dates import find_date, order_votes
from .numerals import find_number, mark_votes, without_invisible
from .placeholders import find_placeholders, outliers_of_nines
from .readings import FEWEST_VALUES, KIND_WORDS, ColumnReading, Readings
from .table import Table
from .value_counts import LOOKED_AT, MOST_SETS, ValueCounts, entropy_bits
from .values import as_text, fold

LONG = 100  # letters from which on a string is a text
MOSTLY = 0.9
MOST_REAL_DAYS = 0.75  # slips of the pen make days that no calendar has
# Rows from which on a column of numbers without gaps, or of keys, is taken for names of rows.
FEWEST_NAMED = 20
DENSE = 1.5  # numbers up to so many times their count have no gaps
# Whole numbers of one length are codes from so many digits on, shorter ones unless they are years; numbers
# that often end in zeros measure something.
CODE_LENGTH, SHORT_CODE, ROUND = 5, 4, 0.3
LONG_CODE = 9
FIRST_YEAR, LAST_YEAR = 1500, 2100
LEADING_ZEROS = 0.01
_NAMED_ID = re.compile(r"(^|_|\b)(id|ids|url|uri|key|hash)$|[a-z]I[dD]$", re.IGNORECASE)
_DIGITS = re.compile(r"['\u2019]?(\d+)(?:\.0+)?")
_KEY = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_RUN = re.compile(r"\d+")


def field_kinds(sets: Sequence[Table], fields: Sequence[str] | None = None) -> dict[str, str]:
    """What each field holds: "string", "text", "number", "date", "code", "list", "vector", "id", "nothing".

    Names of items (no value twice, and nothing but names) say nothing of other sets; a field that never
    varies holds nothing.
    """
    return learn_readings(sets, fields).kinds()


def learn_readings(
    sets: Sequence[Table], fields: Sequence[str] | None = None, kinds: Mapping[str, str] | None = None
) -> Readings:
    """How the columns of tables are read: what each holds, how it is written, what stands for no value.

    Parameters
    ----------
    sets : sequence of Table
        The tables, as they came.
    fields : sequence of str, optional
        The columns; all by default. One that is named is compared even if its values are names of rows.
    kinds : mapping, optional
        What some columns hold, where that is known: "text", "number" ("decimal-point", "decimal-comma"),
        "date" ("day-first", "month-first"), "code", "list" or "id".

    Returns
    -------
    Readings
        A `ColumnReading` for each column.

    Examples
    --------
    >>> table = Table([{"born": "13/04/1985", "zip": "02138"}, {"born": "04/05/1990", "zip": "02139"}])
    >>> found = learn_readings([table])
    >>> found["born"].form, found["zip"].kind, found.read(table).column("born")
    ('day first', 'code', ['1985-04-13', '1990-05-04'])
    """
    there = dict.fromkeys(name for table in sets for name in table.fields())
    asked = dict(kinds or {})
    for name in [*(fields or ()), *asked]:
        if name not in there:
            raise ValueError(f"no item has the field {name!r}; there are {', '.join(sorted(there))}")
    for name, word in asked.items():
        if word not in KIND_WORDS:
            raise ValueError(f"the field {name!r} cannot be {word!r}: choose from {', '.join(KIND_WORDS)}")
    names = there if fields is None else dict.fromkeys(fields)
    return Readings([_learn(sets, name, asked.get(name), named=fields is not None) for name in names])


def _learn(sets: Sequence[Table], name: str, word: str | None, *, named: bool) -> ColumnReading:
    """The reading of one column; ``named``: it was asked for that it is compared."""
    if _holds_vectors(sets, name):
        rows = sum(map(len, sets))
        return ColumnReading(name, "vector", rows=rows, filled=rows, distinct=rows, bits=float(np.log2(rows)))
    counted = ValueCounts.of(sets, name)
    reading = _reading_of(name, counted, word)
    placeholders = [] if reading.kind in ("list", "vector") else _placeholders(reading, counted)
    if placeholders:
        known = counted.without(placeholders)
        again = _reading_of(name, known, word)
        if again.kind != reading.kind:
            placeholders = _placeholders(again, counted)
            known = counted.without(placeholders)
        reading = replace(again, placeholders=placeholders, held_by_placeholders=counted.total - known.total)
        counted = known
    return _describe(reading, counted, word, named)


def _holds_vectors(sets: Sequence[Table], name: str) -> bool:
    return all(table.matrix(name) is not None for table in sets[:MOST_SETS])


def _describe(reading: ColumnReading, counted: ValueCounts, word: str | None, named: bool) -> ColumnReading:
    """With how full and how telling the column is, and with the reason if it says nothing."""
    few, rows_of = len(counted.values) <= LOOKED_AT, dict[str, float]()
    for value, n in zip(counted.values, counted.counts.tolist(), strict=True) if few else ():
        if text := fold(as_text(reading.value(value))):
            rows_of[text] = rows_of.get(text, 0.0) + n
    distinct = len(rows_of) or len(counted.values)
    unread = counted.share(lambda v: not reading.fits(reading.value(v))) * counted.total
    found = replace(
        reading,
        rows=counted.rows,
        filled=counted.total,
        distinct=distinct,
        unread=round(unread),
        bits=entropy_bits(np.array([*rows_of.values()]) if rows_of else counted.counts),
        chosen=word is not None,
    )
    if not counted.total:
        return replace(found, kind="nothing", form="", reason="no row has a value")
    if distinct <= 1:
        return replace(found, kind="nothing", form="", reason="all values are the same")
    if word == "id":
        return replace(found, reason="names of rows, as asked for")
    if word is None and not named and (reason := _names_rows(found, counted)):
        return replace(found, kind="id", form="", reason=reason)
    return found


def _reading_of(name: str, counted: ValueCounts, word: str | None) -> ColumnReading:
    """Kind and form of a column."""
    if word is not None:
        kind, form = KIND_WORDS[word]
        if kind == "string" and _is_long(counted):
            kind = "text"
        found = {"date": _as_dates, "number": _as_numbers, "code": _as_codes}.get(kind)
        reading = ColumnReading(name, kind) if found is None else found(name, counted)
        return replace(reading, form=form, form_is_sure=True) if form else reading
    if not counted.total:
        return ColumnReading(name, "nothing")
    for kind in ("vector", "list"):
        if counted.share(ColumnReading(name, kind).fits) >= MOSTLY:
            return ColumnReading(name, kind)
    dates = _as_dates(name, counted)
    written, real = (counted.share(partial(_is_day, dates, any_day)) for any_day in (True, False))
    if written >= MOSTLY and real >= MOST_REAL_DAYS:
        return dates
    numbers = _as_numbers(name, counted)
    if counted.share(lambda v: np.isfinite(_number(v, numbers))) >= MOSTLY:
        codes = _as_codes(name, counted)
        return codes if codes.width or codes.keeps_zeros or _are_codes(counted) else numbers
    return ColumnReading(name, "text" if _is_long(counted) else "string")


def _is_long(counted: ValueCounts) -> bool:
    return counted.share(lambda v: len(as_text(v))) > LONG


def _is_day(reading: ColumnReading, any_day: bool, value: Any) -> bool:
    """Whether a value is written like a day, and is one of the calendar unless ``any_day`` will do."""
    moment = find_date(value, reading.form)  # type: ignore[arg-type]
    return moment is not None and (any_day or moment.to_datetime() is not None)


def _number(value: Any, reading: ColumnReading) -> float:
    return find_number(value, reading.form)  # type: ignore[arg-type]


def _as_dates(name: str, counted: ValueCounts) -> ColumnReading:
    """Days first or months first, as most of those say that can be but one of the two."""
    texts = [
        (text, rows) for text, rows in counted.texts() if len(text) < 50 and "0" <= text.strip()[:1] <= "9"
    ]
    same_time = _have_one_time(counted)
    votes = order_votes(texts)
    day, month = votes["day first"], votes["month first"]
    if day or month:
        form = "day first" if day >= month else "month first"
        return ColumnReading(name, "date", form, same_time=same_time)
    if not votes[""]:
        return ColumnReading(name, "date", same_time=same_time)
    slashes = sum(rows for text, rows in texts if "/" in text)
    form = "month first" if 2 * slashes >= sum(rows for _, rows in texts) else "day first"
    return ColumnReading(name, "date", form, form_is_sure=False, same_time=same_time)


def _have_one_time(counted: ValueCounts) -> bool:
    """Whether several dates have one time of day, which is not midnight."""
    moments = [find_date(value) for value in counted.sample[0]]
    times = {(moment.seconds, moment.offset) for moment in moments if moment is not None}
    return len(times) == 1 and len(moments) > 1 and times != {(0.0, 0)}


def _as_numbers(name: str, counted: ValueCounts) -> ColumnReading:
    texts = [
        (v, w)
        for v, w in zip(counted.sample[0], counted.sample[1].tolist(), strict=True)
        if isinstance(v, str)
    ]
    votes = mark_votes(texts)
    sure = any(votes.values()) or not any("," in text or "." in text for text, _ in texts)
    return ColumnReading(name, "number", "," if votes[","] > votes["."] else ".", form_is_sure=sure)


def _as_codes(name: str, counted: ValueCounts) -> ColumnReading:
    """Codes with what zeros at their beginning mean."""
    digits, rows = _digits(counted)
    led = np.array([len(d) > 1 and d[0] == "0" for d in digits], np.bool_)
    if rows[led].sum() < max(2.0 if counted.total > 2 else 1.0, LEADING_ZEROS * counted.total):
        return ColumnReading(name, "code", keeps_zeros=False)
    lengths = np.bincount([len(d) for d in digits], rows)
    width = int(lengths.argmax())
    return ColumnReading(name, "code", width=width if lengths[width] >= MOSTLY * counted.total else 0)


def _are_codes(counted: ValueCounts) -> bool:
    """Whether whole numbers are of one length (and no years, and not rounded), or too long to count."""
    digits, rows = _digits(counted)
    if len(digits) < FEWEST_VALUES or rows.sum() < MOSTLY * counted.total:
        return False
    sizes, total = np.array([len(d) for d in digits]), rows.sum()
    if rows[sizes >= LONG_CODE].sum() >= MOSTLY * total:
        return True
    length = int(np.bincount(sizes, rows).argmax())
    if length < SHORT_CODE or rows[sizes == length].sum() < MOSTLY * total:
        return False
    if rows[[d.endswith("00") for d in digits]].sum() >= ROUND * total:
        return False
    years = np.array([length == SHORT_CODE and FIRST_YEAR <= int(d) <= LAST_YEAR for d in digits], np.bool_)
    return length >= CODE_LENGTH or rows[years].sum() < MOSTLY * total


def _digits(counted: ValueCounts) -> tuple[list[str], Floats]:
    """The values that are digits alone, and the rows of each."""
    found = [
        (m[1], w) for text, w in counted.texts() if (m := _DIGITS.fullmatch(without_invisible(text).strip()))
    ]
    return [d for d, _ in found], np.array([w for _, w in found], np.float64)


def _placeholders(reading: ColumnReading, counted: ValueCounts) -> list[str]:
    """The values of a column that stand for none."""
    often = counted.counts >= 2
    frequent = {as_text(counted.values[k]): float(counted.counts[k]) for k in _most(counted.counts, often)}
    found = find_placeholders(frequent, counted.rows, reading.kind)
    if reading.kind == "number":
        numbers = np.array([_number(v, reading) for v in counted.sample[0]])
        found += outliers_of_nines(frequent, numbers[np.isfinite(numbers)], counted.rows)
    return sorted(set(found))


def _most(counts: Floats, among: Bools, most: int = 200) -> list[int]:
    """Where the largest counts are."""
    places = np.flatnonzero(among)
    least = np.sort(counts[places])[-min(most, len(places)) :][:1]
    return places[counts[places] >= (least[0] if len(least) else 0.0)][: 10 * most].tolist()


def _names_rows(reading: ColumnReading, counted: ValueCounts) -> str:
    """Why the values of a column are but names of rows; empty where they may say more."""
    if not counted.once or counted.total < counted.rows:
        return "" if not _is_named_id(reading, counted) else "names of rows: no value twice"
    if _NAMED_ID.search(reading.name) and _distinct_as_texts(counted):
        return "names of rows: no value twice"
    if counted.rows < FEWEST_NAMED or reading.kind in ("date", "list", "vector", "text"):
        return ""
    texts = [text.strip() for text, _ in counted.texts()]
    if sum(_KEY.fullmatch(text) is not None for text in texts) >= MOSTLY * len(texts):
        return "keys: no value twice, and none is like another"
    return "row numbers: each once, without gaps" if _counts_rows(texts, counted) else ""


def _is_named_id(reading: ColumnReading, counted: ValueCounts) -> bool:
    return bool(_NAMED_ID.search(reading.name)) and counted.once and _distinct_as_texts(counted)


def _distinct_as_texts(counted: ValueCounts) -> bool:
    return len(set(map(as_text, counted.values))) == len(counted.values)


def _counts_rows(texts: Sequence[str], counted: ValueCounts) -> bool:
    """Whether values are numbers without gaps, the same letters around them; in each set anew, perhaps."""
    if any(len(text.split()) > 1 for text in texts[:FEWEST_NAMED]):
        return False  # words: "Pier 7" may be the name of something
    if len({_RUN.sub("#", text) for text in texts}) != 1 or len(_RUN.findall(texts[0])) != 1:
        return False
    numbers = [int(_RUN.findall(text)[0]) for text in texts if len(text) < LONG]
    if len(numbers) < len(texts):
        return False
    if min(numbers) >= FIRST_YEAR and max(numbers) <= LAST_YEAR:
        return False
    span = max(numbers) - min(numbers) + 1
    n = len(counted.values) if len(counted.values) == counted.total else counted.largest
    return span <= DENSE * n
