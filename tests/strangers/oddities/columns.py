"""Columns that say nothing, and names that nobody expects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..sheets import Cells, Sheet, SheetColumn
from ..tables import CITIES, THINGS
from .registry import Change, Rng, add, one_of


def _added(name: str, make: Callable[[Sheet, Rng], Cells], first: bool = False) -> Change:
    """One more column that tells nothing of the groups."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        column = SheetColumn(name, "noise", make(sheet, rng))
        both = [column, *sheet.columns] if first else [*sheet.columns, column]
        return replace(sheet, columns=both)

    return change


def _each(make: Callable[[int, Rng], str]) -> Callable[[Sheet, Rng], Cells]:
    return lambda sheet, rng: [make(a, rng) for a in range(len(sheet))]


def _token(a: int, rng: Rng) -> str:
    return rng.bytes(8).hex()


def _noise(a: int, rng: Rng) -> str:
    return f"{rng.normal():.3f}"


def _note(a: int, rng: Rng) -> str:
    return " ".join(str(rng.choice(THINGS)) for _ in range(12)) + "."


NOISE: dict[str, Callable[[int, Rng], str]] = {
    "constant": lambda a, rng: "yes",
    "row number": lambda a, rng: str(a + 1),
    "random token": _token,
    "nearly empty": lambda a, rng: "x" if a in (3, 17) else "",
    "entirely empty": lambda a, rng: "",
    "random number": _noise,
    "random flag": lambda a, rng: str(bool(rng.integers(2))),
    "random word": lambda a, rng: str(rng.choice(CITIES)),
    "random note": _note,
    "time of entry": lambda a, rng: f"2024-03-{1 + a % 28:02d}T{a % 24:02d}:{a % 60:02d}:00",
    "address of a page": lambda a, rng: f"https://example.org/item/{_token(a, rng)}?page=1",
    "JSON": lambda a, rng: f'{{"a": [{rng.integers(9)}, null], "b": "{rng.integers(9)}"}}',
    "only NA": lambda a, rng: "NA",
    "only zero": lambda a, rng: "0",
}
for word, make in NOISE.items():
    add(f"column: {word}", "columns", "undoable", _added("further", _each(make)))


def _thirty(sheet: Sheet, rng: Rng) -> Sheet:
    kinds = list(NOISE.values())
    for n in range(30):
        sheet = _added(f"field {n + 1}", _each(kinds[n % len(kinds)]))(sheet, rng)
    return sheet


def _thirty_sparse(sheet: Sheet, rng: Rng) -> Sheet:
    for n in range(30):
        cells = [str(rng.choice(CITIES)) if rng.random() < 0.1 else "" for _ in range(len(sheet))]
        sheet = replace(sheet, columns=[*sheet.columns, SheetColumn(f"field {n + 1}", "noise", cells)])
    return sheet


def _twice(sheet: Sheet, rng: Rng) -> Sheet:
    column = sheet.columns[one_of(sheet, rng, "text", "number", "vector")]
    return replace(sheet, columns=[*sheet.columns, replace(column, name=f"{column.name} (copy)", key="")])


def _ordered(order: Callable[[int, Rng], Sequence[int]]) -> Change:
    def change(sheet: Sheet, rng: Rng) -> Sheet:
        return replace(sheet, columns=[sheet.columns[int(k)] for k in order(len(sheet.columns), rng)])

    return change


add(
    "thirty noise columns",
    "columns",
    "undoable",
    _thirty,
    only=["persons", "products", "papers", "places", "events"],
)
add(
    "thirty sparse columns",
    "columns",
    "undoable",
    _thirty_sparse,
    only=["persons", "products", "papers", "places", "events"],
)
add("a column twice", "columns", "undoable", _twice)
add("columns reversed", "columns", "undoable", _ordered(lambda n, rng: range(n)[::-1]))
add("columns shuffled", "columns", "undoable", _ordered(lambda n, rng: rng.permutation(n)))


def _renamed(name: Callable[[str, int], str]) -> Change:
    def change(sheet: Sheet, rng: Rng) -> Sheet:
        columns = [replace(c, name=name(c.name, k)) for k, c in enumerate(sheet.columns)]
        return replace(sheet, columns=columns)

    return change


for word, name in {
    "with blanks": lambda n, k: f"the {n} of it",
    "with blanks around": lambda n, k: f"  {n} ",
    "in Chinese": lambda n, k: f"列{k}",
    "in Arabic": lambda n, k: f"عمود {k}",
    "in emoji": lambda n, k: "🎯" * (k + 1),
    "with quotes": lambda n, k: f'the "{n}"',
    "with commas": lambda n, k: f"{n}, given",
    "with line breaks": lambda n, k: f"{n}\n(as given)",
    "with colons": lambda n, k: f"x:{n}=1",
    "very long": lambda n, k: f"{n} " * 300,
    "numbers": lambda n, k: str(k),
    "equal after folding": lambda n, k: (
        "Name",
        "name",
        "NAME",
        "\uff2e\uff21\uff2d\uff25",
        "\uff2eame",
        "nAME",
        "NaMe",
        "naME",
        "nAmE",
        "NAme",
    )[k],
    "of our own features": lambda n, k: (
        "record",
        "constant",
        "same",
        "missing",
        "intercept",
        "score",
        "together",
        "labels",
        "items",
        "source",
    )[k],
    "like formulas": lambda n, k: f"=SUM({n})",
}.items():
    add(f"names: {word}", "columns", "undoable", _renamed(name))


def _one_renamed(to: str) -> Change:
    """One telling column is called what we call something else."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        k = one_of(sheet, rng, "text", "vector")
        columns = list(sheet.columns)
        columns[k] = replace(columns[k], name=to)
        return replace(sheet, columns=columns)

    return change


for word in (
    "id",
    "cluster",
    "label",
    "group",
    "set",
    "confidence",
    "source",
    "index",
    "__index_level_0__",
    "id_1",
):
    add(f"a column called {word}", "columns", "undoable", _one_renamed(word))
add("a column without a name", "columns", "undoable", _one_renamed(""), refusals=["name", "column"])
add(
    "noise called cluster",
    "columns",
    "undoable",
    _added("cluster", _each(lambda a, rng: str(rng.integers(9)))),
)
add(
    "noise called id",
    "columns",
    "undoable",
    _added("id", _each(lambda a, rng: str(rng.integers(10**6))), first=True),
)
