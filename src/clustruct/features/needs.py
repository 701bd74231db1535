"""What features need of tables: the fields they look at, as they were in training, and tables without them.

A file lacks a field where no item of it has that field; single sets may, since items of JSONL have the fields
that they have. Sets that were not read from files are judged together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, TypeAlias

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.core.storage import DataclassState, register
from clustruct.data import ColumnReading, Readings, Table
from clustruct.data.readings import holds

Kind: TypeAlias = Literal[
    "string", "text", "number", "date", "code", "list", "vector", "id", "nothing", "context"
]
SILENT = ("id", "nothing")
SAMPLED = 1000  # values of a field in a set that are read
MANY, EVERY = 20_000, 16  # after so many values, those of every so manieth set
# Items that lack a field by chance, as often as those of training did, are no reason to refuse them.
BY_CHANCE = 0.01
# A share of missing values is far from that of training: by so much more, so many times, in so many items.
MORE, TIMES, FEWEST = 0.3, 3.0, 20
# Values that can only be read in another way than those of training, of all that are known.
CONTRARY = 0.1
SHOWN = 20
KNOW = "--allow-missing-fields (allow_missing_fields=True) says that this is meant"


class FieldsMissing(DataError):
    """Data without fields, or a context of sets, that a model was trained with."""


@register("FieldNeed")
@dataclass(frozen=True)
class FieldNeed(DataclassState):
    """A field that features look at, or an entry of the context of sets, as it was in training."""

    name: str
    # As `field_kinds` has it; "context" for the context of sets.
    kind: Kind
    # Shares: of items without a value, of items (or sets) without even the field, of values of another kind.
    missing: float = 0.0
    absent: float = 0.0
    other: float = 0.0

    def __post_init__(self) -> None:
        if not all(0.0 <= share <= 1.0 for share in (self.missing, self.absent, self.other)):
            raise ValueError(f"the shares of the field {self.name!r} must be in 0..1")


@dataclass
class FieldCount:
    """Items, and those that have the field; of a sample those with a value, and with one of the kind."""

    items: int = 0
    there: int = 0
    sets: int = 0
    looked: int = 0
    known: int = 0
    fitting: int = 0
    # Of those with a value, how many can only be read in another way than in training.
    contrary: int = 0

    def add(self, name: str, kind: str, table: Table, reading: ColumnReading | None = None) -> None:
        if kind == "context":
            self.items, self.there = self.items + 1, self.there + (name in table.context)
            return
        self.items += len(table)
        self.there += table.count_having(name)
        self.sets += 1
        if self.looked > MANY and self.sets % EVERY:
            return
        some = table.some(name, slice(0, len(table), 1 + len(table) // SAMPLED))  # of all parts of the set
        self.looked += len(some)
        if reading is not None and reading.changes_values:
            self.contrary += reading.contrary([v for v in some if v is not None])
            some = [reading.read_text(v) if type(v) is str else reading.value(v) for v in some]
        values = [v for v in some if v is not None]
        self.known += len(values)
        self.fitting += _fitting(kind, values)

    def __add__(self, other: FieldCount) -> FieldCount:
        return FieldCount(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def missing(self) -> float:
        return 1.0 - self.known / self.looked if self.looked else 0.0

    @property
    def other(self) -> float:
        return 1.0 - self.fitting / self.known if self.known else 0.0

    def need(self, name: str, kind: Kind) -> FieldNeed:
        """The need of training sets that were counted like this."""
        return FieldNeed(name, kind, self.missing, 1.0 - self.there / self.items, self.other)


def learn_needs(
    sets: Sequence[Table],
    fields: Iterable[str],
    context: Iterable[str],
    searched: Iterable[str] = (),
    readings: Readings | None = None,
) -> list[FieldNeed]:
    """The fields and the context that training sets have, of those that features look at.

    ``searched`` are fields whose words find likely pairs: they count where they hold anything but ids.

    >>> sets = [Table([{"id": 1, "year": 1990, "t": "a"}, {"id": 2, "year": "?", "t": None}])]
    >>> [(need.name, need.kind, need.missing) for need in learn_needs(sets, ["t", "no"], [], ["id", "year"])]
    [('t', 'nothing', 0.5), ('year', 'string', 0.0)]
    """
    there = dict.fromkeys(name for table in sets for name in table.fields())
    wanted = [name for name in dict.fromkeys(fields) if name in there]
    others = set(there) & set(searched) - set(wanted)
    from clustruct.data import learn_readings  # which a model that is read does without

    readings = Readings() if readings is None else readings
    lacking = [name for name in wanted if name not in readings]
    known = {**readings, **(learn_readings(sets, lacking) if lacking else {})}
    known |= learn_readings(sets) if others - set(known) else {}
    kinds: list[tuple[str, Kind]] = [(name, known[name].kind) for name in wanted]
    kinds += [(name, known[name].kind) for name in there if name in others and known[name].kind not in SILENT]
    kinds += [(n, "context") for n in dict.fromkeys(context) if any(n in table.context for table in sets)]
    counts = [(name, kind, FieldCount()) for name, kind in kinds]
    for name, kind, count in counts:
        for table in sets:
            count.add(name, kind, table, readings.get(name))
    return [count.need(name, kind) for name, kind, count in counts]


def check_stream(
    sets: Iterable[Table], needs: Sequence[FieldNeed], readings: Readings | None = None
) -> Iterator[Table]:
    """The sets as they come, checked file by file: a table by its header, others at their end."""
    seen: FieldTally | None = None
    for table in sets:
        path = None if table.source is None else table.source.path
        if seen is None or seen.path != path:
            if seen is not None:
                seen.judge()
            seen = FieldTally(needs, path, Readings() if readings is None else readings)
        seen.add(table)
        if table.source is not None and table.source.lines is not None:
            seen.refuse_absent()
        yield table
    if seen is not None:
        seen.judge()


@dataclass
class FieldTally:
    """What the sets of one file have of the fields that are needed."""

    needs: Sequence[FieldNeed]
    path: str | None
    readings: Readings = field(default_factory=Readings)
    counts: dict[str, FieldCount] = field(default_factory=dict)
    fields: dict[str, None] = field(default_factory=dict)
    titles: list[str] = field(default_factory=list)

    def add(self, table: Table) -> None:
        self.titles = [*self.titles, table.title][:2]
        self.fields.update(dict.fromkeys(table.fields()))
        for need in self.needs:
            self.counts.setdefault(_key(need), FieldCount()).add(
                need.name, need.kind, table, self.readings.get(need.name)
            )

    @property
    def title(self) -> str:
        """What is judged, as messages begin."""
        return self.path or (self.titles[0] if len(self.titles) == 1 else "the sets")

    def judge(self) -> None:
        """Refuse what lacks a field or has something else there; warn where much more is missing."""
        self.refuse_absent()
        for need in self.needs:
            count = self.counts[_key(need)]
            self._refuse_other(need, count)
            self._warn_of_other_form(need, count)
            more = count.missing > max(need.missing + MORE, TIMES * need.missing)
            if more and count.looked >= FEWEST:
                shares = f"{count.missing:.0%} of the items, in training {need.missing:.0%}"
                message = f"{self.title}: the field {need.name!r} is missing in {shares}"
                warnings.warn(message, DataWarning, stacklevel=2)

    def refuse_absent(self) -> None:
        """Refuse sets of which no item has a field, unless that may well be chance."""
        counts = {need: self.counts[_key(need)] for need in self.needs}
        absent = [n for n, c in counts.items() if not c.there and n.absent**c.items < BY_CHANCE]
        missing = [need.name for need in absent if need.kind == "context"]
        if missing:
            what = f"no set has {_list_names(missing)}, which the model was trained with"
            raise FieldsMissing(f"{self.title}: {what}; {KNOW}")
        if absent:
            names = [need.name for need in absent]
            what = ("the field " if len(names) == 1 else "the fields ") + _list_names(names)
            there = ", ".join(list(self.fields)[:SHOWN]) + (" ..." if len(self.fields) > SHOWN else "")
            raise FieldsMissing(
                f"{self.title}: no item has {what}, which the model was trained with; "
                f"there are {there or 'no fields'}{_spelt(names, list(self.fields))}; {KNOW}"
            )

    def _refuse_other(self, need: FieldNeed, count: FieldCount) -> None:
        """More than half of the values, two at least, cannot be what training values were."""
        # What is read in another order than it is written is told, not refused.
        wrong = count.known - count.fitting - count.contrary
        if wrong >= 2 and count.other > max(0.5, TIMES * need.other):
            raise DataError(
                f"{self.title}: the field {need.name!r} held {_PLURALS[need.kind]} in training; "
                f"{wrong} of the {count.known} values looked at are none; {KNOW}"
            )

    def _warn_of_other_form(self, need: FieldNeed, count: FieldCount) -> None:
        """Two values at least, and a tenth, are read otherwise than this table has them."""
        if count.contrary < max(2, CONTRARY * count.known):
            return
        form = self.readings[need.name].form
        if self.readings[need.name].kind == "number":
            usual, other = ("1.299", "1,299") if form != "," else ("1,299", "1.299")
            word = "decimal-comma" if form != "," else "decimal-point"
            message = (
                f"numbers such as {usual} in the field {need.name!r} have decimals in training, here it is "
                f"{other} that has: {count.contrary} of the {count.known} values looked at are read wrong"
            )
        else:
            other = "day first" if form == "month first" else "month first"
            word = other.replace(" ", "-")
            message = (
                f"dates of the field {need.name!r} are read {form}, as in training; {count.contrary} of the "
                f"{count.known} values looked at can only be {other}"
            )
        advice = f"write them alike, or train with --as {need.name}={word}"
        warnings.warn(f"{self.title}: {message}: {advice}", DataWarning, stacklevel=2)


_PLURALS: Mapping[str, str] = {
    "string": "texts",
    "text": "texts",
    "number": "numbers",
    "date": "dates",
    "code": "codes",
    "list": "lists",
    "vector": "vectors",
}


# Many small sets of one table have their values in common, and reading a date is slow.
_known_to_hold = lru_cache(maxsize=2**16)(holds)


def _fitting(kind: str, values: Sequence[object]) -> int:
    """How many values can be what a field of this kind holds. A string can be read as text."""
    if kind in ("string", "text"):
        return sum([type(v) is str or holds(kind, v) for v in values])
    return sum([_known_to_hold(kind, v) if type(v) is str else holds(kind, v) for v in values])


def _key(need: FieldNeed) -> str:
    return f"{need.kind == 'context'} {need.name}"


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (" ..." if len(names) > SHOWN else "")


def _spelt(names: Sequence[str], there: Sequence[str]) -> str:
    """The fields that are spelt most like those that are not there."""
    plain = {name.casefold(): name for name in there}
    near = [get_close_matches(name.casefold(), plain, 1) for name in names]
    found = [f"{plain[spelt[0]]!r} for {name!r}" for name, spelt in zip(names, near, strict=True) if spelt]
    return f"; is it {', '.join(found[:3])}?" if found else ""
