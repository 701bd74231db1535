"""What the k-means studies share: protocol tables, and files under out/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.nested_cv import ProtocolRow
from clustruct.metrics import compare_paired

OUT = Path("out")


def save(name: str, content: Any) -> None:
    """Write out/<name>.json."""
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps(content, indent=1, default=float), encoding="utf-8")


def load(name: str) -> Any:
    """What out/<name>.json holds; an empty dict where there is none."""
    path = OUT / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def as_dict(row: ProtocolRow) -> dict[str, Any]:
    """A row of the protocol as JSON."""
    return {
        "test": row.test,
        "loss": row.loss,
        "C": row.C,
        "predictor": row.predictor,
        "inner": min(row.inner.values()),
        "outer": dict(row.outer),
        "seconds": row.seconds,
    }


def show(title: str, names: list[str], columns: dict[str, list[ProtocolRow]]) -> None:
    """Print a table like 4.3: a line per test set, a column per method; then means and the comparison."""
    print(f"\n{title}\n{'':<14}" + "".join(f"{c:>12}" for c in columns))
    for i, name in enumerate(names):
        print(f"{name:<14}" + "".join(f"{rows[i].loss:>12.1f}" for rows in columns.values()))
    print(f"{'mean':<14}" + "".join(f"{np.mean([r.loss for r in rows]):>12.1f}" for rows in columns.values()))
    seconds = [np.mean([r.seconds for r in rows]) for rows in columns.values()]
    print(f"{'CPU s/training':<14}" + "".join(f"{s:>12.1f}" for s in seconds))
    if {"Iterative", "Spectral"} <= set(columns):
        print(compare_paired(*([r.loss for r in columns[c]] for c in ("Iterative", "Spectral"))), flush=True)
