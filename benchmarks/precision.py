"""`--precision` on tables: half of the clusters is labelled, pairs that touch the rest count; both ways.

    python -m benchmarks.precision [abt_buy cora persons ...] [--precision 0.99] [--wrong FILE]

The protocol is that of `benchmarks.tables real`; "persons" is a made-up table of 10,000 rows with 1,250
labelled clusters (`benchmarks.tables made`), "products:400:2" one of another shape with 400, of seed 2.
Printed: precision and recall as the model is, and with the precision that is asked for; what held-out
clusters had said of it, whether pairs must beat their rivals, whether its bound was reached, and whether it
may be had at all (else nothing is put together). With half of the clusters labelled, pairs that
touch the rest have half of the true pairs and three quarters of the false ones: the share of wrong pairs is
one and a half times that of the whole table, which held-out clusters speak of. ``--wrong FILE`` keeps the
pairs of highest
probability that count as wrong, with their rows: are they errors of the model, or of the labels?
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from benchmarks.printing import format_table, keep_row
from benchmarks.tables import made, real
from benchmarks.tables.scores import touching
from clustruct import Recipe
from clustruct.data import GroupingOptions, Table
from clustruct.features import check_tables
from clustruct.pipeline import group, pipeline_with_cut, precision_dial, score_set

NAMES = (*real.NAMES, "persons")
MADE_ROWS, LABELLED, SEED = 10_000, 1250, 0
# Of so many pairs of the highest scores it is told how many are wrong; so many of the wrong ones are shown.
TOPS, SHOWN = (50, 100, 200, 400), 30


def tables(name: str) -> Iterator[tuple[Table, np.ndarray, np.ndarray]]:
    """A table with its labels, the entity of each row, and which rows are labelled."""
    shape, *numbers = name.split(":")
    if shape in made.SHAPES:
        n, seed = (int(v) for v in (*numbers, *(LABELLED, SEED)[len(numbers) :]))
        held = made.SHAPES[shape].make(MADE_ROWS, seed)
        columns = {field: [cell.decode() or None for cell in c.tolist()] for field, c in held.columns.items()}
        labelled = held.labelled(n, seed)
        yield labelled_table(columns, held.entity, labelled), held.entity, labelled
        return
    rows = real.read(name)
    entity = real.entities(rows)
    fields = [field for field in rows[0] if field not in real.NOT_FIELDS]
    columns = {field: [row[field] or None for row in rows] for field in fields}
    for half in real.HALVES:
        labelled = np.array([int(row["fold"]) in half for row in rows])
        yield labelled_table(columns, entity, labelled), entity, labelled


def labelled_table(columns: dict[str, Any], entity: np.ndarray, labelled: np.ndarray) -> Table:
    """A table some of whose rows are labelled."""
    labels = [int(e) if known else None for e, known in zip(entity, labelled, strict=True)]
    return Table.from_columns(columns, labels=labels)


def study(name: str, precision: float, wrong: Path | None) -> Iterator[dict[str, Any]]:
    for table, entity, labelled in tables(name):
        plain = replace(table, labels=None)
        pipeline = check_tables(Recipe().fit([table]).pipeline_, [plain])
        if wrong is not None:
            keep_row(
                wrong, {"table": name, **highest(pipeline, plain, entity, labelled)}, ("table", "labelled")
            )
        options = GroupingOptions(precision=precision)
        dial = precision_dial(pipeline, options)
        assert dial is not None
        row: dict[str, Any] = {"table": name, "labelled": int(labelled.sum())}
        for title, used in (("", pipeline), (f" at {precision:g}", pipeline_with_cut(pipeline, options))):
            counts = touching(entity, group(used, plain).labels, ~labelled)
            row |= {f"P{title}": counts.precision, f"R{title}": counts.recall}
        told = {
            "held-out P": 100 * dial.precision,
            "bound": 100 * dial.lower,
            "held-out R": 100 * dial.recall,
        }
        ways = {"rivals": dial.beats_rivals, "reached": dial.reached, "possible": dial.possible}
        yield row | told | {title: str(said) for title, said in ways.items()}


def highest(pipeline: Pipeline, table: Table, entity: np.ndarray, labelled: np.ndarray) -> dict[str, Any]:
    """Of the pairs that touch a row without a label those of the highest scores: how many of them count as
    wrong, and the first of these with their rows.
    """
    scores = score_set(pipeline, table)
    listed = scores.list_pairs()
    assert listed.index is not None
    assert listed.values is not None
    own = np.flatnonzero(~labelled[listed.index].all(axis=1))
    order = own[np.argsort(-listed.values[own], kind="stable")]
    a, b = listed.index[order].T
    bad, p = entity[a] != entity[b], pipeline[-1].pair_probabilities(scores)[order]
    counts = {str(n): int(bad[:n].sum()) for n in TOPS if n <= len(bad)}
    found = [
        {
            "rank": int(r),
            "p": float(p[r]),
            "rows": [int(a[r]), int(b[r])],
            "values": _values(table, a[r], b[r]),
        }
        for r in np.flatnonzero(bad)[:SHOWN]
    ]
    return {"labelled": int(labelled.sum()), "wrong of the first": counts, "wrong": found}


def _values(table: Table, *rows: int) -> dict[str, list[Any]]:
    return {
        field: [None if (v := table.items[r].get(field)) is None else str(v)[:80] for r in rows]
        for field in table.fields()
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--precision", type=float, default=0.99)
    parser.add_argument("--wrong", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in given.names:
        for row in study(name, given.precision, given.wrong):
            rows.append(row)
            print(format_table(rows[-1:]), flush=True)
    print(f"\n{format_table(rows)}")


if __name__ == "__main__":
    main()
