"""Figures as text: lists of rows become tables, the rest is printed by name."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Parts = dict[str, Callable[[bool], Any]]
FIGURES = Path(__file__).resolve().parent / "figures"


def run_parts(parts: Parts, quick: bool, only: str | None = None, loud: bool = True) -> dict[str, Any]:
    """Run the parts of a benchmark one after another, each shown as soon as it is done."""
    figures = {}
    for name, part in parts.items():
        if only in (None, name):
            figures[name] = part(quick)
            if loud:
                show({name: figures[name]})
    return figures


def command(parts: Parts, doc: str | None) -> None:
    """The command line of one benchmark: ``--quick``, ``--only``, ``--json`` and ``--keep``."""
    options = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    options.add_argument("--only", choices=list(parts), help="one part")
    options.add_argument("--json", action="store_true", help="JSON instead of tables")
    options.add_argument("--keep", action="store_true", help="keep the figures for the tables of the docs")
    given = options.parse_args()
    figures = run_parts(parts, given.quick, given.only, loud=not given.json)
    if given.json:
        print(json.dumps(figures, indent=1))
    if given.keep:
        keep_parts(FIGURES / f"{Path(sys.argv[0]).stem}.json", figures)


def keep_parts(path: Path, figures: dict[str, Any]) -> None:
    """The parts in a file, in the place of older ones."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(kept | figures, indent=1) + "\n")


def show(figures: dict[str, Any], title: str = "") -> None:
    """Print nested figures."""
    for name, value in figures.items():
        heading = f"{title}{name}"
        if isinstance(value, dict):
            show(value, f"{heading}: ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            print(f"\n{heading}")
            print(format_table(value), flush=True)
        else:
            print(f"\n{heading}: {_text(value)}")


def format_table(rows: list[dict[str, Any]]) -> str:
    """Rows under the names of their columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_text(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(names))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def keep_row(path: Path, row: dict[str, Any], key: tuple[str, ...]) -> None:
    """The row in a file of rows, in the place of an older one with the same key."""
    kept = json.loads(path.read_text()) if path.exists() else []
    rows = {tuple(one[k] for k in key): one for one in [*kept, row]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(rows.values()), indent=1) + "\n")


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
