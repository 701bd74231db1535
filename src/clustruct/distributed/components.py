"""Connected components of the positive pairs, round by round; and the pairs inside them.

An edge leads from an item to a smaller one. In a round every edge is sent to the parts of both its ends; each
part finds the components of the edges it has, and leads every item to the smallest of its component. When
no part has a new edge, every item is led to the smallest of its whole component: a part that has the
smallest of an edge has all edges that lead there, and one that has the item all that lead away.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clustruct.core.typing import Ints
from clustruct.data import PairScores
from clustruct.features.neighbours import sorted_unique
from clustruct.pipeline import group

from .frequencies import spread
from .table_parts import READING
from .workdir import Stats, WorkDirectory, arrays, rows_to, write_text

EDGES = {"item": "int64", "root": "int64"}
INSIDE = {"component": "int64", "a": "int64", "b": "int64", "score": "float64"}
# Of the components of a part so many, with so many pairs there, are reported to `share_out`.
MOST_LARGE, LARGE = 64, 1000


def stars(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Of the components of some edges: each item but the smallest, and the smallest.

    >>> [found.tolist() for found in stars(np.array([7, 2, 9]), np.array([5, 7, 8]))]
    [[5, 7, 9], [2, 2, 8]]
    """
    items, ends = np.unique(np.concatenate([one, other]), return_inverse=True)
    i, j = ends.reshape(2, -1)
    graph = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(len(items), len(items)))
    number, label = sparse.csgraph.connected_components(graph, directed=False)
    smallest = np.full(number, len(items), np.int64)
    np.minimum.at(smallest, label, np.arange(len(items)))
    root = items[smallest[label]] if len(items) else items
    others = items != root
    return items[others], root[others]


def make_first_edges(work: WorkDirectory, k: int) -> Any:
    """The components of the positive pairs of one part."""
    held = work.read("scores", k)
    positive = held["score"] > 0.0
    return _edges_to_owners(work, *stars(held["a"][positive], held["b"][positive]))


def make_edges(before: str, work: WorkDirectory, k: int) -> Any:
    """The edges of the round before."""
    held = work.read(before, k)
    return _edges_to_owners(work, held["item"], held["root"])


def _edges_to_owners(work: WorkDirectory, item: Ints, root: Ints) -> Any:
    """Edges on their way to the parts of both ends."""
    one, other = work.owner(item), work.owner(root)
    apart = one != other
    return rows_to(
        np.concatenate([one, other[apart]]),
        {"item": np.concatenate([item, item[apart]]), "root": np.concatenate([root, root[apart]])},
    )


def join_edges(stage: str, work: WorkDirectory, k: int, table: Any) -> Stats:
    """The components of the edges of a part; how many edges are new."""
    held = arrays(table)
    keys = _keys(work, held["item"], held["root"])
    item, root = stars(*np.divmod(keys, work.n_items))
    work.write(stage, k, {"item": item, "root": root})
    return {"edges": len(item), "new": len(np.setxor1d(keys, _keys(work, item, root)))}


def _keys(work: WorkDirectory, item: Ints, root: Ints) -> Ints:
    return sorted_unique(item * np.int64(work.n_items) + root)


def component_of(work: WorkDirectory, stage: str, k: int) -> Ints:
    """The smallest item of the component of each item of a part; -1 for an item without positive pairs."""
    first, last = work.starts[k : k + 2]
    held, found = work.read(stage, k), np.full(int(last - first), -1, np.int64)
    for name in ("root", "item"):
        own = (held[name] >= first) & (held[name] < last)
        found[held[name][own] - first] = held["root"][own]
    return found


def make_inside(stage: str, work: WorkDirectory, k: int) -> Any:
    """Pairs of which the item of this part has a component, on their way to the part of the other."""
    held = work.read("scores", k)
    owners = work.owner(held["a"]), work.owner(held["b"])
    first = owners[0] == k
    own = np.where(first, held["a"], held["b"])
    component = component_of(work, stage, k)[own - work.starts[k]]
    kept = component >= 0
    pairs = {name: column[kept] for name, column in held.items()}
    return rows_to(np.where(first, owners[1], owners[0])[kept], {"component": component[kept], **pairs})


def take_inside(stage: str, work: WorkDirectory, k: int, table: Any) -> Stats:
    """The pairs that lie inside a component."""
    held = arrays(table)
    known, start = component_of(work, stage, k), work.starts[k]
    ends = [np.where(work.owner(held[end]) == k, held[end] - start, -1) for end in ("a", "b")]
    # Of a pair inside the part both ends are looked at, of another the one that is here.
    inside = np.all([(end < 0) | (known[end] == held["component"]) for end in ends], axis=0)
    work.write("inside", k, {name: held[name][inside] for name in INSIDE})
    component, sizes = np.unique(held["component"][inside], return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:MOST_LARGE]
    largest = largest[sizes[largest] >= LARGE]
    large = np.column_stack([component[largest], sizes[largest]]).tolist()
    return {"pairs": int(np.count_nonzero(inside)), "large": large}


# Clusters of components, in tasks of even cost; and their numbers, by first appearance in the table.
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


def make_numbers(work: WorkDirectory, k: int) -> Any:
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
