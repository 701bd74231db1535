"""CPU seconds beside another checkout: every case is run in turns, each time in a process of its own.

    python -m benchmarks.against OTHER [--runs 5] [--only NAME] [--json]

Both checkouts are run by this Python, with their own benchmarks. A first run of each case warms the caches
of compiled kernels and is not counted. ``ratio`` is the median of the ratios of runs made one after the
other, this checkout's over the other's; ``low`` and ``high`` bound it in 90 % of bootstrap samples.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.printing import format_table

ROOT = Path(__file__).resolve().parents[1]
CUSTOMERS = "examples/data/customers.csv"
READ = ("--id", "nr", "--cluster", "person")
CASES = {
    "engine": ("-m", "benchmarks.engine", "--quick"),
    "correlation": ("-m", "benchmarks.correlation", "--quick"),
    "links": ("-m", "benchmarks.linkage", "--quick"),
    "hooks": ("-m", "benchmarks.hooks", "--quick"),
    "Markov random fields": ("-m", "benchmarks.mrf_speed", "--quick"),
    "Universum": ("-m", "benchmarks.universum_speed", "--quick"),
    "eigenvectors": ("-m", "benchmarks.eigen", "--quick"),
    "2,000 persons": ("-m", "benchmarks.tables", "made", "--rows", "2000", "--labelled", "200"),
    "fit customers": (
        "-m",
        "clustruct",
        "fit",
        "examples/data/customers.csv",
        *READ,
        "--model",
        "{folder}/m",
    ),
    "predict customers": (
        "-m",
        "clustruct",
        "predict",
        "examples/data/customers.csv",
        "--model",
        "{folder}/m",
    ),
}


def cpu_seconds(checkout: Path, words: tuple[str, ...], folder: str) -> float:
    """User and system time of a process and what it waits for."""
    line = [sys.executable, *(word.format(folder=folder) for word in words)]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(checkout)])}
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(line, cwd=checkout, env=where, stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{checkout}: {' '.join(line[1:])} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def compare(other: Path, name: str, runs: int) -> dict[str, Any]:
    """One case in turns."""
    pairs = []
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        both = ((other, second), (ROOT, first))
        if name.startswith("predict"):
            for checkout, folder in both:
                cpu_seconds(checkout, CASES["fit customers"], folder)
        for _ in range(runs + 1):
            pairs.append([cpu_seconds(checkout, CASES[name], folder) for checkout, folder in both])
    before, after = np.array(pairs[1:]).T
    ratios = after / before
    draws = np.random.default_rng(0).choice(ratios, (2000, len(ratios)))
    low, high = np.quantile(np.median(draws, axis=1), [0.05, 0.95])
    row = {"case": name, "before": np.median(before), "after": np.median(after), "ratio": np.median(ratios)}
    return {**row, "low": float(low), "high": float(high)}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    options.add_argument("other", type=Path, help="the root of the other checkout")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", choices=list(CASES), action="append")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    rows = []
    for name in given.only or CASES:
        rows.append(compare(given.other.resolve(), name, given.runs))
        print(json.dumps(rows[-1]) if given.json else format_table(rows[-1:]), flush=True)
    if not given.json:
        print("\n" + format_table(rows))


if __name__ == "__main__":
    main()
