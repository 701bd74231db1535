"""What tools read and write: the tasks as files, and the answers."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FIELDS = ("name", "street", "city", "phone", "born")
SEEDS = (1, 2, 3)
Rows = list[dict[str, str]]
Sets = list[tuple[np.ndarray, np.ndarray]]


def folder() -> Path:
    """The folder of the command line."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m benchmarks.compare.by_TOOL FOLDER")
    return Path(sys.argv[1])


def read_rows(where: Path, seed: int) -> Rows:
    """The table of a seed: id, label (empty where it is not known), and fields."""
    with (where / f"records-{seed}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_sets(where: Path, task: str, seed: int) -> tuple[Sets, Sets]:
    """Sets of points with their groups: to learn from, and new ones."""
    with np.load(where / f"{task}-{seed}.npz") as held:
        n, m = int(held["n_train"]), int(held["n_sets"])
        sets = [(held[f"X{k}"], held[f"y{k}"]) for k in range(m)]
    return sets[:n], sets[n:]


class Answers:
    """The answers of one tool: kept task by task, way by way, with CPU seconds."""

    def __init__(self, where: Path, tool: str, version: str) -> None:
        self.path = where / f"answers-{tool}.json"
        self.held: dict[str, Any] = {"tool": tool, "version": version, "answers": []}

    def add(self, task: str, way: str, seed: int, work: Callable[[], list[Any]]) -> None:
        """Do the work, which gives one label vector for each new set, and keep it."""
        started = time.process_time()
        labels = [np.asarray(one).tolist() for one in work()]
        cpu = time.process_time() - started
        self.held["answers"].append({"task": task, "way": way, "seed": seed, "CPU s": cpu, "labels": labels})
        self.path.write_text(json.dumps(self.held))
        print(f"{task}, {way}, seed {seed}: {cpu:.1f} CPU s", flush=True)
