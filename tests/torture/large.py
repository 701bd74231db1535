"""A million rows, a cell of 10 MB, all pairs of a large set: bounded, or refused with the cost."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import processes
from .tally import FINE, Limits, Outcome, Part, fault, refused
from .victims import prepare

TABLE = "--set set --cluster cluster --id id"
FIT = f"fit DATA {TABLE} --C 1 --model new"
PREDICT = "predict DATA --model records --out new.csv"
# Of data that have few or none of the fields that the model was trained with.
ANYHOW = f"{PREDICT} --allow-missing-fields"
# Beyond this a command must have said what it is up to.
PATIENCE = 60.0
COST = re.compile(r"[GMK]i?B\b|about|pairs|rows|items| s left|%|: set \d")


def rows(path: Path, n: int, per_set: int) -> None:
    """So many records in sets of a size; 0: in one set."""
    rng = np.random.default_rng(0)
    first = ["Ann", "Bob", "Carl", "Dora", "Eve", "Fred", "Gina", "Hugo"]
    with open(path, "w") as f:
        f.write("set,id,cluster,name,street,city,phone,born\n")
        numbers = rng.integers(0, 10**6, (n, 3)).tolist()
        for i, (a, b, c) in enumerate(numbers):
            owner = i // per_set if per_set else 0
            person = f"{first[a % 8]} L{a},{b % 999} Road {c % 99},C{c % 50},{b},{1930 + c % 70}"
            f.write(f"s{owner},{i},{i // 2},{person}\n")


def _cell(size: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        text = ("word " * (size // 5 + 1))[:size]
        if path.suffix == ".jsonl":
            items = [{"id": i, "name": name} for i, name in enumerate(["Ann", "Bob", text])]
            path.write_text(json.dumps({"id": "s", "items": items, "labels": [0, 0, 1]}) + "\n")
        else:
            path.write_text(f"set,id,cluster,name\ns,a,1,Ann\ns,b,1,Anne\ns,c,2,{text}\ns,d,2,Bob\n")

    return make


def _wide(path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(200_000))
    path.write_text(f"set,id,cluster,{names}\n" + "".join(f"s,{i},1{',' * 200_000}\n" for i in range(3)))


Make = Callable[[Path], None]
# Data, a command, seconds of processor and bytes of memory at most.
CASES: dict[str, tuple[str, Make, str, float, int]] = {
    "million rows, sets of ten: predict one": (
        "a.csv",
        lambda p: rows(p, 10**6, 10),
        f"{PREDICT} --where set=s5",
        120.0,
        4 * 2**30,
    ),
    "million rows, sets of ten: predict": ("a.csv", lambda p: rows(p, 10**6, 10), PREDICT, 1500.0, 6 * 2**30),
    "million rows, one set: predict": ("a.csv", lambda p: rows(p, 10**6, 0), PREDICT, 1500.0, 12 * 2**30),
    "20,000 rows, one set: predict": ("a.csv", lambda p: rows(p, 20_000, 0), PREDICT, 200.0, 4 * 2**30),
    "20,000 rows, all pairs: fit": (
        "a.csv",
        lambda p: rows(p, 20_000, 0),
        f"{FIT} --block 0 --parts 1",
        200.0,
        8 * 2**30,
    ),
    "20,000 rows in parts, all pairs: fit": (
        "a.csv",
        lambda p: rows(p, 20_000, 0),
        f"{FIT} --block 0",
        900.0,
        8 * 2**30,
    ),
    "1 MB cell: predict": ("a.csv", _cell(10**6), ANYHOW, 30.0, 3 * 2**30),
    "1 MB cell: fit": ("a.csv", _cell(10**6), FIT, 30.0, 3 * 2**30),
    "10 MB cell: predict": ("a.csv", _cell(10**7), ANYHOW, 30.0, 3 * 2**30),
    "10 MB cell: fit": ("a.csv", _cell(10**7), FIT, 30.0, 3 * 2**30),
    "10 MB value: predict": ("a.jsonl", _cell(10**7), ANYHOW, 60.0, 3 * 2**30),
    "10 MB value: fit": ("a.jsonl", _cell(10**7), "fit DATA --C 1 --model new", 60.0, 3 * 2**30),
    "200,000 columns: predict": ("a.csv", _wide, ANYHOW, 60.0, 4 * 2**30),
    "200,000 columns: fit": ("a.csv", _wide, FIT, 60.0, 4 * 2**30),
}
QUICK = [name for name, (*_, cpu, _) in CASES.items() if cpu <= 60.0]


class Large(Part):
    name = "large"
    about = "a million rows, a cell of 10 MB, all pairs of 20,000 items: bounded in time and memory"
    limits = Limits(cpu=2000.0, wall=3600.0, memory=None)
    workers = 1

    def cases(self, scale: float, seed: int) -> list[str]:
        """All of them at full scale, else those that take a minute at most."""
        return list(CASES) if scale >= 1.0 else QUICK

    def prepare(self, folder: Path, seed: int) -> None:
        prepare(folder)

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        name, make, text, cpu, memory = CASES[case]
        with tempfile.TemporaryDirectory(dir=folder) as own:
            there = Path(own)
            shutil.copy(folder / "records", there)
            make(there / name)
            words = processes.words_of("clustruct", [name if w == "DATA" else w for w in text.split()])
            done = processes.run(words, there, cpu=cpu, memory=memory)
            print(f"{case}: {done.seconds:.1f} s, {done.peak / 2**20:.0f} MiB", file=sys.stderr)
            return _bounded(done, name)


def _bounded(done: processes.Bounded, name: str) -> Outcome:
    ran, took = done.ran, f"{done.seconds:.0f} s, {done.peak / 2**20:.0f} MiB"
    if "Traceback" in ran.err:
        return fault("traceback", ran.err[-400:])
    if ran.code not in (0, 1):
        return fault("hang" if done.out_of_time else "died", f"{took}: {ran.err[-200:]}")
    if "not enough memory" in ran.err:
        return fault("memory", f"{took}: {ran.err}")
    if done.seconds > PATIENCE and not COST.search(ran.err):
        return fault("cost unsaid", f"{took}: {ran.err[-200:]!r}")
    if ran.code == 0:
        return FINE
    return refused(ran.err) if name in ran.err else fault("unnamed", ran.err)
