"""News and records through the ``clustruct`` command alone. Needs CLUSTRUCT_DATA.

``python -m benchmarks.cli_study`` and one of

news      googlenews, uci_aggregator, ecbplus_articles, author_names: two halves by group (by set where there
          is none), each in turn trains
records   cora, febrl3, abt_buy, dblp_acm, amazon_google: folds 0-4 train, 5-9 test
walmart   from CSV to groups over a whole table, with time, memory and blocking
start     seconds until help is shown and until the package is imported
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np

from benchmarks.printing import show
from clustruct.io import Columns, read_sets

NEWS = {
    "googlenews": ("news/googlenews.jsonl.gz", ["--kind", "text"]),
    "uci_aggregator": ("news/uci_aggregator.jsonl.gz", ["--kind", "text", "--fields", "title"]),
    "ecbplus_articles": ("news/ecbplus_articles.jsonl.gz", ["--kind", "text", "--fields", "title,text"]),
    "author_names": ("author_names/aminer.jsonl.gz", ["--number-ids"]),
}
RECORDS = ("cora", "febrl3", "abt_buy", "dblp_acm", "amazon_google")
TRAIN, TEST = "fold=0,1,2,3,4", "fold=5,6,7,8,9"


@dataclass(frozen=True)
class Ran:
    """What a command printed, and what it took."""

    out: dict[str, Any]
    seconds: float
    cpu_seconds: float
    mebibytes: float


def clustruct(*words: Any) -> Ran:
    """Run the installed command with --json."""
    line = [str(Path(sys.executable).with_name("clustruct")), *map(str, words), "--json", "--quiet"]
    started = time.perf_counter()
    with Popen(line, stdout=PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(line)} ended with code {process.returncode}")
    seconds = time.perf_counter() - started
    return Ran(json.loads(out), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _folder() -> Path:
    given = os.environ.get("CLUSTRUCT_DATA")
    if not given:
        raise SystemExit("set CLUSTRUCT_DATA to the folder with the third-party data")
    return Path(given)


def news() -> list[dict[str, Any]]:
    """Mean test loss over all sets, each scored by a model trained on the other half."""
    rows = []
    for name, (file, options) in NEWS.items():
        data = _folder() / file
        losses: list[float] = []
        scores: list[float] = []
        seconds = 0.0
        for chosen in _halves(data):
            with tempfile.TemporaryDirectory() as there:
                model = Path(there) / "model"
                fitted = clustruct("fit", data, *options, "--where", chosen, "--model", model)
                more = [w for w in options if w == "--number-ids"]
                found = clustruct("evaluate", data, *more, "--except", chosen, "--model", model).out
            losses += [row["pairwise_loss"] for row in found["per_set"]]
            scores += [row["b_cubed_f1"] for row in found["per_set"]]
            seconds += fitted.seconds
        rows.append(
            {
                "data": name,
                "sets": len(losses),
                "test loss": float(np.mean(losses)),
                "B-cubed F": 100 * float(np.mean(scores)),
                "fit seconds": seconds,
            }
        )
    return rows


def _halves(data: Path) -> list[str]:
    """Sorted groups (or sets), even and odd, as --where takes them."""
    sets = list(read_sets(data, columns=Columns(repeated_ids=True)))
    grouped = sets[0].group is not None
    names = sorted({raw.group for raw in sets}) if grouped else [raw.name for raw in sets]
    key = "group" if grouped else "id"
    return [f"{key}=" + ",".join(map(str, part)) for part in (names[::2], names[1::2])]


def records() -> list[dict[str, Any]]:
    """Default settings, first five folds to train, last five to test."""
    rows = []
    columns = ["--set", "fold", "--id", "record_id", "--cluster", "cluster_id"]
    for name in RECORDS:
        data = _folder() / f"entity_resolution/{name}.csv.gz"
        with tempfile.TemporaryDirectory() as there:
            model = Path(there) / "model"
            fitted = clustruct("fit", data, *columns, "--where", TRAIN, "--model", model)
            found = clustruct("evaluate", data, "--where", TEST, "--model", model)
        mean = found.out["mean"]
        rows.append(
            {
                "data": name,
                "pairwise F": 100 * mean["pairwise_f1"],
                "B-cubed F": 100 * mean["b_cubed_f1"],
                "test loss": mean["pairwise_loss"],
                "C": fitted.out["C"],
                "fit seconds": fitted.seconds,
            }
        )
    rows.append({"data": "mean", "pairwise F": float(np.mean([row["pairwise F"] for row in rows]))})
    return rows


def walmart() -> list[dict[str, Any]]:
    """Learn from five folds as one table, group the whole table, judge the other five folds as one table."""
    data = _folder() / "entity_resolution/walmart_amazon.csv.gz"
    columns = ["--id", "record_id", "--cluster", "cluster_id"]
    with tempfile.TemporaryDirectory() as there:
        model, groups = Path(there) / "model", Path(there) / "groups.csv"
        steps = {
            "fit": clustruct("fit", data, *columns, "--where", TRAIN, "--model", model),
            "predict": clustruct("predict", data, "--model", model, "--out", groups),
            "evaluate": clustruct("evaluate", data, "--where", TEST, "--model", model),
        }
    rows: list[dict[str, Any]] = [
        {"step": name, "seconds": ran.seconds, "CPU seconds": ran.cpu_seconds, "MiB": ran.mebibytes}
        for name, ran in steps.items()
    ]
    found = steps["evaluate"].out
    rows[-1] |= {
        "pairwise F": 100 * found["mean"]["pairwise_f1"],
        "B-cubed F": 100 * found["mean"]["b_cubed_f1"],
        "recall of blocking": 100 * found["blocking"]["recall"],
        "pairs": found["blocking"]["pairs"],
    }
    return rows


def start() -> list[dict[str, Any]]:
    """The shortest of five runs: other work on the machine only ever adds."""
    rows = []
    for what, line in (
        ("clustruct --help", [str(Path(sys.executable).with_name("clustruct")), "--help"]),
        ("import clustruct", [sys.executable, "-c", "import clustruct"]),
    ):
        taken = []
        for _ in range(5):
            started = time.perf_counter()
            with Popen(line, stdout=PIPE) as process:
                process.communicate()
            taken.append(time.perf_counter() - started)
        rows.append({"what": what, "seconds": min(taken)})
    return rows


PARTS = {"news": news, "records": records, "walmart": walmart, "start": start}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        if name not in PARTS:
            raise SystemExit(f"unknown part {name}; there are {', '.join(PARTS)}")
        show({name: PARTS[name]()})
