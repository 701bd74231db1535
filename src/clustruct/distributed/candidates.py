"""Likely pairs: items are brought together by the keys they share, each part then looks for neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.core.typing import Bools, Ints
from clustruct.features.neighbours import TermKeys, TermNeighbours, sorted_unique
from clustruct.features.vocabulary import Keys, Numbers, mix_keys, number_keys, stable_order

from .frequencies import TABLES, kept_tables, spread, term_names
from .table_parts import blocking_of
from .workdir import Stats, WorkDirectory, arrays, rows_to

# ``way`` is twice the number of the field, and one more for pairs of terms; below zero for whole rows.
KEYS = {"key": "uint64", "item": "int64", "weight": "float32", "way": "int16"}
WHOLE_ROW = -1
PAIRS = {"a": "int64", "b": "int64"}


def make_keys(work: WorkDirectory, k: int) -> Any:
    """Of each item of a part the keys under which it can be found, with their weights."""
    import pyarrow as pa

    blocking, first = blocking_of(work), int(work.starts[k])
    common, most = blocking.limits(work.n_items)
    found = []
    for number, (field, table) in enumerate(kept_tables(work, k)):
        keys = TermKeys.of(blocking.weights_[field].rows(table), common, most)
        longest = common if field else max(common, blocking.rare)
        found.append(_rows_by_name(*_terms(keys, longest), first, 2 * number, field, work))
        found.append(_rows_by_name(*_pairs(keys), first, 2 * number + 1, field, work))
    held = work.read_arrays(TABLES, k)
    items = np.flatnonzero(held["rows there"])
    weights = np.zeros(len(items), np.float32)
    found.append(_rows_by_name(items, held["rows"][items], weights, first, WHOLE_ROW, "", work))
    return pa.concat_tables(found)


def _terms(found: TermKeys, most: int) -> tuple[Ints, Keys, Any]:
    """Item, key and weight of the terms that are looked at by themselves."""
    indptr, terms, weights = found.rows
    items = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    n = found.frequency[terms]
    kept = (n > 1) & (n <= most)
    return items[kept], found.names[terms[kept]], weights[kept]


def _pairs(found: TermKeys) -> tuple[Ints, Keys, Any]:
    """The same of pairs of terms, whose keys do not depend on the numbers that terms have here."""
    indptr, both, weights = found.pairs
    items = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    one, other = found.names[both >> np.uint64(32)], found.names[both & np.uint64(0xFFFFFFFF)]
    return items, mix_keys(np.minimum(one, other), np.maximum(one, other)), weights


def _rows_by_name(
    items: Ints, keys: Keys, weights: Any, first: int, way: int, field: str, work: WorkDirectory
) -> Any:
    named = term_names(f"{way} {field}", keys)
    columns = {
        "key": named,
        "item": items + first,
        "weight": weights,
        "way": np.full(len(items), way, np.int16),
    }
    return rows_to(spread(named, work.n_partitions), columns)


def gather_keys(work: WorkDirectory, k: int, table: Any) -> Stats:
    """All items of a key, in order; none of a key of one item or of too many. Of equal rows, however many,
    the first with each other one is a pair.
    """
    blocking, held = blocking_of(work), arrays(table)
    common, _ = blocking.limits(work.n_items)
    distinct, number = number_keys(held["key"])
    sizes, way = np.bincount(number, minlength=len(distinct)), np.zeros(len(distinct), np.int16)
    way[number] = held["way"]
    _write_equal_pairs(work, k, held["item"], number, way == WHOLE_ROW)
    kept = (
        (sizes > 1) & (way != WHOLE_ROW) & (sizes <= np.where(way == 0, max(common, blocking.rare), common))
    )
    chosen = np.flatnonzero(kept[number])
    order = chosen[_in_lists(number[chosen], held["item"][chosen], len(distinct))]
    work.write("keys", k, {name: column[order] for name, column in held.items()})
    stats = {"keys": int(np.count_nonzero(kept)), "listed": len(order), "made": len(table)}
    # With ever more parts as many entries are exchanged as the squares of the lengths of lists have in sum.
    return {**stats, "squares": int((sizes[kept] ** 2).sum())}


def _write_equal_pairs(work: WorkDirectory, k: int, item: Ints, number: Numbers, whole: Bools) -> None:
    """The pairs of the first of equal rows with each other one."""
    rows = np.flatnonzero(whole[number])
    first = np.full(len(whole), work.n_items, np.int64)
    np.minimum.at(first, number[rows], item[rows])
    a, b = first[number[rows]], item[rows]
    work.write("equal", k, {"a": a[a != b], "b": b[a != b]})


def _in_lists(number: Numbers, item: Ints, n: int) -> Ints:
    """The order by number, items of one rising; as they mostly do where parts came in order."""
    order = stable_order(number, n)
    number, item = number[order], item[order]
    if ((item[1:] > item[:-1]) | (number[1:] != number[:-1])).all():
        return order
    return np.asarray(order[np.lexsort((item, number))])


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


def make_lists(work: WorkDirectory, k: int) -> Any:
    """The lists of items on their way, each to every part that has one of its items."""
    held = work.read("keys", k)
    key = held["key"]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, int)
    _, part, entry = _by_part(starts, np.diff(np.append(starts, len(key))), work.owner(held["item"]))
    return rows_to(part, {name: column[entry] for name, column in held.items()})


def find_neighbours(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The likely pairs that the items of a part have with any."""
    held, blocking = _by_key(arrays(table)), blocking_of(work)
    items, local = number_keys(held.pop("item").astype(np.uint64))
    own = range(*np.searchsorted(items, work.starts[k : k + 2].astype(np.uint64)).tolist())
    found = [np.zeros(0, np.int64)]
    for number, field in enumerate(blocking.weights_):
        terms, pairs = (_rows(held, local, way, len(items)) for way in (2 * number, 2 * number + 1))
        near = TermNeighbours(*terms, *pairs, blocking.limits(work.n_items)[0], asked=own)
        found.append(sorted_unique(blocking.neighbour_pairs(field, near)))
    a, b = np.divmod(sorted_unique(np.concatenate(found)), max(len(items), 1))
    mine = ((a >= own.start) & (a < own.stop)) | ((b >= own.start) & (b < own.stop))
    numbers = items.astype(np.int64)
    work.write("neighbours", k, {"a": numbers[a[mine]], "b": numbers[b[mine]]})
    return {"pairs": int(np.count_nonzero(mine)), "entries": len(table)}


def _by_key(held: dict[str, Any]) -> dict[str, Any]:
    """Entries in the order of keys, as they are where parts came in order, the keys numbered."""
    key = held["key"]
    if (key[1:] < key[:-1]).any():
        order = np.lexsort((held["item"], key))
        held = {name: column[order] for name, column in held.items()}
    new = held["key"][1:] != held["key"][:-1]
    held["key"] = np.concatenate([[0], np.cumsum(new)]) if len(key) else np.zeros(0, np.int64)
    return held


def _rows(held: dict[str, Any], local: Numbers, way: int, m: int) -> tuple[Any, Ints]:
    """Sparse rows of m items, their terms those of one way in the order of keys; the items of each term."""
    chosen = np.flatnonzero(held["way"] == way)
    order = chosen[stable_order(local[chosen], m)]
    indptr = np.zeros(m + 1, np.int64)
    np.cumsum(np.bincount(local[chosen], minlength=m), out=indptr[1:])
    frequency = np.bincount(held["key"][chosen], minlength=int(held["key"][-1]) + 1 if m else 0)
    return (indptr, held["key"][order].astype(np.int32), held["weight"][order]), frequency


def make_pairs(work: WorkDirectory, k: int) -> Any:
    """Pairs on their way to the part that scores them."""
    held, equal = work.read("neighbours", k), work.read("equal", k)
    held = {name: np.concatenate([held[name], equal[name]]) for name in PAIRS}
    first, second = work.owner(held["a"]), work.owner(held["b"])
    # Of two parts each scores half of the pairs between them, though it asks for nearly all of the other.
    tie = held["a"] if work.n_partitions == 2 else first
    return rows_to(home(first, second, work.n_partitions, tie % 2 == 0), held)


def home(first: Ints, second: Ints, n: int, tie: Bools) -> Ints:
    """Which of two parts scores their pairs: each part has half of the others, next to it in a ring of n.

    tie : whether it is the first where both are as near

    >>> tie = np.array([True])
    >>> [home(np.array([0]), np.array([k]), 4, tie).tolist()[0] for k in range(4)]
    [0, 0, 0, 3]
    """
    gap = (second - first) % n
    return np.where((2 * gap < n) | ((2 * gap == n) & tie), first, second)


def take_pairs(work: WorkDirectory, k: int, table: Any) -> Stats:
    """The pairs of a part, each once, in order."""
    held = arrays(table)
    keys = sorted_unique(held["a"] * np.int64(work.n_items) + held["b"])
    a, b = np.divmod(keys, work.n_items)
    work.write("pairs", k, {"a": a, "b": b})
    return {"pairs": len(keys)}
