"""Held-out clusters among the neighbours that prediction will meet.

Of a table with few labels the pairs that touch a labelled item are compared, no others: an unlabelled item
whose own mate has no label either is free for a wrong one, and held-out precision is too low. After training
it is known which unlabelled items a held-out cluster may take: their other pairs are scored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores

from .held_out import HeldOutPart

# So many further pairs are scored at most for each pair that was compared in training.
MOST = 1.0


class Unlisted(Protocol):
    """Pairs of a set that training did not compare: `clustruct.features.Rest` is one.

    pairs : p x 2, the smaller item first, of unlabelled items
    sources : of the items of the set, where those of one source are kept apart
    """

    @property
    def pairs(self) -> Ints:
        """The pairs, one row each."""

    @property
    def sources(self) -> Ints | None:
        """The number of each item's source, where items of one source are kept apart."""

    def scores(self, pairs: Ints, W: Floats) -> Floats:
        """<w, psi_ab> of some pairs, for each column w of W."""
        ...


def with_neighbours(
    parts: Sequence[HeldOutPart], rest: Sequence[Unlisted | None], low: float
) -> list[HeldOutPart]:
    """The parts with the pairs of those unlabelled items that score more than ``low`` with a held-out item.

    rest : for each set the pairs that were not compared, or None
    """
    found = list(parts)
    for number, one in enumerate(rest):
        which = [k for k, part in enumerate(parts) if part.set_number == number]
        if one is None or not which or not len(one.pairs):
            continue
        own = [parts[k] for k in which]
        pairs = _wanted(own, one.pairs, low)
        scores = one.scores(pairs, np.column_stack([part.w for part in own]))
        for column, k in enumerate(which):
            found[k] = _joined(parts[k], pairs, scores[:, column], one.sources)
    return found


def _wanted(parts: Sequence[HeldOutPart], pairs: Ints, low: float) -> Ints:
    """Pairs of the items that score highest with held-out ones, as many items as there is room for."""
    m = 1 + max(int(pairs.max()), *(int(part.items.max()) for part in parts))
    best = np.full(m, -np.inf)
    for part in parts:
        assert part.scores.index is not None
        assert part.scores.values is not None
        for side, other in ((0, 1), (1, 0)):
            a, b = part.scores.index[:, side], part.scores.index[:, other]
            mixed = part.mine[a] & (part.truth[b] == UNKNOWN)
            np.maximum.at(best, part.items[b[mixed]], part.scores.values[mixed])
    near = np.flatnonzero(best > low)
    near = near[np.argsort(-best[near], kind="stable")]
    n_pairs = np.bincount(pairs.ravel(), minlength=m)
    room = MOST * max(len(part.scores.index) for part in parts if part.scores.index is not None)
    chosen = np.zeros(m, np.bool_)
    chosen[near[np.cumsum(n_pairs[near]) <= room]] = True
    return pairs[chosen[pairs].any(axis=1)]


def _joined(part: HeldOutPart, pairs: Ints, values: Floats, sources: Ints | None) -> HeldOutPart:
    """The part with further pairs, and the items that only they have."""
    assert part.scores.index is not None
    assert part.scores.values is not None
    items = np.union1d(part.items, pairs)
    old = np.searchsorted(items, part.items)
    index = np.concatenate([old[part.scores.index], np.searchsorted(items, pairs)])
    scores = PairScores(
        len(items),
        index=index,
        values=np.concatenate([part.scores.values, values]),
        sources=None if sources is None else sources[items],
    )
    truth, mine = np.full(len(items), UNKNOWN, np.int64), np.zeros(len(items), np.bool_)
    truth[old], mine[old] = part.truth, part.mine
    return replace(part, scores=scores, truth=truth, mine=mine, items=items)
