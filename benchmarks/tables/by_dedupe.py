"""dedupe on a table: ``python -m benchmarks.tables.by_dedupe learn|group SHAPE TABLE MODEL [GROUPS]``.

Learns from the labelled rows alone: matches (at most 500) and as many pairs apart, half of them near each
other, half at random. Pairs are scored once; the threshold is the one whose clusters have the best pairwise F
over the pairs that touch a labelled row.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from pathlib import Path
from typing import Any

import dedupe
import numpy as np

from benchmarks.tables.files import Record, read_labels, read_records, write_groups
from benchmarks.tables.scores import Labels, known_labels, touching
from clustruct.data import Table
from clustruct.features import Blocking

MOST = 500
MOST_MEMORY = 8 * 2**30  # preparing its training with 10,000 persons took over 13 GB
RECALL = 0.95  # of its blocking rules; 1 makes it take "town is there" as a rule, which joins nearly all rows
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
LONG = ("title", "description")


def variables(fields: list[str]) -> list[Any]:
    """Text for long fields; for all others short strings, which are not indexed (that took over 13 GB)."""
    made = {True: dedupe.variables.Text, False: dedupe.variables.ShortString}
    kinds = {field: made[field in LONG] for field in fields}
    return [kind(field, has_missing=True) for field, kind in kinds.items()]


def labelled_pairs(records: list[Record], entity: Labels) -> dict[str, list[tuple[Record, Record]]]:
    """Matches and pairs apart of labelled records."""
    rng, m = np.random.default_rng(0), len(records)
    table = Table([{k: v or "" for k, v in record.items()} for record in records], list(entity))
    near = Blocking(from_size=0).fit([table]).pairs(table)
    far = rng.integers(0, m, (20 * MOST, 2))
    order = np.argsort(entity, kind="stable")
    mates = np.concatenate([np.column_stack([order[k:], order[: m - k]]) for k in (1, 2, 3)])
    together = _some(mates[entity[mates[:, 0]] == entity[mates[:, 1]]], MOST, rng)
    apart = [_some(p[entity[p[:, 0]] != entity[p[:, 1]]], len(together) // 2, rng) for p in (near, far)]
    chosen = {"match": together, "distinct": np.concatenate(apart)}
    return {kind: [(records[a], records[b]) for a, b in pairs] for kind, pairs in chosen.items()}


def _some(pairs: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return pairs[rng.permutation(len(pairs))[:most]]


def learn(table: Path, model: Path) -> None:
    """Train on the labelled rows, and save the model."""
    records = read_records(table)
    entity, labelled = read_labels(table)
    mine = np.flatnonzero(labelled)
    learner = dedupe.Dedupe(variables(list(records[0])), num_cores=1)
    told, shown = io.StringIO(), [records[k] for k in mine]
    dedupe.serializer.write_training(labelled_pairs(shown, entity[mine]), told)
    told.seek(0)
    learner.prepare_training(dict(enumerate(shown)), training_file=told, sample_size=500)
    learner.train(recall=RECALL, index_predicates=False)
    with model.open("wb") as file:
        learner.write_settings(file)


def group(table: Path, model: Path, groups: Path) -> float:
    """Score the pairs, choose the threshold by the labels, cluster. The threshold is returned."""
    records = dict(enumerate(read_records(table)))
    entity, labelled = read_labels(table)
    known = known_labels(entity, labelled)
    with model.open("rb") as file:
        trained = dedupe.StaticDedupe(file, num_cores=1)
    scores = trained.score(trained.pairs(records))
    answers = {t: _clusters(trained, scores, t, len(records)) for t in THRESHOLDS}
    best = max(THRESHOLDS, key=lambda t: touching(known, answers[t], labelled).f1)
    write_groups(groups, answers[best])
    return best


def _clusters(trained: Any, scores: Any, threshold: float, m: int) -> Labels:
    labels = np.arange(m)
    for k, (members, _) in enumerate(trained.cluster(np.array(scores), threshold)):
        labels[list(members)] = m + k
    return labels


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    step, _, *paths = sys.argv[1:]
    files = [Path(p) for p in paths]
    if step == "learn":
        learn(*files)
    else:
        files[-1].with_suffix(".json").write_text(json.dumps({"threshold": group(*files)}))


if __name__ == "__main__":
    main()
