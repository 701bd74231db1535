"""python -m examples.make_data: the files of ``examples/data``, all of them made up.

people.csv      five batches of customers with the person of each; new.csv: one more, without
test.csv        three further batches, to see how good a model is
customers.csv   one table, the person known for a third of it
clients.csv, members.csv   two tables of one town, the person known; new_clients.csv, new_members.csv: without
days.jsonl      eight days of news with their stories; next_days.jsonl: four more
texts.jsonl     six texts with mentions of people; next_texts.jsonl: three more
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from clustruct.data import Table
from clustruct.data.datasets import make_mentions, make_news, make_records
from clustruct.data.io import write_sets

HERE = Path(__file__).parent / "data"
FIELDS = ("name", "street", "city", "phone", "born")


def rows_of(table: Table, person: bool = True, **first: str) -> Iterable[dict[str, Any]]:
    """The items as rows of a table: the columns ``first``, the number, the person, the fields."""
    for id, label, item in zip(table.item_ids, table.labels or (), table.items, strict=True):
        yield {**first, "nr": id, **({"person": label} if person else {}), **item}


def write(folder: Path, name: str, rows: Iterable[dict[str, Any]]) -> None:
    kept = list(rows)
    with (folder / name).open("w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, list(kept[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def batches(folder: Path) -> None:
    """Customers of several days, who are never the same on two days."""
    sets = make_records(n_sets=9, n_people=6, random_state=2)
    parts = {"people.csv": sets[:5], "new.csv": sets[5:6], "test.csv": sets[6:]}
    for name, part in parts.items():
        person = name != "new.csv"
        write(folder, name, (row for table in part for row in rows_of(table, person, batch=table.name)))


def one_table(folder: Path) -> None:
    """One table of which a third is labelled."""
    (table,) = make_records(n_sets=1, n_people=100)
    table = replace(table, ids=[f"c{k + 1}" for k in range(len(table))])
    people = list(dict.fromkeys(table.labels or ()))
    known = set(people[: len(people) // 3])
    write(
        folder,
        "customers.csv",
        rows_of(replace(table, labels=[y if y in known else None for y in table.labels or ()])),
    )


def two_tables(folder: Path) -> None:
    """Two registers of one town: nobody is twice in one of them."""
    for prefix, table in zip(
        ("", "new_"), make_records(n_sets=2, n_people=60, most=2, random_state=1), strict=True
    ):
        seen: set[Any] = set()
        first, second = [], []
        for row in rows_of(table, person=not prefix):
            person = (table.labels or ())[len(first) + len(second)]
            (second if person in seen else first).append(row)
            seen.add(person)
        write(folder, f"{prefix}clients.csv", first)
        write(folder, f"{prefix}members.csv", second)


def texts(folder: Path) -> None:
    days, documents = make_news(n_sets=12), make_mentions(n_sets=9)
    write_sets(folder / "days.jsonl", days[:8])
    write_sets(folder / "next_days.jsonl", days[8:])
    write_sets(folder / "texts.jsonl", documents[:6])
    write_sets(folder / "next_texts.jsonl", documents[6:])


def make(folder: Path) -> None:
    """Write all files to a folder."""
    for part in (batches, one_table, two_tables, texts):
        part(folder)


if __name__ == "__main__":
    make(HERE)
