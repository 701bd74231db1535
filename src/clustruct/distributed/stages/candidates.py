"""Likely pairs: items are brought together by the keys they share, each part then looks for neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct._typing import Ints
from clustruct.distributed.engine import TO
from clustruct.distributed.workdir import Stats, Work
from clustruct.features import Blocking
from clustruct.features.neighbours import TermKeys, TermNeighbours, sorted_unique
from clustruct.features.vocabulary import Keys

from .parts import mixed, own_columns, spread, term_names

# ``way`` is twice the number of the field, and one more for pairs of terms.
KEYS = {"key": "uint64", "item": "int64", "weight": "float32", "way": "int16"}
PAIRS = {"a": "int64", "b": "int64"}


def blocking_of(work: Work) -> Blocking:
    """The blocking of the model; a table for a cluster has one."""
    found = work.features.blocking_
    assert found is not None
    return found


def make_keys(work: Work, k: int) -> Any:
    """Of each item of a part the keys under which it can be found, with their weights."""
    import pandas as pd

    blocking, columns, first = blocking_of(work), own_columns(work, k), int(work.starts[k])
    common, most = blocking.limits(work.n_items)
    frames = []
    for number, field in enumerate(blocking.weights_):
        found = TermKeys.of(blocking.rows(columns, field), common, most)
        longest = common if field else max(common, blocking.rare)
        frames += [
            _frame(*_terms(found, longest), first, 2 * number, field),
            _frame(*_pairs(found), first, 2 * number + 1, field),
        ]
    every = pd.concat(frames, ignore_index=True)
    every[TO] = spread(every["key"].to_numpy(), work.n_partitions)
    return every


def _terms(found: TermKeys, most: int) -> tuple[Ints, Keys, Any]:
    """Item, key and weight of the terms that are looked at by themselves."""
    indptr, terms, weights = found.rows
    items = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    n = found.n_with[terms]
    kept = (n > 1) & (n <= most)
    return items[kept], found.names[terms[kept]], weights[kept]


def _pairs(found: TermKeys) -> tuple[Ints, Keys, Any]:
    """The same of pairs of terms, whose keys do not depend on the numbers that terms have here."""
    indptr, both, weights = found.pairs
    items = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    one, other = found.names[both >> np.uint64(32)], found.names[both & np.uint64(0xFFFFFFFF)]
    return items, mixed(np.minimum(one, other), np.maximum(one, other)), weights


def _frame(items: Ints, keys: Keys, weights: Any, first: int, way: int, field: str) -> Any:
    import pandas as pd

    named = term_names(f"{way} {field}", keys)
    return pd.DataFrame({"key": named, "item": items + first, "weight": weights, "way": np.int16(way)})


def gather_keys(work: Work, k: int, frame: Any) -> Stats:
    """All items of a key, for each part that has one of them; none of a key of one item or of too many."""
    blocking = blocking_of(work)
    common, _ = blocking.limits(work.n_items)
    key, item, way = (frame[name].to_numpy() for name in ("key", "item", "way"))
    order = np.lexsort((item, key))
    key, item, way, weight = key[order], item[order], way[order], frame["weight"].to_numpy()[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, int)
    sizes = np.diff(np.append(starts, len(key)))
    longest = np.where(way[starts] == 0, max(common, blocking.rare), common)
    kept = (sizes > 1) & (sizes <= longest)
    which, part, entry = _by_part(starts[kept], sizes[kept], work.owner(item))
    columns = {"part": part.astype(np.int32), "key": key[entry], "item": item[entry]}
    work.write("keys", k, {**columns, "weight": weight[entry], "way": way[entry]})
    # With ever more parts the entries become as many as the squares of the lengths of lists.
    told = {"keys": int(np.count_nonzero(kept)), "entries": len(entry), "made": len(key), "lists": len(which)}
    return {**told, "squares": int((sizes[kept] ** 2).sum())}


def _by_part(starts: Ints, sizes: Ints, owner: Ints) -> tuple[Ints, Ints, Ints]:
    """Lists of entries, each once for each part that owns one of them: list, part and entry of every row.

    Lists are stretches of entries of length ``sizes`` from ``starts`` on; owners rise within a list.
    """
    number = np.repeat(np.arange(len(starts)), sizes)
    within = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = np.repeat(starts, sizes) + within
    first = (within == 0) | (owner[entry] != owner[np.maximum(entry - 1, 0)])
    lists, parts = number[first], owner[entry[first]]
    again = np.repeat(np.arange(len(lists)), sizes[lists])
    place = np.arange(len(again)) - np.repeat(np.cumsum(sizes[lists]) - sizes[lists], sizes[lists])
    return lists, parts[again], starts[lists[again]] + place


def make_lists(work: Work, k: int) -> Any:
    """The lists of items on their way to the parts."""
    import pandas as pd

    held = work.read("keys", k)
    return pd.DataFrame({TO: held.pop("part"), **held})


def find_neighbours(work: Work, k: int, frame: Any) -> Stats:
    """The likely pairs that the items of a part have with any."""
    blocking, (first, last) = blocking_of(work), work.starts[k : k + 2]
    found = [np.zeros((0, 2), np.int64)]
    way = frame["way"].to_numpy()
    for number, field in enumerate(blocking.weights_):
        own = frame[way // 2 == number]
        if len(own):
            found.append(_nearest(blocking, field, own, int(first), int(last), work.n_items))
    pairs = np.concatenate(found)
    work.write("neighbours", k, {"a": pairs[:, 0], "b": pairs[:, 1]})
    return {"pairs": len(pairs)}


def _nearest(blocking: Blocking, field: str, frame: Any, first: int, last: int, m: int) -> Ints:
    item, key = frame["item"].to_numpy(), frame["key"].to_numpy()
    weight, paired = frame["weight"].to_numpy(), frame["way"].to_numpy() % 2 == 1
    items = np.unique(item)
    own = range(int(np.searchsorted(items, first)), int(np.searchsorted(items, last)))
    rows = [
        _rows(np.searchsorted(items, item[at]), key[at], weight[at], len(items)) for at in (~paired, paired)
    ]
    (terms, n_with), (pairs, n_with_pair) = rows
    near = TermNeighbours(terms, n_with, pairs, n_with_pair, blocking.limits(m)[0], asked=own)
    local = np.column_stack(np.divmod(sorted_unique(blocking.found(field, near)), len(items)))
    mine = ((local >= own.start) & (local < own.stop)).any(axis=1)
    return items[local[mine]]


def _rows(item: Ints, key: Keys, weight: Any, m: int) -> tuple[Any, Ints]:
    """Sparse rows of m items, their terms numbered in the order of keys, and the items of each term."""
    distinct, number = np.unique(key, return_inverse=True)
    order = np.lexsort((number, item))
    indptr = np.zeros(m + 1, np.int64)
    np.cumsum(np.bincount(item, minlength=m), out=indptr[1:])
    n_with = np.bincount(number, minlength=len(distinct))
    return (indptr, number[order].astype(np.int32), weight[order]), n_with


def make_pairs(work: Work, k: int) -> Any:
    """Pairs on their way to the part of their first item."""
    import pandas as pd

    held = work.read("neighbours", k)
    return pd.DataFrame({TO: work.owner(held["a"]).astype(np.int32), **held})


def take_pairs(work: Work, k: int, frame: Any) -> Stats:
    """The pairs of a part, each once, in order."""
    keys = sorted_unique(frame["a"].to_numpy() * np.int64(work.n_items) + frame["b"].to_numpy())
    a, b = np.divmod(keys, work.n_items)
    work.write("pairs", k, {"a": a, "b": b})
    return {"pairs": len(keys)}
