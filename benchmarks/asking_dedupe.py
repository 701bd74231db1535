"""dedupe's active labelling with the same number of answers, on the same records as `benchmarks.asking`.

    python -m benchmarks.asking_dedupe [abt_buy cora febrl3] [--answers 25,50,100] [--seeds 3]

The same simulated person answers what dedupe asks (``uncertain_pairs``) about the same part of the data;
after each number of answers dedupe is trained and partitions the rest, at its threshold of 0.5. In the
environment of the benchmarks.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import Any

import numpy as np

from benchmarks.asking import BY_DEDUPE, data
from clustruct.data import Table, field_kinds
from clustruct.evaluate.metrics import pairwise_scores
from studies.records.by_dedupe import as_dedupe, variables

NAMES = ("abt_buy", "cora", "febrl3")
# Records of the sample that dedupe draws its questions from; its own default.
SAMPLE = 1500


def answered(deduper: Any, truth: dict[frozenset[tuple[str, Any]], set[str]], n: int) -> int:
    """Answer n questions from the truth; how many were asked."""
    for asked in range(n):
        try:
            ((first, second),) = deduper.uncertain_pairs()
        except (IndexError, ValueError):
            return asked
        same = bool(truth[_key(first)] & truth[_key(second)])
        deduper.mark_pairs(
            {"match": [(first, second)] if same else [], "distinct": [] if same else [(first, second)]}
        )
    return n


def _key(record: dict[str, Any]) -> frozenset[tuple[str, Any]]:
    return frozenset(record.items())


def truth_of(records: list[dict[str, Any]], table: Table) -> dict[frozenset[tuple[str, Any]], set[str]]:
    """The clusters of records with the same values."""
    found: dict[frozenset[tuple[str, Any]], set[str]] = {}
    for record, label in zip(records, table.labels or (), strict=True):
        found.setdefault(_key(record), set()).add(str(label))
    return found


def f_after(name: str, n: int, seed: int) -> dict[str, float]:
    """Pairwise F on the rest after n answers."""
    import dedupe

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (what dedupe draws with)
    (train,), (test,) = data(name)
    kinds = field_kinds([train])
    records = as_dedupe(train, kinds)
    started = time.process_time()
    deduper = dedupe.Dedupe(variables(kinds), num_cores=1)
    deduper.prepare_training(dict(enumerate(records)), sample_size=SAMPLE)
    asked = answered(deduper, truth_of(records, train), n)
    deduper.train()
    labels = np.arange(len(test))
    for k, (members, _) in enumerate(deduper.partition(dict(enumerate(as_dedupe(test, kinds))), 0.5)):
        labels[list(members)] = len(test) + k
    f = pairwise_scores(test.labels, labels).f1
    return {"answers": asked, "f": float(f), "cpu_seconds": time.process_time() - started}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--answers", default="25,50,100")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    found = json.loads(BY_DEDUPE.read_text()) if BY_DEDUPE.is_file() else {}
    for name in args.names:
        for n in map(int, args.answers.split(",")):
            try:
                runs = [f_after(name, n, seed) for seed in range(args.seeds)]
            except Exception as error:  # dedupe cannot learn from so few, or from one kind of answer alone
                print(f"{name}, {n} answers: {type(error).__name__}: {error}", flush=True)
                continue
            found.setdefault(name, {})[str(n)] = runs
            mean = 100 * float(np.mean([run["f"] for run in runs]))
            print(f"{name}, {n} answers: F {mean:.1f} ({runs[0]['cpu_seconds']:.0f} CPU s a run)", flush=True)
            BY_DEDUPE.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
