"""Kept figures as tables of the docs: ``python -m benchmarks.rendered``.

`benchmarks.calibration` and `benchmarks.linking` keep theirs in ``benchmarks/figures``, those of speed where
they are given --keep, `benchmarks.tables` in its own folder; this writes them into the pages of the docs,
between the comments that name the tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.printing import FIGURES
from benchmarks.speed_tables import TABLES as SPEED
from benchmarks.tables import render
from studies.rendering import cell, grid, put

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("abt_buy", "dblp_acm")
WAYS = {
    "one table": "one table, the source a column like others (`--source none`)",
    "source found": "one table, the source found",
    "link": "two tables, `link --one-to-one`",
    "link many": "the same model, `link --no-one-to-one` (by probabilities)",
    "many to many": "`fit --within-source uncompared`, `link --no-one-to-one`",
    "splink": "splink, link_only, its single best links, threshold by the same labels",
}


def calibration(rows: list[dict[str, Any]]) -> str:
    """The calibration of each data set, beside what can be had."""
    head = ["data", "sets", "doubtful pairs", "error %", "right map, sets drawn anew (8 of 10)"]
    head += ["chance of pairs", "Brier skill", "AUC of items"]
    return grid(head, [_calibration_line(row) for row in rows])


def _calibration_line(row: dict[str, Any]) -> list[str]:
    low, high = row["floor, 8 of 10 %"]
    found = [row["data"], str(row["sets"]), f"{row['doubtful']:,}", cell(row["error %"], 1)]
    found.append(f"{row['floor %']:.1f} ({low:.1f} to {high:.1f})")
    return [*found, cell(row["by chance %"], 1), cell(row["Brier skill"]), cell(row["AUC"])]


def linking(rows: list[dict[str, Any]]) -> str:
    """F of both directions for each way, and CPU seconds."""
    held = {(row["way"], row["table"]): row for row in rows}
    lines = []
    for way, title in WAYS.items():
        mine = [held.get((way, table)) for table in TABLES]
        if any(mine):
            seconds = ", ".join("" if row is None else cell(row["CPU s"], 0) for row in mine)
            lines.append([title, *map(_both_folds, mine), seconds])
    return grid(["F, folds 0-4 / 5-9 labelled", *TABLES, "CPU s, learn and group"], lines)


def _both_folds(row: dict[str, Any] | None) -> str:
    return "" if row is None else f"{row['folds 0-4']:.1f} / {row['folds 5-9']:.1f}"


PAGES = {"calibration": ("evidence/confidence.md", calibration), "linking": ("linking.md", linking)}

# Of `benchmarks.tables`, by the page that they belong to.
WHOLE_TABLES = {"figures.md": ("size", "labels", "shapes", "real"), "evidence/similarity.md": ("similarity",)}


def rendered() -> dict[str, tuple[str, str]]:
    """Each table by its name, with the page that it belongs to."""
    found = {f"figures/{name}": (page, made(_kept(name))) for name, (page, made) in PAGES.items()}
    for name, (benchmark, part, made) in SPEED.items():
        found[f"speed/{name}"] = ("figures.md", made(_kept(benchmark)[part]))
    for page, names in WHOLE_TABLES.items():
        for name in names:
            kept = ROOT / "benchmarks" / "tables" / "figures" / f"{name}.json"
            found[f"tables/{name}"] = (page, render.render([kept]))
    return found


def _kept(name: str) -> Any:
    return json.loads((FIGURES / f"{name}.json").read_text())


def main() -> None:
    """The command."""
    for name, (page, table) in rendered().items():
        path = ROOT / "docs" / page
        path.write_text(put(path.read_text(), name, table))


if __name__ == "__main__":
    main()
