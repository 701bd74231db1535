"""The whole command for one new item: ``predict one.csv --existing STORE``, with many known items.

    python -m benchmarks.living_command [--known 10000 100000] [--json out/living_command.json]

CPU seconds of the command, start and imports with it: without known items; with a store whose index is kept
(the second run after the items came in); and the same with the index taken away, so that all items are read.
"""

from __future__ import annotations

import argparse
import csv
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.living import persons
from benchmarks.printing import format_table, keep_row
from benchmarks.tables.measure import measured
from clustruct.data import Table

COMMAND = [sys.executable, "-m", "clustruct"]
TRAIN, NEW = 4000, 3


def study(known: int, folder: Path) -> dict[str, Any]:
    """One number of known items."""
    model, store = folder / "m.model", folder / f"{known}.db"
    if not model.exists():
        _write(folder / "train.csv", persons(TRAIN, 1), slice(0, TRAIN), groups=True)
        words = ["--id", "id", "--cluster", "group", "--C", "1", "--model", str(model), "--quiet"]
        measured([*COMMAND, "fit", str(folder / "train.csv"), *words])
    table = persons(known + NEW, 0)
    _write(folder / "known.csv", table, slice(0, known), groups=True)
    made = ["--create", "--items", str(folder / "known.csv"), "--id", "id", "--cluster", "group", "--quiet"]
    measured([*COMMAND, "store", str(store), *made])
    ones = [folder / f"one{k}.csv" for k in range(NEW)]
    for k, path in enumerate(ones):
        _write(path, table, slice(known + k, known + k + 1), groups=False)
    ways = {"index made": ones[0], "index kept": ones[1]}
    found = {way: _run(path, model, "--existing", str(store)) for way, path in ways.items()}
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute("DELETE FROM made")
    found["index gone"] = _run(ones[2], model, "--existing", str(store))
    return {"known": known, "nothing known": _run(ones[0], model), **found}


def _run(data: Path, model: Path, *words: str) -> float:
    out = str(data.with_suffix(".out.csv"))
    given = [str(data), "--id", "id", "--model", str(model), "--out", out, "--quiet", *words]
    return measured([*COMMAND, "predict", *given]).cpu


def _write(path: Path, table: Table, rows: slice, *, groups: bool) -> None:
    fields, ids, labels = table.fields(), list(table.item_ids)[rows], list(table.labels or ())[rows]
    columns = [table.some(field, rows) for field in fields]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["id", *(["group"] if groups else []), *fields])
        for name, label, *values in zip(ids, labels, *columns, strict=True):
            out.writerow([name, *([f"g{label}"] if groups else []), *values])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--json", type=Path, default=Path("out/living_command.json"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for known in given.known:
            row = study(known, Path(folder))
            keep_row(given.json, row, ("known",))
            print(format_table([row]), flush=True)


if __name__ == "__main__":
    main()
