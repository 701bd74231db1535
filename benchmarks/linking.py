"""Two tables linked: ``.venv-bench/bin/python -m benchmarks.linking [--tables abt_buy dblp_acm]``.

Figures are kept by ``--json benchmarks/figures/linking.json``; `benchmarks.rendered` makes tables of them.

The tables of two sources, as two files. The clusters of five folds are labelled inside them; pairs that
touch the other five folds count; then the folds change sides (as `benchmarks.tables.real`). The ways:

    one table         all rows in one file, the source a column like others (--source none)
    source found      the same file, the source found and used
    link              two files: fit --source file, then link, one to one
    link many         the same model, link --no-one-to-one (by probabilities)
    many to many      fit --source file --within-source uncompared, link --no-one-to-one
    splink            link_only, its one-to-one step, threshold by the same labels
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.printing import format_table, keep_row
from benchmarks.tables.measure import Cost, measured
from benchmarks.tables.real import HALVES, NOT_FIELDS, Rows, entities, read

Pairs = set[tuple[int, int]]
COMMAND = [sys.executable, "-m", "clustruct"]
COLUMNS = ["--id", "id", "--cluster", "entity", "--quiet"]


class Job:
    """One table with one half of its clusters labelled, as files."""

    def __init__(self, name: str, rows: Rows, half: range, folder: Path) -> None:
        self.name, self.rows, self.folder = name, rows, folder / f"{name}-{half.start}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.entity = entities(rows)
        self.labelled = np.array([int(row["fold"]) in half for row in rows])
        self.sources = sorted({row["source"] for row in rows})
        if len(self.sources) != 2:
            raise SystemExit(f"{name} has {len(self.sources)} sources, not two")
        fields = [field for field in rows[0] if field not in NOT_FIELDS]
        self.every = self._write("every.csv", fields, None)
        own = [field for field in fields if field != "source"]
        self.two = [self._write(f"{k}.csv", own, source) for k, source in enumerate(self.sources)]

    def _write(self, name: str, fields: list[str], source: str | None) -> Path:
        path = self.folder / name
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["id", "entity", *fields])
            for k, row in enumerate(self.rows):
                if source in (None, row["source"]):
                    out.writerow([k, self.entity[k] if self.labelled[k] else "", *(row[f] for f in fields)])
        return path

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def score(self, found: Pairs) -> dict[str, float]:
        """Precision, recall and F over the pairs that touch an unlabelled row."""
        mates: dict[int, list[int]] = {}
        for k, e in enumerate(self.entity.tolist()):
            mates.setdefault(e, []).append(k)
        right = {(a, b) for rows in mates.values() for a in rows for b in rows if a < b}
        counted = [{p for p in pairs if not self.labelled[list(p)].all()} for pairs in (right, found)]
        both = len(counted[0] & counted[1])
        of = dict(zip(("R", "P"), (100.0 * both / max(len(pairs), 1) for pairs in counted), strict=True))
        return {"P": of["P"], "R": of["R"], "F": 200.0 * both / sum(map(len, counted))}


def _clusters(path: str) -> Pairs:
    with open(path, newline="") as file:
        groups: dict[str, list[int]] = {}
        for row in csv.DictReader(file):
            groups.setdefault(row["cluster"], []).append(int(row["id"]))
    return {(a, b) for rows in groups.values() for a in rows for b in rows if a < b}


def _pairs(path: str) -> Pairs:
    with open(path, newline="") as file:
        ids = [(int(row["id_a"]), int(row["id_b"])) for row in csv.DictReader(file)]
    return {(min(pair), max(pair)) for pair in ids}


def one_table(job: Job, *options: str) -> tuple[Pairs, Cost]:
    model, out = job.file("one.model"), job.file("one.csv")
    cost = measured([*COMMAND, "fit", str(job.every), *COLUMNS, *options, "--model", model])
    cost += measured([*COMMAND, "predict", str(job.every), "--model", model, "--out", out, "--quiet"])
    return _clusters(out), cost


def linked(job: Job, within: str, *options: str) -> tuple[Pairs, Cost]:
    model, out, two = job.file("two.model"), job.file("two.csv"), [str(path) for path in job.two]
    sources = ["--source", "file", "--within-source", within]
    fit = measured([*COMMAND, "fit", *two, *sources, *COLUMNS, "--model", model])
    cost = measured([*COMMAND, "link", *two, "--model", model, "--out", out, "--quiet", *options])
    return _pairs(out), fit + cost


def by_splink(job: Job) -> tuple[Pairs, Cost]:
    out = job.file("splink.csv")
    words = [job.name, *(str(path) for path in job.two), out]
    cost = measured([sys.executable, "-m", "benchmarks.linking_splink", *words])
    return _pairs(out), cost


WAYS: dict[str, Callable[[Job], tuple[Pairs, Cost]]] = {
    "one table": lambda job: one_table(job, "--source", "none"),
    "source found": one_table,
    "link": lambda job: linked(job, "auto", "--one-to-one"),
    "link many": lambda job: linked(job, "auto", "--no-one-to-one"),
    "many to many": lambda job: linked(job, "uncompared", "--no-one-to-one"),
    "splink": by_splink,
}


def figures(name: str, way: str, folder: Path) -> dict[str, Any]:
    """Both directions of one table, one way."""
    rows = read(name)
    found = []
    for half in HALVES:
        job = Job(name, rows, half, folder)
        pairs, cost = WAYS[way](job)
        found.append({**job.score(pairs), "CPU s": cost.cpu, "GB": cost.gigabytes})
    mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    return {"table": name, "way": way, **mean, "folds 0-4": found[0]["F"], "folds 5-9": found[1]["F"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=["abt_buy", "dblp_acm"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--folder", default="out/linking")
    parser.add_argument("--json", type=Path, default=Path("out/linking.json"))
    given = parser.parse_args()
    for name in given.tables:
        for way in given.ways:
            row = figures(name, way, Path(given.folder))
            keep_row(given.json, row, ("table", "way"))
            print(format_table([row]), flush=True)


if __name__ == "__main__":
    main()
