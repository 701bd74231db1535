"""Tables of docs/evidence, from what is kept: ``python -m benchmarks.evidence``; the site makes them anew.

Which tables of each paper are made is read from the results of the studies, reliability from
``benchmarks/figures/torture.json`` (``python -m tests.torture --json``).
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.printing import FIGURES
from benchmarks.rendered import ROOT
from studies.every import STUDIES
from studies.rendering import grid, put
from studies.study import Study

COUNTED = ("refused", "fine", "forged", "skipped")


def papers() -> str:
    """A line per study: how many of its tables are kept, and which are missing."""
    head = ["study", "tables kept", "not made yet", "made by"]
    return grid(head, [_study_line(study) for study in STUDIES])


def _study_line(study: Study) -> list[str]:
    missing = [table.key for table in study.tables if study.results(table).rows is None]
    kept = len(study.tables) - len(missing)
    page = f"[{study.title}](../studies/{study.name}.md)"
    return [page, f"{kept} of {len(study.tables)}", ", ".join(missing), f"`python -m studies.{study.name}`"]


def reliability(held: dict[str, Any]) -> str:
    """A line per part of the torture: what was tried, and what became of it."""
    lines = [
        [name, f"{part['tried']:,}", *(f"{part.get(word, 0):,}" for word in COUNTED)]
        + [str(len(part["faults"]))]
        for name, part in held["parts"].items()
    ]
    return grid(["part", "tried", *COUNTED, "faults"], lines)


def tables() -> dict[str, dict[str, str]]:
    """Tables by page and name."""
    found = {"evidence/papers": {"evidence/papers": papers()}}
    if (kept := FIGURES / "torture.json").exists():
        table = reliability(json.loads(kept.read_text()))
        found["evidence/reliability"] = {"evidence/reliability": table}
    return found


def main() -> None:
    """The command."""
    for page, held in tables().items():
        path = ROOT / "docs" / f"{page}.md"
        text = path.read_text()
        for name, table in held.items():
            text = put(text, name, table)
        path.write_text(text)


if __name__ == "__main__":
    main()
