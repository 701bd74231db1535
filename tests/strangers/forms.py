"""The same rows in other clothes: file formats, data frames, orders of rows and columns, ids, processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .runs import Finding, Groups, Run
from .sheets import FileForm, Sheet

C = 10.0
FRAMES = ("pandas", "polars", "Arrow")


def check_forms(sheet: Sheet, folder: Path, seed: int) -> tuple[list[Finding], int]:
    """What gives other groups than the plain file of these rows, and how many forms were tried."""
    sheet = replace(sheet, form=FileForm(), options=())
    findings, tried = list[Finding](), 0
    expected = grouped_by_command(sheet, folder / "csv")
    if expected is None:
        return findings, tried
    rng = np.random.default_rng(seed)
    for name, group in _forms(sheet, folder, rng):
        try:
            found = group()
        except Exception as error:
            findings.append(Finding("stop", name, f"{type(error).__name__}: {error}"))
            continue
        tried += 1
        if found is None:
            findings.append(Finding("stop", name, "refused, where CSV is not"))
        elif partition(found) != partition(expected):
            n = different_rows(found, expected)
            findings.append(Finding("form", name, f"other groups than from CSV for {n} of {len(sheet)} rows"))
    return findings, tried


def _forms(sheet: Sheet, folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Ways to the groups of the rows, each in the order of the sheet."""
    for end in (".jsonl", ".parquet"):
        other = replace(sheet, form=FileForm(end=end))
        yield end, lambda other=other, end=end: grouped_by_command(other, folder / end[1:])
    order = [int(a) for a in rng.permutation(len(sheet))]

    def in_other_order() -> Groups | None:
        found = grouped_by_command(sheet.picked(order), folder / "rows")
        return None if found is None else [found[k] for k in np.argsort(order)]

    yield "rows in another order", in_other_order
    columns = [sheet.columns[int(k)] for k in rng.permutation(len(sheet.columns))]
    shuffled = replace(sheet, columns=columns)
    yield "columns in another order", lambda: grouped_by_command(shuffled, folder / "columns")
    renamed = replace(sheet, ids=[f"{int(a):05d}x" for a in rng.permutation(len(sheet))])
    yield "other ids", lambda: grouped_by_command(renamed, folder / "ids")
    yield "two processes", lambda: grouped_by_command(sheet, folder / "jobs", "--n-jobs", "2")
    for kind in FRAMES:
        yield f"a frame of {kind}", lambda kind=kind: grouped_by_recipe(sheet, kind)


def grouped_by_command(sheet: Sheet, folder: Path, *more: str) -> Groups | None:
    """The groups that the commands give, None where they refuse the rows."""
    run = Run(folder, sheet)
    if run.fit_labels("--C", str(C), "--quiet", *more) and run.predict("labels", "--quiet"):
        return run.groups["labels"]
    return None


def frame(kind: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """A data frame of text, where blanks are missing."""
    held = {name: [row[k] or None for row in rows] for k, name in enumerate(header)}
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(held, dtype=object)
    if kind == "polars":
        import polars

        return polars.DataFrame(held, schema=dict.fromkeys(header, polars.String))
    import pyarrow

    return pyarrow.table({name: pyarrow.array(cells, pyarrow.string()) for name, cells in held.items()})


def grouped_by_recipe(sheet: Sheet, kind: str) -> Groups:
    """The groups that `Recipe` gives for a data frame."""
    from clustruct import Recipe, sets_of

    roles = {"id": sheet.id_name, "cluster": sheet.label_name}
    roles |= {} if sheet.set_names is None else {"set": "document"}
    sets = sets_of(frame(kind, sheet.header, list(sheet.lines())), **roles)
    labelled = [table for table in sets if any(label is not None for label in table.labels or ())]
    recipe = Recipe(C=C).fit(labelled)
    found: dict[str, tuple[str, str]] = {}
    for table, groups in zip(sets, recipe.predict(sets), strict=True):
        for item, group in zip(table.item_ids, groups, strict=True):
            found[str(item).strip()] = (str(table.name), str(group))
    return [found[item.strip()] for item in sheet.ids]


def partition(groups: Groups) -> list[int]:
    """Groups by the row where each is first met."""
    first: dict[tuple[str, str], int] = {}
    return [first.setdefault(group, a) for a, group in enumerate(groups)]


def different_rows(one: Groups, other: Groups) -> int:
    """How many rows are with others here than there."""

    def mates(groups: Groups) -> list[frozenset[int]]:
        rows: dict[tuple[str, str], set[int]] = {}
        for a, group in enumerate(groups):
            rows.setdefault(group, set()).add(a)
        return [frozenset(rows[group]) for group in groups]

    return sum(a != b for a, b in zip(mates(one), mates(other), strict=True))
