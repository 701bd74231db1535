"""Neighbours by sorted texts, for items whose words are too common to be looked up.

The items are sorted by one field and then by the others, from the field that tells most apart, and again from
each of the next; each item is paired with those beside it. Rows that differ in a field or two stand side by
side where the sorting begins with another one. The order is that of folded texts: it depends neither on the
order of rows nor on how often a word is there.

Cost: a few sorts of the items, and a bounded number of pairs for each item that asks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustruct.core.typing import Ints

from .columns import Columns

# Fields that a sorting begins with, and how many items on either side are neighbours.
MOST_ORDERS, WINDOW = 4, 3
# With more sources than this the items beside one are looked through, whatever their source.
MOST_SOURCES = 20


def sorted_neighbours(
    columns: Columns, fields: Sequence[str], asked: Ints, sources: Ints | None = None
) -> Ints:
    """Pairs a m + b, a < b, of items that were asked for with those beside them, of other sources."""
    m, found = len(columns), [np.zeros(0, np.int64)]
    ranks = _ranks(columns, fields)
    there = np.logical_or.reduce([columns.texts(field).present for field in fields])
    for k in range(min(len(ranks), MOST_ORDERS)):
        order = np.lexsort([*reversed(ranks[:k] + ranks[k + 1 :]), ranks[k]])
        order = order[there[order]]  # what has no value is beside nothing
        groups = [None] if sources is None or len(np.unique(sources)) > MOST_SOURCES else np.unique(sources)
        for source in groups:
            chosen = order if source is None else order[sources[order] != source]  # type: ignore[index]
            own = asked if source is None else asked[sources[asked] == source]  # type: ignore[index]
            found += _beside(order, chosen, own, m)
    pairs = np.sort(np.concatenate([one.reshape(-1, 2) for one in found]), axis=1)
    apart = pairs[:, 0] != pairs[:, 1]
    if sources is not None:
        apart &= sources[pairs[:, 0]] != sources[pairs[:, 1]]
    return np.asarray(np.unique(pairs[apart] @ [m, 1]), np.int64)


def _beside(order: Ints, chosen: Ints, own: Ints, m: int) -> list[Ints]:
    """Items with those of the chosen ones that stand next to them in an order."""
    position = np.empty(m, np.int64)
    position[order] = np.arange(len(order))
    places = position[chosen]
    at, found = np.searchsorted(places, position[own]), []
    for step in (*range(-WINDOW, 0), *range(WINDOW + 1)):
        there = (at + step >= 0) & (at + step < len(chosen))
        found.append(np.column_stack([own[there], chosen[(at + step)[there]]]))
    return found


def _ranks(columns: Columns, fields: Sequence[str]) -> list[Ints]:
    """The place of each item's text among those of a field, for fields from the most telling on."""
    found = []
    for field in fields:
        texts = columns.texts(field)
        there, codes = np.unique(texts.codes, return_inverse=True)
        rank = np.empty(len(there), np.int64)
        rank[sorted(range(len(there)), key=lambda k: texts.values[there[k]])] = np.arange(len(there))
        share = np.bincount(codes) / max(len(codes), 1)
        found.append((-float(-(share * np.log(share)).sum()), field, rank[codes]))
    return [rank for _, _, rank in sorted(found, key=lambda one: one[:2]) if rank.max(initial=0) > 0]
