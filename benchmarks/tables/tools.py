"""The tools, each as commands of its own: learn, then group. What they are given is said here alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.tables.measure import Cost, measured
from benchmarks.tables.table import ENTITY, ID

Command = list[str]
FIT_OPTIONS: tuple[str, ...] = ()
PREDICT_OPTIONS: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """One table for one tool.

    table : the file, in which labelled rows have their entity
    folder : where the tool may write; options : what the command of clustruct gets besides
    seconds : how long one step may take
    """

    shape: str
    table: Path
    folder: Path
    fit_options: tuple[str, ...] = FIT_OPTIONS
    predict_options: tuple[str, ...] = PREDICT_OPTIONS
    seconds: float = 3600.0

    def file(self, tool: str, suffix: str) -> Path:
        return self.folder / f"{tool}{suffix}"


@dataclass(frozen=True)
class Ran:
    """What the steps of a tool took, where its groups are (None: it did not get that far), what it chose."""

    steps: dict[str, Cost]
    groups: Path | None
    told: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> Cost:
        return sum(self.steps.values(), Cost(0.0, 0.0, 0.0))


def _module(name: str, *words: object) -> Command:
    return [sys.executable, "-m", f"benchmarks.tables.{name}", *map(str, words)]


def _peer(name: str) -> Callable[[Job], dict[str, Command]]:
    """A peer that has a module ``by_<name>`` here."""

    def commands(job: Job) -> dict[str, Command]:
        given = [job.shape, job.table, job.file(name, ".model")]
        groups = job.file(name, ".csv")
        return {
            "learn": _module(f"by_{name}", "learn", *given),
            "group": _module(f"by_{name}", "group", *given, groups),
        }

    return commands


def _clustruct(job: Job) -> dict[str, Command]:
    """The installed command, as a person would use it."""
    command = str(Path(sys.executable).with_name("clustruct"))
    model, groups = str(job.file("clustruct", ".model")), str(job.file("clustruct", ".csv"))
    columns = ["--id", ID, "--cluster", ENTITY]
    fit = [command, "fit", str(job.table), *columns, "--model", model, "--quiet", *job.fit_options]
    predict = [command, "predict", str(job.table), "--model", model, "--out", groups, "--quiet"]
    return {"learn": fit, "group": [*predict, *job.predict_options]}


def _logistic(job: Job) -> dict[str, Command]:
    """Learns and groups at once: what it learns from is the whole table."""
    return {"learn and group": _module("by_logistic", job.table, job.file("logistic", ".csv"))}


TOOLS: dict[str, Callable[[Job], dict[str, Command]]] = {
    "splink": _peer("splink"),
    "dedupe": _peer("dedupe"),
    "clustruct": _clustruct,
    "logistic": _logistic,
}


def run(tool: str, job: Job) -> Ran:
    """The steps of a tool, one after another, each in a process of its own."""
    job.folder.mkdir(parents=True, exist_ok=True)
    groups, notes = job.file(tool, ".csv"), job.file(tool, ".json")
    groups.unlink(missing_ok=True)
    notes.unlink(missing_ok=True)
    steps: dict[str, Cost] = {}
    for step, command in TOOLS[tool](job).items():
        steps[step] = measured(command, job.seconds)
        if steps[step].over:
            return Ran(steps, None)
    return Ran(steps, groups, json.loads(notes.read_text()) if notes.exists() else {})
