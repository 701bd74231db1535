"""What the tables of chapter 4 share: rows of the protocol as JSON, a table like 4.3, paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clustruct.metrics import compare_paired
from studies.nested_cv import ProtocolRow
from studies.rendering import beside, grid

Methods = Mapping[str, tuple[Any, list[float] | None]]


def as_dict(row: ProtocolRow, name: str = "") -> dict[str, Any]:
    """A row of the protocol as JSON."""
    return {
        "test": name or row.test,
        "loss": row.loss,
        "C": row.C,
        "predictor": row.predictor,
        "inner": min(row.inner.values()),
        "outer": dict(row.outer),
        "seconds": row.seconds,
    }


def by_method(columns: Mapping[str, Sequence[Mapping[str, Any]]], published: Any = None) -> str:
    """A table like 4.3: a line per test set, a column per method, means and seconds; then the comparison.

    ``published`` has the published loss by test set and method, "mean" among the sets.
    """
    then = published or {}
    names = [row["test"] for row in next(iter(columns.values()))]
    lines = [
        [str(name), *(_cell(rows[i], then.get(name, {}).get(method)) for method, rows in columns.items())]
        for i, name in enumerate(names)
    ]
    means = {m: float(np.mean([row["loss"] for row in rows])) for m, rows in columns.items()}
    lines.append(["mean", *(beside(x, then.get("mean", {}).get(m), 1) for m, x in means.items())])
    seconds = [float(np.mean([row["seconds"] for row in rows])) for rows in columns.values()]
    lines.append(["CPU s of a training", *(f"{s:.1f}" for s in seconds)])
    text = grid(["test set", *columns], lines)
    if {"Iterative", "Spectral"} <= set(columns):
        pair = ([row["loss"] for row in columns[m]] for m in ("Iterative", "Spectral"))
        text += f"\n\nIterative and Spectral: {compare_paired(*pair)}"
    return text


def _cell(row: Mapping[str, Any], published: float | None) -> str:
    C = "" if row["C"] is None else f", C = {row['C']:g}"
    return f"{beside(row['loss'], published, 1)} {row['predictor']}{C}"
