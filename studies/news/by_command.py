"""News through the ``clustruct`` command alone: two halves by group (by set where there is none)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.data.io import ColumnRoles, read_sets
from studies.command_line import clustruct
from studies.data import data_file
from studies.results import Results

NEWS = {
    "googlenews": ("news/googlenews.jsonl.gz", ["--kind", "text"]),
    "uci_aggregator": ("news/uci_aggregator.jsonl.gz", ["--kind", "text", "--fields", "title"]),
    "ecbplus_articles": ("news/ecbplus_articles.jsonl.gz", ["--kind", "text", "--fields", "title,text"]),
    "author_names": ("author_names/aminer.jsonl.gz", ["--number-ids"]),
}


def by_command(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Mean test loss over all sets, each scored by a model trained on the other half; --quick: ecbplus."""
    names = ("ecbplus_articles",) if quick else tuple(NEWS)
    return [{"data": name, **results.get(name, lambda n=name: _one(n))} for name in names]


def _one(name: str) -> dict[str, Any]:
    file, options = NEWS[name]
    data = data_file(file)
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
        seconds += fitted.cpu_seconds
    return {
        "sets": len(losses),
        "test loss": float(np.mean(losses)),
        "B-cubed F": 100 * float(np.mean(scores)),
        "CPU seconds of both fits": seconds,
    }


def _halves(data: Path) -> list[str]:
    """Sorted groups (or sets), even and odd, as --where takes them."""
    sets = list(read_sets(data, columns=ColumnRoles(repeated_ids=True)))
    grouped = sets[0].group is not None
    names = sorted({table.group for table in sets}) if grouped else [table.name for table in sets]
    key = "group" if grouped else "id"
    return [f"{key}=" + ",".join(map(str, part)) for part in (names[::2], names[1::2])]
