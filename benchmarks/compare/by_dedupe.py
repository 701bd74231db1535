"""Records by dedupe: ``python -m benchmarks.compare.by_dedupe FOLDER``.

It gets the same labelled groups as pairs: all matches among them, and as many pairs apart, drawn at random
among labelled rows; then it partitions the whole table at its threshold of 0.5.
"""

from __future__ import annotations

import io
import random
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import dedupe
import numpy as np

from benchmarks.compare.files import FIELDS, SEEDS, Answers, folder, read_rows


def records(where: Path, seed: int) -> list[Any]:
    """Train on labelled pairs, partition."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (what dedupe draws with)
    rows = read_rows(where, seed)
    items = [{f: row[f] or None for f in FIELDS} for row in rows]
    model = dedupe.Dedupe([dedupe.variables.String(f, has_missing=True) for f in FIELDS], num_cores=1)
    marked = io.StringIO()
    dedupe.serializer.write_training(_pairs(rows, items, seed), marked)
    marked.seek(0)
    model.prepare_training(dict(enumerate(items)), training_file=marked, sample_size=1500)
    model.train(index_predicates=False)
    labels = np.arange(len(rows))
    for k, (members, _) in enumerate(model.partition(dict(enumerate(items)), 0.5)):
        labels[list(members)] = len(rows) + k
    return [labels]


def _pairs(rows: list[dict[str, str]], items: list[Any], seed: int) -> dict[str, list[Any]]:
    known = [k for k, row in enumerate(rows) if row["label"]]
    every = list(combinations(known, 2))
    same = [(a, b) for a, b in every if rows[a]["label"] == rows[b]["label"]]
    apart = [(a, b) for a, b in every if rows[a]["label"] != rows[b]["label"]]
    drawn = random.Random(seed).sample(apart, len(same))
    found = {"match": same, "distinct": drawn}
    return {kind: [(items[a], items[b]) for a, b in pairs] for kind, pairs in found.items()}


def main() -> None:
    where = folder()
    kept = Answers(where, "dedupe", version("dedupe"))
    for seed in SEEDS:
        kept.add("records", "the same labels as pairs", seed, lambda s=seed: records(where, s))  # type: ignore[misc]


if __name__ == "__main__":
    main()
