"""Scores of the pairs of a whole table that may decide about some of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import ItemSet, PairScores, pair_table

if TYPE_CHECKING:
    from clustruct.features import UncomparedPairs


class ReachedPairs(NamedTuple):
    """Pairs of some items of a table, numbered by these ``items``, with a column of scores for each weight
    vector.
    """

    items: Ints
    pairs: Ints
    values: Floats
    sources: Ints | None

    def scores(self, weights: Floats) -> PairScores:
        """The sum of the columns with these weights."""
        return PairScores(
            len(self.items), index=self.pairs, values=self.values @ weights, sources=self.sources
        )


def reach_pairs(x: ItemSet, rest: UncomparedPairs | None, named: Bools, W: Floats) -> ReachedPairs:
    """All compared pairs of the items that a chain of pairs with a positive score, by a column of W, ties to
    named ones.

    No best clustering has a cluster without such chains inside, so the clusters of the named items are those
    of the whole table. ``x`` lists the pairs of the named items, ``rest`` those that are not compared yet;
    without it ``x`` lists all.
    """
    index = x.pair_list
    values = np.asarray(pair_table(x, index) @ W, np.float64)
    if rest is not None:
        index, values = _follow_chains(index, values, rest, named, W)
    items = np.union1d(np.flatnonzero(named), index)
    sources = x.sources if rest is None else rest.sources
    return ReachedPairs(
        items, np.searchsorted(items, index), values, None if sources is None else sources[items]
    )


def _follow_chains(
    index: Ints, values: Floats, rest: UncomparedPairs, named: Bools, W: Floats
) -> tuple[Ints, Floats]:
    """The pairs with those of further items, round by round."""
    left, reached = rest.pair_list, named.copy()
    found, scored = [index], [values]
    while (new := _tied_items(found[-1], scored[-1], len(named)) & ~reached).any():
        reached |= new
        own = new[left].any(axis=1)
        found.append(left[own])
        scored.append(rest.scores(left[own], W))
        left = left[~own]
    return np.concatenate(found), np.concatenate(scored)


def _tied_items(index: Ints, values: Floats, n: int) -> Bools:
    """The items of a pair that scores above zero by one of the weight vectors."""
    tied = np.zeros(n, np.bool_)
    tied[index[(values > 0.0).any(axis=1)].ravel()] = True
    return tied
