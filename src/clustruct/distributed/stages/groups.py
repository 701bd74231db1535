"""Clusters of components, in tasks of even cost; and their numbers, by first appearance in the table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.core.typing import Ints
from clustruct.data import PairScores
from clustruct.distributed.exchange import arrays, rows_to
from clustruct.distributed.workdir import Stats, WorkDirectory, write_text
from clustruct.pipeline import group

from .parts import READING, spread

GROUPS = {"item": "int64", "first": "int64"}
LABELS = {"item": "int64", "label": "int64"}
SHARED, NUMBERS = "shared.json", "numbers.json"


def share_out(work: WorkDirectory, inside: Sequence[Stats]) -> None:
    """Write down which task has each of the large components; all others go by their number.

    Large ones first, each to the task that has least to do so far.
    """
    sizes: dict[int, int] = {}
    for stats in inside:
        for component, size in stats["large"]:
            sizes[component] = sizes.get(component, 0) + size
    n = work.n_partitions
    rest = sum(stats["pairs"] for stats in inside) - sum(sizes.values())
    load, task = np.full(n, rest / n), dict[int, int]()
    for component in sorted(sizes, key=lambda c: (-sizes[c], c)):
        task[component] = int(np.argmin(load))
        load[task[component]] += sizes[component]
    path = Path(work.folder) / SHARED
    if not path.exists():
        write_text(path, json.dumps(task))


def warn_unfamiliar(work: WorkDirectory, scored: Sequence[Stats]) -> None:
    """Warn of a table that is far from what the model was shown, by some scores of each part."""
    some = np.array([value for stats in scored for value in stats["some"]], float)
    none = np.zeros((len(some), 2), np.int64)
    work.model[-1].warn_unfamiliar([PairScores(work.n_items, index=none, values=some)])


def make_components(work: WorkDirectory, k: int) -> Any:
    """Pairs on their way to the task of their component."""
    held = work.read("inside", k)
    given = json.loads((Path(work.folder) / SHARED).read_text())
    to = spread(held["component"].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), work.n_partitions)
    for component, task in given.items():
        to[held["component"] == int(component)] = task
    return rows_to(to, held)


def search_groups(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The clusters of all items of some components, each by its first item."""
    held = arrays(table)
    pairs = np.column_stack([held["a"], held["b"]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    items, number = np.unique(pairs[order], return_inverse=True)
    if not len(items):
        work.write("groups", k, {"item": items, "first": items})
        return {"items": 0, "clusters": 0, "pairs": 0}
    values = held["score"][order]
    scores = PairScores(len(items), index=number.reshape(-1, 2), values=values)
    labels = group(work.model, scores).labels  # of the table as a whole `warn_unfamiliar` speaks
    first = items[np.unique(labels, return_index=True)[1]][labels]
    work.write("groups", k, {"item": items, "first": first})
    return {"items": len(items), "clusters": int(labels.max()) + 1, "pairs": len(pairs)}


def make_members(work: WorkDirectory, k: int) -> Any:
    """Items on their way home."""
    held = work.read("groups", k)
    return rows_to(work.owner(held["item"]), held)


def take_members(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The first item of the cluster of each item of a part, which may be alone."""
    held = arrays(table)
    own = np.arange(*work.starts[k : k + 2])
    first = own.copy()
    first[held["item"] - work.starts[k]] = held["first"]
    work.write("members", k, {"first": first})
    return {"clusters": int(np.count_nonzero(first == own))}


def number_clusters(work: WorkDirectory, members: Sequence[Stats]) -> int:
    """Write down the number of the first cluster of each part; how many there are."""
    ends = np.cumsum([0, *(stats["clusters"] for stats in members)]).tolist()
    write_text(Path(work.folder) / NUMBERS, json.dumps(ends))
    return int(ends[-1])


def _numbers(work: WorkDirectory, k: int) -> tuple[Ints, Ints]:
    """First items of the items of a part, and the numbers of clusters that begin at each item (-1: none)."""
    begin = json.loads((Path(work.folder) / NUMBERS).read_text())[k]
    first = work.read("members", k)["first"]
    leads = first == np.arange(*work.starts[k : k + 2])
    return first, np.where(leads, begin + np.cumsum(leads) - 1, -1)


def make_strangers(work: WorkDirectory, k: int) -> Any:
    """Items whose cluster begins in another part."""
    first = work.read("members", k)["first"]
    owner = work.owner(first)
    away = np.flatnonzero(owner != k)
    return rows_to(owner[away], {"item": away + work.starts[k], "first": first[away]})


def number_strangers(work: WorkDirectory, k: int, table: Any) -> Stats:
    """Their numbers."""
    held, (_, numbers) = arrays(table), _numbers(work, k)
    work.write("numbers", k, {"item": held["item"], "label": numbers[held["first"] - work.starts[k]]})
    return {"items": len(table)}


def make_numbered(work: WorkDirectory, k: int) -> Any:
    """Numbers on their way home."""
    held = work.read("numbers", k)
    return rows_to(work.owner(held["item"]), held)


def write_labels(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The names of the items of a part, in the order of the table, with the numbers of their clusters."""
    held, start, (first, numbers) = arrays(table), work.starts[k], _numbers(work, k)
    owner = work.owner(first)
    label = numbers[np.where(owner == k, first - start, 0)] if len(first) else first
    label[held["item"] - start] = held["label"]
    id = work.about.id
    names: Any = np.arange(start + 1, start + 1 + len(first))
    if id is not None:
        names = work.read_table(READING, k, [id]).column(id)
    work.write("labels", k, {"id": names, "cluster": label})
    return {"items": len(first)}
