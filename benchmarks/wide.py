"""Wide, sparse tables without labels: thirty columns, of which four or five tell who or what a row is about.

    python -m benchmarks.wide [--seeds 0:5] [--shapes sparse lists] [--entities 350]

The others are empty, constant or nearly so, drawn at random, counted on, copied from a telling column, facts
of a region that many share, or filled by one source only. For each made table: precision, recall and pairwise
F of a recipe without labels, with the telling columns named and with all columns, and the worst difference.
In the shape "lists" most columns are those of one to three sources, and a source has most things once.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from clustruct import Recipe
from clustruct.data import Table
from clustruct.evaluate.metrics import Scores, pairwise_scores
from clustruct.pipeline import fit_without_labels

Row: TypeAlias = dict[str, str | None]
Cells: TypeAlias = list[str | None]
Rng: TypeAlias = np.random.Generator

SYLLABLES = (  # noqa: SIM905
    "ba be bi bo bu da de di do du fa fe ga ge go ha he hi ka ke ki ko la le li lo lu ma me mi mo mu na ne "
    "ni no pa pe po ra re ri ro sa se si so ta te ti to va ve vi wa za zo"
).split()
N_COLUMNS = 30
USELESS = ("empty", "constant", "nearly empty", "nearly constant")
OTHERS = (
    "category", "category, often empty", "measure", "count", "moment", "row number", "code", "operator",
    "note", "source", "of one source", "fact in one source", "region", "copy",
)  # fmt: skip
IN_LISTS = ("category", "count", "measure", "code", "note", "moment", "region", "constant", "empty")


def words(rng: Rng, n: int) -> list[str]:
    return ["".join(rng.choice(SYLLABLES, rng.integers(2, 4))) for _ in range(n)]


def pick(rng: Rng, values: Sequence[str]) -> str:
    """A value; the first are the most frequent."""
    p = 1.0 / np.arange(1, len(values) + 1) ** 0.8
    return str(values[rng.choice(len(values), p=p / p.sum())])


def persons(rng: Rng) -> Iterator[Row]:
    first, last, street, city = (words(rng, n) for n in (60, 200, 80, 25))
    while True:
        born = f"{rng.integers(1930, 2005)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        address = f"{rng.integers(1, 150)} {pick(rng, street)} st"
        names = {"given": pick(rng, first), "surname": pick(rng, last)}
        yield {**names, "street": address, "city": pick(rng, city), "born": born}


def places(rng: Rng) -> Iterator[Row]:
    kinds = ["school", "centre", "day care", "nursery", "kids house", "learning academy", "church"]
    name, street = words(rng, 250), words(rng, 100)
    while True:
        yield {
            "site": f"{pick(rng, name)} {pick(rng, name)} {rng.choice(kinds)}",
            "address": f"{rng.integers(100, 9999)} {rng.choice(list('nsew'))} {pick(rng, street)} ave",
            "zip": str(60600 + rng.integers(0, 45)),
            "phone": f"{rng.integers(200, 999)}{rng.integers(1000, 9999)}",
        }


def products(rng: Rng) -> Iterator[Row]:
    brands, described = words(rng, 25), words(rng, 300)
    while True:
        brand = pick(rng, brands)
        model = f"{rng.choice(list('ABCDEFGH'))}{rng.choice(list('XYZ'))}{rng.integers(100, 9999)}"
        title = " ".join([brand, model, *(pick(rng, described) for _ in range(4))])
        yield {"title": title, "brand": brand, "model": model, "price": f"{np.exp(rng.normal(4, 1)):.2f}"}


def papers(rng: Rng) -> Iterator[Row]:
    topic, last, venues = words(rng, 400), words(rng, 300), words(rng, 12)
    while True:
        yield {
            "title": " ".join(pick(rng, topic) for _ in range(7)),
            "authors": ", ".join(pick(rng, last) for _ in range(rng.integers(1, 4))),
            "venue": pick(rng, venues),
            "year": str(rng.integers(1985, 2010)),
        }


def organisations(rng: Rng) -> Iterator[Row]:
    names, cities = words(rng, 300), words(rng, 30)
    while True:
        first = pick(rng, names)
        yield {
            "name": f"{first} {pick(rng, names)} {rng.choice(['ltd', 'inc', 'gmbh', 'sa'])}",
            "city": pick(rng, cities),
            "web": f"www.{first}{rng.integers(1, 99)}.com",
            "vat": str(rng.integers(10**8, 10**9)),
        }


KINDS: dict[str, Callable[[Rng], Iterator[Row]]] = {
    made.__name__: made for made in (persons, places, products, papers, organisations)
}


def write_again(row: Row, errors: float, rng: Rng) -> Row:
    """The same thing, entered by somebody else: cells left empty, slips, another price, a word less."""
    again: Row = {}
    for field, value in row.items():
        chance = rng.random() / errors
        if value is None or chance < 0.5:
            again[field] = None
        elif chance < 1.3:
            again[field] = _misread(field, value, rng)
        elif chance < 1.7 and " " in value:
            parts = value.split()
            parts.pop(int(rng.integers(len(parts))))
            again[field] = " ".join(parts)
        else:
            again[field] = value
    return again


def _misread(field: str, value: str, rng: Rng) -> str:
    if field == "price":
        return f"{float(value) * rng.uniform(0.85, 1.15):.2f}"
    if field in ("year", "zip"):
        return str(int(value) + int(rng.integers(-1, 2)))
    if len(value) < 4:
        return value
    a, kind = int(rng.integers(1, len(value) - 1)), rng.integers(3)
    if kind == 0:
        return value[:a] + value[a + 1] + value[a] + value[a + 2 :]
    return value[:a] + value[a + 1 :] if kind == 1 else value[:a] + value[a] + value[a:]


@dataclass(frozen=True)
class Made:
    """Rows with what they are about, and where they come from."""

    rows: list[Row]
    entity: list[int]
    source: list[int]

    def of_entity(self, rng: Rng, values: Sequence[str]) -> list[str]:
        """A value for each row, one for all rows of an entity."""
        own = {entity: pick(rng, values) for entity in sorted(set(self.entity))}
        return [own[entity] for entity in self.entity]

    def table(self, rng: Rng, columns: dict[str, Cells]) -> Table:
        """Rows and columns in any order."""
        names = rng.permutation([*self.rows[0], *columns]).tolist()
        order = rng.permutation(len(self.rows)).tolist()
        items = [{f: columns[f][i] if f in columns else self.rows[i][f] for f in names} for i in order]
        return Table(items, labels=[f"e{self.entity[i]}" for i in order])


def column(rng: Rng, what: str, made: Made) -> Cells:
    """A column that does not tell what a row is about, or not more than another."""
    n = len(made.rows)
    simple: dict[str, Callable[[], str | None]] = {
        "empty": lambda: None,
        "constant": lambda: "yes",
        "nearly empty": lambda: words(rng, 1)[0] if rng.random() < 0.02 else None,
        "nearly constant": lambda: "no" if rng.random() < 0.02 else "yes",
        "measure": lambda: f"{rng.normal(100, 20):.1f}",
        "count": lambda: str(rng.integers(0, 8)),
        "moment": lambda: f"20{rng.integers(10, 25)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
        "code": lambda: f"{rng.choice(list('ABC'))}{rng.integers(10**6, 10**7)}",
    }
    if what in simple:
        return [simple[what]() for _ in range(n)]
    if what == "row number":
        return [str(i) for i in rng.permutation(n)]
    if what == "note":
        vocabulary = words(rng, 40)
        lengths = np.where(rng.random(n) < 0.6, rng.integers(3, 12, n), 0).tolist()
        return [" ".join(pick(rng, vocabulary) for _ in range(k)) or None for k in lengths]
    if what == "copy":
        field = str(rng.choice(list(made.rows[0])))
        return [None if row[field] is None else f"# {row[field]}".upper() for row in made.rows]
    return _column_of_values(rng, what, made)


def _column_of_values(rng: Rng, what: str, made: Made) -> Cells:
    """A column of some values that come again and again."""
    n, values = len(made.rows), words(rng, int(rng.choice([2, 3, 5, 12, 30])))
    if what == "source":
        return [f"list {source}" for source in made.source]
    if what in ("of one source", "fact in one source"):
        own, many = int(rng.choice(made.source)), words(rng, int(rng.choice([4, 20, 200])))
        cells = made.of_entity(rng, many) if what.startswith("fact") else [pick(rng, many) for _ in range(n)]
        return [cell if source == own else None for cell, source in zip(cells, made.source, strict=True)]
    if what == "region":
        return [cell if rng.random() < 0.9 else None for cell in made.of_entity(rng, values)]
    full = rng.uniform(0.2, 0.9) if what == "category, often empty" else 1.0
    return [pick(rng, values) if rng.random() < full else None for _ in range(n)]


def sparse_table(kind: str, seed: int, n_entities: int = 350) -> tuple[Table, list[str]]:
    """A table of which half of the columns tell nothing at all, and its telling columns."""
    rng = np.random.default_rng([seed, 1, *map(ord, kind)])
    n_sources, errors = int(rng.integers(1, 5)), rng.uniform(0.1, 0.35)
    most, made = int(rng.choice([2, 3, 5])), Made([], [], [])
    for entity, row in zip(range(n_entities), KINDS[kind](rng), strict=False):
        for k in range(int(rng.integers(1, most + 1))):
            made.rows.append(write_again(row, errors, rng) if k else row)
            made.entity.append(entity)
            made.source.append(int(rng.integers(n_sources)))
    telling = list(made.rows[0])
    useless = N_COLUMNS // 2
    drawn = [*rng.choice(USELESS, useless), *rng.choice(OTHERS, N_COLUMNS - useless - len(telling))]
    columns = {f"{what} {i}": column(rng, what, made) for i, what in enumerate(map(str, drawn))}
    return made.table(rng, columns), telling


def lists_table(kind: str, seed: int, n_entities: int = 350) -> tuple[Table, list[str]]:
    """Several lists of the same things, each with columns of its own, and the telling columns."""
    rng = np.random.default_rng([seed, 2, *map(ord, kind)])
    n_sources, errors = int(rng.integers(4, 10)), rng.uniform(0.1, 0.3)
    reach, made = rng.uniform(0.15, 0.8, n_sources), Made([], [], [])
    for entity, row in zip(range(n_entities), KINDS[kind](rng), strict=False):
        where = np.flatnonzero(rng.random(n_sources) < reach)
        for source in where.tolist() or [int(rng.integers(n_sources))]:
            for _ in range(1 + (rng.random() < 0.15)):
                made.rows.append(write_again(row, errors, rng))
                made.entity.append(entity)
                made.source.append(source)
    telling = list(made.rows[0])
    for source in range(n_sources):
        lacking = [field for field in telling[1:] if rng.random() > 0.75]
        for row, own in zip(made.rows, made.source, strict=True):
            row.update({field: None for field in lacking if own == source})
    columns: dict[str, Cells] = {"list": column(rng, "source", made)}
    for i, what in enumerate(map(str, rng.choice(IN_LISTS, N_COLUMNS - 1 - len(telling)))):
        sources = rng.choice(n_sources, int(rng.integers(1, 4)), replace=False)
        cells = zip(column(rng, what, made), made.source, strict=True)
        columns[f"{what} {i}"] = [cell if own in sources else None for cell, own in cells]
    return made.table(rng, columns), telling


SHAPES = {"sparse": sparse_table, "lists": lists_table}


def score(table: Table, fields: Sequence[str] | None = None) -> Scores:
    """Of a recipe without labels."""
    bare = replace(table, labels=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipe = fit_without_labels(Recipe(fields=fields), [bare])
        return pairwise_scores(list(table.labels or ()), recipe.predict([bare])[0])


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", default="0:5", help="the first, and the one after the last")
    parser.add_argument("--shapes", nargs="*", default=[*SHAPES], choices=[*SHAPES])
    parser.add_argument("--entities", type=int, default=350)
    args = parser.parse_args()
    first, end = map(int, args.seeds.split(":"))
    lost: list[float] = []
    for shape in args.shapes:
        for kind in KINDS:
            for seed in range(first, end):
                table, telling = SHAPES[shape](kind, seed, args.entities)
                some, every = score(table, telling), score(table)
                lost.append(100.0 * (some.f1 - every.f1))
                figures = " ".join(f"{100 * value:6.1f}" for value in (*some, *every))
                print(f"{shape:8}{kind:14}{seed:4} {len(table):6} rows {figures} {lost[-1]:7.1f}", flush=True)
    over = f"over 5: {sum(value > 5.0 for value in lost)} of {len(lost)}"
    print(f"points of F lost by all columns: mean {np.mean(lost):.1f}, most {max(lost):.1f}; {over}")


if __name__ == "__main__":
    main()
