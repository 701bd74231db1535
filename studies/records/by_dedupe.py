"""dedupe on the same records (`folds`), in the environment of the benchmarks.

Folds 0-4 give labelled pairs: matches (at most 500) and as many pairs apart, half of them near each other
(by `Blocking`), half at random. Each of the folds 5-9 is then partitioned, at dedupe's threshold of
0.5. Needs the packages dedupe and BTrees below 6.
"""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np

from clustruct.data import Table, all_pairs, field_kinds
from clustruct.features import Blocking
from studies import raw_data
from studies.data import NoData
from studies.records.folds import labels_of, scores
from studies.results import Results

MOST = 500
NAMES = ("cora", "febrl3", "abt_buy", "dblp_acm")


def _dedupe() -> Any:
    try:
        import dedupe
    except ModuleNotFoundError as missing:
        raise NoData(f"{missing.name} is not installed: use the environment of `make bench`") from None
    return dedupe


def as_dedupe(table: Table, kinds: dict[str, str]) -> list[dict[str, Any]]:
    """Records with None for what is missing."""
    columns = {field: table.column(field) for field in kinds}
    return [
        {field: None if column[k] is None else str(column[k]) for field, column in columns.items()}
        for k in range(len(table))
    ]


def variables(kinds: dict[str, str]) -> list[Any]:
    """Text for long fields, strings for all others."""
    dedupe = _dedupe()
    made = {"text": dedupe.variables.Text, "nothing": None, "id": None}
    chosen = {field: made.get(kind, dedupe.variables.String) for field, kind in kinds.items()}
    return [variable(field, has_missing=True) for field, variable in chosen.items() if variable]


def labelled(train: list[Table], kinds: dict[str, str]) -> dict[str, list[Any]]:
    """Matches and pairs apart of the training folds."""
    rng, found = np.random.default_rng(0), {"match": list[Any](), "distinct": list[Any]()}
    for table, y in zip(train, labels_of(train), strict=True):
        records, pairs = as_dedupe(table, kinds), all_pairs(len(table))
        near = Blocking().fit([table]).pairs(table)
        share = MOST // len(train)
        for kind, wanted in (
            ("match", _some(pairs[y[pairs[:, 0]] == y[pairs[:, 1]]], share, rng)),
            ("distinct", _some(near[y[near[:, 0]] != y[near[:, 1]]], share // 2, rng)),
            ("distinct", _some(pairs[y[pairs[:, 0]] != y[pairs[:, 1]]], share // 2, rng)),
        ):
            found[kind] += [(records[a], records[b]) for a, b in wanted]
    return found


def _some(pairs: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return pairs[rng.permutation(len(pairs))[:most]]


def by_dedupe(results: Results, quick: bool) -> list[dict[str, Any]]:
    """A row per data set; amazon_google takes more than 15 minutes and is left out."""
    return [results.get(name, lambda n=name: run(n)) for name in (NAMES[:1] if quick else NAMES)]


def run(name: str) -> dict[str, Any]:
    """Train and partition."""
    dedupe = _dedupe()
    started = time.process_time()
    sets = raw_data.records(name)
    train, test = sets[:5], sets[5:]
    kinds = field_kinds(train)
    model = dedupe.Dedupe(variables(kinds), num_cores=1)
    records = [r for table in train for r in as_dedupe(table, kinds)]
    pairs = io.StringIO()
    dedupe.serializer.write_training(labelled(train, kinds), pairs)
    pairs.seek(0)
    model.prepare_training(dict(enumerate(records)), training_file=pairs, sample_size=500)
    model.train(index_predicates=False)
    found = []
    for table in test:
        labels = np.arange(len(table))
        for k, (members, _) in enumerate(model.partition(dict(enumerate(as_dedupe(table, kinds))), 0.5)):
            labels[list(members)] = len(table) + k
        found.append(labels)
    F, B = scores(labels_of(test), found)
    return {"data": name, "pairwise F": F, "B-cubed": B, "CPU seconds": time.process_time() - started}
