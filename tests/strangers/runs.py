"""The commands on one sheet, in this process, and what came of them."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.torture.commands import Ran, judged, run

from .sheets import Sheet, write_sheet

csv.field_size_limit(10**9)
Groups = list[tuple[str, str]]


@dataclass(frozen=True)
class Finding:
    """What must not be: a stop, a difference or a lie, at a command."""

    kind: str
    command: str
    text: str


@dataclass
class Run:
    """Commands on the files of one sheet.

    Attributes
    ----------
    groups : dict
        The groups of the rows by the model: "labels" or "none".
    """

    folder: Path
    sheet: Sheet
    refusals: Sequence[str] = ()
    findings: list[Finding] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    groups: dict[str, Groups] = field(default_factory=dict)
    printed: dict[str, Ran] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = write_sheet(self.folder / "data", self.sheet)
        self.train = self.data
        if self.sheet.set_names is not None:
            there = {s for s, label in zip(self.sheet.set_names, self.sheet.labels, strict=True) if label}
            kept = [a for a, s in enumerate(self.sheet.set_names) if s in there]
            self.train = write_sheet(self.folder / "train", self.sheet.picked(kept))

    @property
    def roles(self) -> list[str]:
        sets = [] if self.sheet.set_names is None else ["--set", "document"]
        return ["--id", self.sheet.id_name, *sets, *self.sheet.options]

    def find(self, kind: str, command: str, text: str) -> None:
        self.findings.append(Finding(kind, command, text))

    def call(self, name: str, *words: object, allowed: Sequence[int] = (0,)) -> bool:
        """Run a command; whether it ended as it should, with code 0."""
        ran = self.printed[name] = run("clustruct", [str(word) for word in words], self.folder)
        if ran.error is None and ran.code == 1 and any(word in ran.complaint for word in self.refusals):
            self.refused.append(f"{name}: {ran.complaint.strip()}")
            return False
        outcome = judged(ran, (), allowed)
        if outcome.status == "fault" or ran.code not in allowed:
            self.find("stop", name, outcome.detail or ran.complaint)
            return False
        return ran.code == 0

    def fit_labels(self, *more: str) -> bool:
        named = ["--cluster", self.sheet.label_name, "--model", "labels.model"]
        return self.call("fit", "fit", self.train.name, *self.roles, *named, *more)

    def fit_none(self, *more: str) -> bool:
        named = ["--labels", "none", "--ignore", _quoted(self.sheet.label_name), "--model", "none.model"]
        return self.call("fit --labels none", "fit", self.data.name, *self.roles, *named, *more)

    def predict(self, model: str, *more: str) -> bool:
        """Group the sheet by a model that is there."""
        out = self.folder / f"{model}.csv"
        words = [
            "predict",
            self.data.name,
            *self.roles,
            "--model",
            f"{model}.model",
            "--out",
            out.name,
            *more,
        ]
        if not self.call(f"predict ({model})", *words):
            return False
        rows = read_rows(out)
        ids = [row["id"] if "id" in row else row[self.sheet.id_name] for row in rows]
        wanted = [item.strip() for item in self.sheet.ids]
        found = dict(zip((item.strip() for item in ids), rows, strict=True))
        if sorted(found) != sorted(wanted):
            missing = sorted(set(wanted) - set(found))[:3]
            self.find(
                "lie", f"predict ({model})", f"{len(rows)} rows for {len(wanted)}; not there: {missing}"
            )
            return False
        self.groups[model] = [(found[item].get("set") or "", found[item]["cluster"]) for item in wanted]
        return True

    def truth_file(self) -> Path:
        """The sheet with all labels."""
        return write_sheet(self.folder / "truth", self.sheet, [f"t{g}" for g in self.sheet.truth])

    def number(self, name: str, pattern: str) -> float | None:
        """The first number of this form among what a command printed."""
        found = re.search(pattern, self.printed[name].out)
        return None if found is None else float(found[1].replace(",", ""))

    def json_of(self, name: str) -> Any:
        return json.loads(self.printed[name].out)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file that a command wrote."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as lines:
        return list(csv.DictReader(lines))


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def pairwise_f(found: Sequence[object], truth: Sequence[object], rows: Sequence[int]) -> float:
    """Pairwise F in percent over these rows; 100 where there is no pair on either side.

    >>> pairwise_f([0, 0, 1], [5, 5, 5], [0, 1, 2])
    50.0
    """

    def pairs(keys: Sequence[object]) -> int:
        return sum(n * (n - 1) // 2 for n in Counter(keys).values())

    both = pairs([(found[a], truth[a]) for a in rows])
    joined, right = pairs([found[a] for a in rows]), pairs([truth[a] for a in rows])
    return 100.0 if joined + right == 0 else 200.0 * both / (joined + right)


def first_rows(sheet: Sheet) -> list[int]:
    """The first row of the sheet for each row of the plain table, in that order."""
    first: dict[int, int] = {}
    for a, origin in enumerate(sheet.origin):
        if origin >= 0:
            first.setdefault(origin, a)
    return [first[origin] for origin in sorted(first)]


def scores(run: Run, plain: Sheet) -> dict[str, float]:
    """F of the plain table's rows: without labels of all, with labels of those that have none there."""
    sheet, found = run.sheet, {}
    for model, groups in run.groups.items():
        rows = first_rows(sheet)
        if model == "labels":
            rows = [a for a in rows if not plain.labels[sheet.origin[a]]]
        found[model] = pairwise_f(groups, sheet.truth, rows)
    return found


def in_csv(sheet: Sheet) -> Sheet:
    """The same sheet in a plain file."""
    return replace(sheet, form=type(sheet.form)(), options=())
