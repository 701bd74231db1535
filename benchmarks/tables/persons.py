"""Persons: seven columns, households, and rows written down with more or less care."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables.errors import Flags, chosen, initials, put, respelled, slips
from benchmarks.tables.table import Table, entity_of_rows
from benchmarks.tables.words import Numbers, Texts, invented, joined, numerals, zipf

Columns = dict[str, Texts]
Rates = NDArray[np.float64]
FIELDS = ("given_name", "surname", "birth_date", "street", "town", "phone", "email")
KINDS = [(b"street", b"st"), (b"road", b"rd"), (b"avenue", b"ave"), (b"lane", b"ln"), (b"close", b"cl")]
FIRST_YEAR = 1926


@dataclass(frozen=True)
class Persons:
    """A shape of tables of persons.

    rows_per_person : the mean; one more than a geometric number each
    given_names, surnames : how many there are, the exponent and shift of their frequencies
    slip, change : how often a cell has a slip, and how often a value is another one (moved, a second
        address of mail); a row's care multiplies both
    missing : share of empty cells
    household : share of persons who live with the person before them

    The defaults are such that splink reaches a pairwise F of 97 to 99 at 100,000 rows.
    """

    rows_per_person: float = 1.6
    given_names: tuple[int, float, float] = (2_000, 1.0, 10.0)
    surnames: tuple[int, float, float] = (30_000, 0.9, 20.0)
    slip: float = 0.05
    change: float = 0.05
    missing: float = 0.08
    household: float = 0.08

    def make(self, n_rows: int, seed: int) -> Table:
        """So many rows, in random order."""
        rng = np.random.default_rng(seed)
        entity = entity_of_rows(rng, n_rows, self.rows_per_person)
        people = _People(self, rng, int(entity.max()) + 1)
        return Table(entity, people.rows(entity)).shuffled(rng)


class _People:
    """Who there is, and how their rows come out."""

    def __init__(self, shape: Persons, rng: np.random.Generator, n: int) -> None:
        self.shape, self.rng, self.n = shape, rng, n
        self.given_list = invented(rng, shape.given_names[0])
        self.nicknames = _nicknames(rng, self.given_list)
        self.surname_list = invented(rng, shape.surnames[0], (2, 3, 3))
        self.street_list = invented(rng, 4_000, (2, 3))
        self.town_list = invented(rng, 1_500, (2, 3))
        self.domains = joined(invented(rng, 40), b".example")
        self.given = zipf(rng, n, *shape.given_names)
        self.surname = zipf(rng, n, *shape.surnames)
        self.born = np.sort(rng.integers(0, 85 * 365, (3, n)), axis=0)[1]
        self.number, self.street, self.kind, self.town = self._address(n)
        self.phone = self._phone(n)
        self._households()
        self.mail = self._mail(self.given_list[self.given], self.surname_list[self.surname])

    def _address(self, n: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        rng = self.rng
        number = 1 + zipf(rng, n, 300, 0.5, 10)
        return number, zipf(rng, n, 4_000, 0.7, 5), rng.integers(0, 5, n), zipf(rng, n, 1_500, 0.9, 5)

    def _phone(self, n: int) -> Numbers:
        return self.rng.integers(10**8, 10**9, n)

    def _households(self) -> None:
        """Some live with the person before them: one address, mostly one name, often one telephone."""
        rng, n = self.rng, self.n
        joins = chosen(rng, self.shape.household, n)
        joins[:1] = False
        head = np.maximum.accumulate(np.where(joins, 0, np.arange(n)))
        for values in (self.number, self.street, self.kind, self.town):
            values[:] = values[head]
        for values, share in ((self.surname, 0.85), (self.phone, 0.05), (self.given, 0.02)):
            same = joins & chosen(rng, share, n)
            values[same] = values[head[same]]
        apart = np.where(chosen(rng, 0.5, n), 0, 9_500) + rng.normal(0, 1_200, n).astype(int)
        twins = chosen(rng, 0.03, n)
        born = self.born[head] + np.where(twins, 0, apart)
        self.born = np.where(joins & (born >= 0) & (born < 36_000), born, self.born)

    def _mail(self, given: Texts, surname: Texts) -> Texts:
        rng, n = self.rng, len(given)
        mark = rng.choice(np.array([b".", b"", b"_"]), n)
        front = np.where(chosen(rng, 0.3, n), initials(given), given)
        digits = np.where(chosen(rng, 0.5, n), numerals(rng.integers(1, 100, n)), b"")
        return joined(front, mark, surname, digits, b"@", self.domains[zipf(rng, n, 40, 1.2, 1)])

    def rows(self, e: Numbers) -> Columns:
        """The columns of the rows of these persons."""
        shape, rng, n = self.shape, self.rng, len(e)
        care = rng.choice([0.3, 1.0, 2.2], n, p=[0.5, 0.3, 0.2])
        slip, change = care * shape.slip, care * shape.change
        found: Columns = {
            "given_name": self._given(e, change),
            "surname": self._surname(e, change),
            "birth_date": self._birth(e, change, slip),
            **self._places(e, change),
            "phone": numerals(np.where(chosen(rng, change, n), self._phone(n), self.phone[e])),
            "email": self._emails(e, change),
        }
        swapped = chosen(rng, 0.15 * change, n)
        a, b = found["given_name"], found["surname"]
        found |= {"given_name": np.where(swapped, b, a), "surname": np.where(swapped, a, b)}
        return {name: self._written(name, column, slip) for name, column in found.items()}

    def _given(self, e: Numbers, change: Rates) -> Texts:
        """In full, by a nickname, by the initial, or with a second name."""
        rng, g = self.rng, self.given[e]
        full = self.given_list[g]
        second = joined(full, b" ", self.given_list[zipf(rng, len(e), *self.shape.given_names)])
        u = rng.random(len(e)) / np.maximum(change, 1e-9)
        return np.select([u < 0.6, u < 0.9, u < 1.1], [self.nicknames[g], initials(full), second], full)

    def _surname(self, e: Numbers, change: Rates) -> Texts:
        """A third of the changes is a new name, by marriage or otherwise; some carry both."""
        rng, n = self.rng, len(e)
        old = self.surname_list[self.surname[e]]
        new = self.surname_list[zipf(rng, n, *self.shape.surnames)]
        u = rng.random(n) / np.maximum(change, 1e-9)
        return np.select([u < 0.2, u < 0.35], [new, joined(old, b"-", new)], old)

    def _birth(self, e: Numbers, change: Rates, slip: Rates) -> Texts:
        """Day and month swapped, another year, the first of January for 'unknown', a wrong day."""
        rng, n = self.rng, len(e)
        days = np.datetime64(f"{FIRST_YEAR}-01-01") + self.born[e]
        year, month = (days.astype(f"M8[{unit}]").astype(int) for unit in "YM")
        year, month, day = year + 1970, month % 12 + 1, (days - days.astype("M8[M]")).astype(int) + 1
        u = rng.random(n) / np.maximum(change, 1e-9)
        swapped = (u < 0.2) & (day <= 12)
        month, day = np.where(swapped, day, month), np.where(swapped, month, day)
        year = np.where((u >= 0.2) & (u < 0.4), year + rng.choice([-10, -1, 1, 10], n), year)
        wrong = chosen(rng, slip, n)
        day = np.where(wrong, (day + rng.choice([-10, -1, 1, 10], n) - 1) % 28 + 1, day)
        month, day = (np.where((u >= 0.4) & (u < 0.5), 1, value) for value in (month, day))
        day = np.where((month == 2) & (day == 29), 28, day)
        return joined(numerals(year), b"-", numerals(month, 2), b"-", numerals(day, 2))

    def _places(self, e: Numbers, change: Rates) -> Columns:
        """Street and town; who moved has both new."""
        rng, n = self.rng, len(e)
        moved = chosen(rng, 1.2 * change, n)
        old = (self.number[e], self.street[e], self.kind[e], self.town[e])
        number, street, kind, town = (
            np.where(moved, b, a) for a, b in zip(old, self._address(n), strict=True)
        )
        long, short = (np.array([pair[k] for pair in KINDS])[kind] for k in (0, 1))
        kinds = np.where(chosen(rng, 0.3, n), short, long)
        kinds = np.where(chosen(rng, 0.3 * change, n), b"", kinds)
        return {
            "street": np.strings.rstrip(
                joined(numerals(number), b" ", self.street_list[street], b" ", kinds)
            ),
            "town": self.town_list[town],
        }

    def _emails(self, e: Numbers, change: Rates) -> Texts:
        """The first address or another one, which is as likely to be from the same name."""
        other = self._mail(self.given_list[self.given[e]], self.surname_list[self.surname[e]])
        return np.where(chosen(self.rng, 1.5 * change, len(e)), other, self.mail[e])

    def _written(self, name: str, values: Texts, slip: Rates) -> Texts:
        """With slips of the keyboard, other spellings, and cells left empty."""
        rng, n = self.rng, len(values)
        if name in ("given_name", "surname", "street", "town"):
            heard = chosen(rng, 0.4 * slip, n)
            values = put(values, heard, respelled(values[heard], rng))
        for rate in (slip, 0.2 * slip) if name != "birth_date" else ():
            hit: Flags = chosen(rng, rate, n)
            values = put(values, hit, slips(values[hit], rng))
        return np.where(chosen(rng, self.shape.missing, n), b"", values)


def _nicknames(rng: np.random.Generator, names: Texts) -> Texts:
    """The first letters, with an ending or without."""
    short = np.where(rng.random(len(names)) < 0.5, names.astype("S3"), names.astype("S4"))
    return joined(short, rng.choice(np.array([b"", b"y", b"i", b"o"]), len(names)))


SHAPES = {
    "persons": Persons(),
    "persons-many": Persons(rows_per_person=4.0),
    "persons-few": Persons(rows_per_person=1.1),
    "persons-common": Persons(given_names=(200, 1.0, 2.0), surnames=(2_000, 1.0, 2.0)),
}
