"""How the columns of a table are read: learned from the table that a model learns from, kept in the model.

A `ColumnReading` is all that is known of one column. By it the next table is read in the same way: equal
numbers, dates and codes become equal values however they are written, and placeholders are missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clustruct.core.storage import DataclassState, register

from .column_types import CodedColumn, Column, LazyColumn, value_key
from .dates import Order, find_date, from_serial, order_votes
from .numerals import Mark, find_number, mark_votes, without_invisible
from .table import Table, TableRows
from .values import as_text, fold, is_missing, is_vector

if TYPE_CHECKING:
    from .value_counts import ValueCounts

ColumnKind = Literal["string", "text", "number", "date", "code", "list", "vector", "id", "nothing"]
# What people may say that a column holds, and what that is.
KIND_WORDS: Mapping[str, tuple[ColumnKind, str]] = {
    "text": ("string", ""),
    "number": ("number", ""),
    "decimal-point": ("number", "."),
    "decimal-comma": ("number", ","),
    "date": ("date", ""),
    "day-first": ("date", "day first"),
    "month-first": ("date", "month first"),
    "code": ("code", ""),
    "list": ("list", ""),
    "id": ("id", ""),
}
ItemKind = Literal["auto", "records", "text", "mentions", "vectors"]
MOST_MISSING = 0.75
FEWEST_VALUES = 10  # of two values each: a category; of one length each: a code
# Texts that are remembered: small sets of one table share theirs.
MANY = 2**14
# Whole numbers from here on are not exact as floats.
EXACT = 2.0**53
_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_DIGITS = re.compile(r"['\u2019]?(\d+)(?:\.0+)?")


@register("ColumnReading")
@dataclass(frozen=True)
class ColumnReading(DataclassState):
    """What a column is, how its values are written, and how full and how telling it was in training.

    Attributes
    ----------
    name : str
        The column.
    kind : ColumnKind
        What it holds. "nothing": no two values differ; "id": names of rows.
    form : str
        Of dates "day first" or "month first", of numbers the decimal mark.
    form_is_sure : bool
        Whether values show the form; otherwise it is what is most usual.
    width : int
        Of codes of one length that begin with zeros: how long they are. Zeros that were lost are put back.
    keeps_zeros : bool
        Whether codes may begin with zeros; where none does, zeros at the beginning say nothing.
    same_time : bool
        Whether all dates have one time of day, which then says nothing.
    placeholders : list of str
        Folded values that stand for a missing one.
    chosen : bool
        Whether the kind was asked for.
    reason : str
        Why the column says nothing of which rows belong together, empty where it is compared.
    rows, filled, distinct, unread : int
        Rows, those with a value, different values, rows whose value is not of the kind.
    held_by_placeholders : int
        Rows with a placeholder.
    bits : float
        The entropy of the values of rows that have one, in bits.
    """

    name: str
    kind: ColumnKind
    form: str = ""
    form_is_sure: bool = True
    width: int = 0
    keeps_zeros: bool = True
    same_time: bool = False
    placeholders: list[str] = field(default_factory=list)
    chosen: bool = False
    reason: str = ""
    rows: int = 0
    filled: int = 0
    distinct: int = 0
    unread: int = 0
    held_by_placeholders: int = 0
    bits: float = 0.0

    def __post_init__(self) -> None:
        counts = (self.width, self.rows, self.filled, self.distinct, self.unread, self.held_by_placeholders)
        forms = {"date": ("", "day first", "month first"), "number": (".", ",")}.get(self.kind, ("",))
        if min(counts) < 0 or self.width > 64 or self.form not in forms:
            raise ValueError(f"the reading of the column {self.name!r} cannot be meant")
        if not all(isinstance(word, str) for word in self.placeholders):
            raise ValueError("placeholders must be strings")

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def missing(self) -> float:
        """The share of rows without a value."""
        return 1.0 - self.filled / self.rows if self.rows else 1.0

    @property
    def changes_values(self) -> bool:
        """Whether any value is read as something else than it is."""
        return self.kind in ("number", "date", "code") or bool(self.placeholders)

    @cached_property
    def _missing_words(self) -> frozenset[str]:
        return frozenset(self.placeholders)

    @cached_property
    def _read(self) -> Callable[[Any], Any]:
        readers = {"number": self._number, "date": self._date, "code": self._code}
        return readers.get(self.kind, _as_it_is)

    def value(self, value: Any) -> Any:
        """A value as the column has it: None where it is missing, a number, an ISO date, a code, itself."""
        return None if is_missing(value) else self._known_value(value)

    def _known_value(self, value: Any) -> Any:
        """`value` of what is there."""
        found = self._read(value)
        if self.placeholders and (self._is_placeholder(value) or self._is_placeholder(found)):
            return None
        return found

    def _is_placeholder(self, value: Any) -> bool:
        if isinstance(value, list | tuple | np.ndarray):
            return False
        text = as_text(value)
        return len(text) <= self._longest_placeholder and fold(text) in self._missing_words

    @cached_property
    def _longest_placeholder(self) -> int:
        """Letters that a placeholder may have before it is folded, with blanks around it."""
        return 2 * max(map(len, self.placeholders), default=0) + 20

    @cached_property
    def read_text(self) -> Callable[[str], Any]:
        """`value` of texts: those that many small sets of one table share are read once."""
        return lru_cache(maxsize=MANY)(self._known_value)

    def fits(self, value: Any) -> bool:
        """Whether a value that is read is of the kind of the column."""
        if self.kind == "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        if self.kind == "date":
            moment = find_date(value)
            return moment is not None and moment.to_datetime() is not None
        if self.kind == "list":
            return isinstance(value, list | tuple | set | frozenset)
        if self.kind == "vector":
            return is_vector(value)
        return not is_vector(value)

    def contrary(self, values: Sequence[Any]) -> int:
        """How many values are read otherwise than their table has them, since the column has another form."""
        texts = [(value, 1.0) for value in values if isinstance(value, str)]
        if self.kind == "date" and self.form:
            votes = order_votes(texts)
            other: Order = "month first" if self.form == "day first" else "day first"
            return int(votes[other] if votes[other] > votes[self.form] else 0)  # type: ignore[index]
        if self.kind == "number":
            by_mark, own = mark_votes(texts), "," if self.form == "," else "."
            other_mark = max(by_mark, key=by_mark.get) != own and any(by_mark.values())  # type: ignore[arg-type]
            unclear = sum("," in text or "." in text for text, _ in texts) - sum(by_mark.values())
            return int(unclear) if other_mark else 0
        return 0

    def _number(self, value: Any) -> Any:
        if type(value) is int:
            return value
        if type(value) is str and self.form == "." and _PLAIN.fullmatch(value):  # in a fifth of the time
            return float(value) if "." in value and float(value) % 1 else int(value.partition(".")[0])
        mark: Mark = "," if self.form == "," else "."
        number = find_number(value, mark)
        if number != number:
            return value
        return int(number) if number.is_integer() and abs(number) < EXACT else number

    def _date(self, value: Any) -> Any:
        order: Order = self.form  # type: ignore[assignment]
        moment = find_date(value, order) or from_serial(value)
        if moment is None:
            return value
        return (moment._replace(seconds=0.0, offset=0) if self.same_time else moment).canonical()

    def _code(self, value: Any) -> Any:
        if type(value) is str and value.isdecimal() and value.isascii() and self.keeps_zeros:
            return value if len(value) >= self.width else value.zfill(self.width)  # in a third of the time
        text = without_invisible(as_text(value)).strip()
        found = _DIGITS.fullmatch(text)
        if found is None:
            return text
        digits = found[1]
        if not self.keeps_zeros:
            return digits.lstrip("0") or "0"
        return digits.zfill(self.width)


def _as_it_is(value: Any) -> Any:
    return value


def holds(kind: str, value: object) -> bool:
    """Whether a value, as it came, can be what a field of this kind holds."""
    if kind in ("id", "nothing", "context"):
        return True
    if kind == "number":
        return find_number(value) == find_number(value)
    return ColumnReading("", kind).fits(value)  # type: ignore[arg-type]


class Readings(Mapping[str, ColumnReading]):
    """The readings of the columns of a table, by name."""

    def __init__(self, columns: Sequence[ColumnReading] = ()) -> None:
        self.columns = tuple(columns)
        self._by_name = {one.name: one for one in columns}
        self._changing = [one for one in columns if one.changes_values]

    def __getitem__(self, name: str) -> ColumnReading:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<readings of {len(self)} columns>"

    def kinds(self) -> dict[str, str]:
        """What each column holds, by name."""
        return {one.name: one.kind for one in self.columns}

    def only(self, names: Sequence[str]) -> Readings:
        """Those of some columns."""
        return Readings([one for one in self.columns if one.name in set(names)])

    @cached_property
    def key(self) -> str:
        """What tells apart readings that read some value differently; empty where all stay as they are."""
        if not self._changing:
            return ""
        held = [(one.name, *astuple(one)[1:8]) for one in sorted(self._changing, key=lambda one: one.name)]
        return blake2b(repr(held).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def read(self, table: Table) -> Table:
        """The table with its values read; columns are read when they are looked at. Twice is as once."""
        changing = [one for one in self._changing if table.has(one.name)]
        if not changing:
            return table
        fields = table.fields()
        columns: dict[str, Column] = {name: table.field_column(name) for name in fields}
        for one in changing:
            columns[one.name] = _later(one, columns[one.name])
        return replace(table, items=TableRows(columns, len(table)))


def _later(reading: ColumnReading, column: Column) -> Column:
    return LazyColumn(len(column), lambda: read_column(reading, column))


def read_column(reading: ColumnReading, column: Column) -> Column:
    """The values of a column as they are read, each distinct one once.

    Where the dates of training said nothing of days and months, those of the column do.
    """
    codes, values = column.factorize()
    if reading.kind == "date" and not reading.form:
        votes = order_votes((value, 1.0) for value in values if type(value) is str)
        if votes["day first"] or votes["month first"]:
            first = "day first" if votes["day first"] >= votes["month first"] else "month first"
            reading = replace(reading, form=first)
    read = reading.read_text if len(values) < MANY else reading._known_value
    words, numbers = list[Any](), dict[Any, int]()
    places = np.empty(len(values) + 1, np.int64)
    for place, value in enumerate(values):
        found = read(value) if type(value) is str else reading.value(value)
        if found is None:
            places[place] = -1
            continue
        number = places[place] = numbers.setdefault(value_key(found), len(words))
        if number == len(words):
            words.append(found)
    places[-1] = -1
    return CodedColumn(places[codes], words, whole=True)


@dataclass(frozen=True)
class Fields:
    """Tables as a guess of features sees them: what the items are, and what each field holds."""

    sets: Sequence[Table]
    items: ItemKind  # what the items are: "records", "text", "mentions" or "vectors"
    readings: Readings

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """What each field holds, by its name."""
        return self.readings.kinds()

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
        return self.readings[field].missing

    def is_category(self, field: str) -> bool:
        """Whether a field of records has but two values: all its likenesses would be one and the same."""
        if self.items != "records" or self.kinds[field] not in ("string", "number", "date", "code"):
            return False
        reading = self.readings[field]
        return reading.filled >= FEWEST_VALUES and reading.distinct <= 2

    def texts(self, field: str) -> list[tuple[str, float]]:
        """Different texts of a field, and how many rows each stands for."""
        return self._counts(field).texts()

    def _counts(self, field: str) -> ValueCounts:
        from .value_counts import ValueCounts

        return ValueCounts.of(self.sets, field).without(self.readings[field].placeholders)
