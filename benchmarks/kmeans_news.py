"""Table 4.4's experiment on news, k given: `python -m benchmarks.kmeans_news [--sets 7]`.

The first sets of different groups (no story in two of them) of googlenews and uci_aggregator.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.nested_cv import ProtocolRow, nested_leave_one_out
from benchmarks.study import as_dict, save, show
from benchmarks.tasks import Task, news
from clustruct.baselines import PairKMeans, UntrainedKMeans
from clustruct.estimators import SupervisedKMeans

SOURCES = {"googlenews": ("title", "text"), "uci_aggregator": ("title",)}
METHODS: dict[str, tuple[Any, list[float] | None]] = {
    "Iterative": (SupervisedKMeans(oracle="iterative"), [0.1, 1.0, 10.0]),
    "Spectral": (SupervisedKMeans(oracle="spectral", max_iter=200), [0.1, 1.0, 10.0]),
    "Pair": (PairKMeans(), [0.1, 1.0]),
    "None": (UntrainedKMeans(), None),
}


def one_per_group(task: Task, most: int) -> list[int]:
    """The first set of each group, so that no story is in two of them."""
    first = {g: i for i, g in reversed(list(enumerate(task.groups)))}
    return sorted(first.values())[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=7)
    given = parser.parse_args()
    for source, fields in SOURCES.items():
        task = news(source, fields)
        sets, labels = task.take(one_per_group(task, given.sets))
        columns: dict[str, list[ProtocolRow]] = {}
        for name, (estimator, grid) in METHODS.items():
            columns[name] = nested_leave_one_out(estimator, sets, labels, C_grid=grid)
            save(f"news-{source}", {c: [as_dict(r) for r in rows] for c, rows in columns.items()})
        show(source, [f"set {i} (m={x.n_items})" for i, x in enumerate(sets)], columns)


if __name__ == "__main__":
    main()
