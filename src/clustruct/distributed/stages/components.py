"""Connected components of the positive pairs, round by round; and the pairs inside them.

An edge leads from an item to a smaller one. In a round every edge is told to the parts of both its ends; each
part finds the components of the edges it has, and leads every item to the smallest of its component. When
no part learns anything new, every item is led to the smallest of its whole component: a part that has the
smallest of an edge has all edges that lead there, and one that has the item all that lead away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clustruct.core.typing import Ints
from clustruct.distributed.exchange import arrays, rows_to
from clustruct.distributed.workdir import Stats, WorkDirectory
from clustruct.features.neighbours import sorted_unique

EDGES = {"item": "int64", "root": "int64"}
INSIDE = {"component": "int64", "a": "int64", "b": "int64", "score": "float64"}
# Of the components of a part so many, with so many pairs there, are told to who shares out the work.
MOST_TOLD, LARGE = 64, 1000


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
    return _told(work, *stars(held["a"][positive], held["b"][positive]))


def make_edges(before: str, work: WorkDirectory, k: int) -> Any:
    """The edges of the round before."""
    held = work.read(before, k)
    return _told(work, held["item"], held["root"])


def _told(work: WorkDirectory, item: Ints, root: Ints) -> Any:
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
    largest = np.argsort(-sizes, kind="stable")[:MOST_TOLD]
    largest = largest[sizes[largest] >= LARGE]
    told = np.column_stack([component[largest], sizes[largest]]).tolist()
    return {"pairs": int(np.count_nonzero(inside)), "large": told}
