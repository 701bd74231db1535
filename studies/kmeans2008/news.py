"""Table 4.4's experiment on news that is to be had, k given: the first sets of different groups.

No story is in two of them.
"""

from __future__ import annotations

from typing import Any

from clustruct.estimators import SupervisedKMeans
from clustruct.estimators.baselines import PairKMeans, UntrainedKMeans
from studies.kmeans2008.protocol import Methods, as_dict
from studies.nested_cv import nested_leave_one_out
from studies.results import Results
from studies.tasks import Task, news

SOURCES = {"googlenews": ("title", "text"), "uci_aggregator": ("title",)}
# Table 4.2. With these C the problem is that of the paper, in its units.
GRID = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]
TRAINED = {"rescale": False, "max_iter": 1000}
METHODS: Methods = {
    "Iterative": (SupervisedKMeans(oracle="iterative", **TRAINED), GRID),
    "Spectral": (SupervisedKMeans(oracle="spectral", **TRAINED), GRID),
    "Centred": (SupervisedKMeans(oracle="centred", **TRAINED), GRID),
    "Pair": (PairKMeans(max_pairs=2000), [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0]),
    "None": (UntrainedKMeans(), None),
}


def one_per_group(task: Task, most: int) -> list[int]:
    """The first set of each group, so that no story is in two of them."""
    first = {g: i for i, g in reversed(list(enumerate(task.groups)))}
    return sorted(first.values())[:most]


def by_source(results: Results, quick: bool, *, source: str) -> dict[str, list[dict[str, Any]]]:
    """Seven sets; --quick: three, untrained."""
    task = news(source, SOURCES[source])
    sets, labels = task.take(one_per_group(task, 3 if quick else 7))
    columns: dict[str, list[dict[str, Any]]] = {}
    for name, (estimator, grid) in METHODS.items():
        if quick and grid is not None:
            continue
        keep = lambda key, make, name=name: results.get(f"{name}, {key}", make)  # noqa: E731
        rows = nested_leave_one_out(estimator, sets, labels, C_grid=grid, keep=keep)
        columns[name] = [as_dict(row, f"set {row.test} (m = {sets[row.test].n_items})") for row in rows]
    return columns
