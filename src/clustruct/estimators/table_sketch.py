"""What the pairs of the table learned from are like, and how far the next table is from it.

A promise of precision speaks of tables like the one it was learned from. What counts is not whether another
table differs, which of large tables is always so, but how much: the distance between the distributions of
what the surest pair of each item has, less what random halves of the first table differ by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores

# Items whose surest pairs are looked at.
MOST_ITEMS = 2000
LEVELS = np.linspace(0.0, 1.0, 41)
# How often the items are dealt into halves, and how many times what halves differ by is taken for chance: the
# feature that differs most, of a hundred, does so by more than the usual one.
DEALS, TIMES = 10, 2.0
# From this difference on the promise is withdrawn. The other half of a made table differed
# by .03 to .08, tables with more errors, more households or emptier columns by .1 to 1.
FAR = 0.08
# Features with this in their name are not looked at: how rare a word is depends on which rows a table has.
# They differ by .3 between two halves of a table.
OF_RARITY = "rarest shared"
# Of more features the score alone is looked at.
MOST_FEATURES = 300
# With fewer items nothing is known.
FEWEST_ITEMS = 50


class Difference(NamedTuple):
    """The largest distance of two distributions beyond chance, and of what."""

    distance: float
    name: str

    @property
    def is_far(self) -> bool:
        return self.distance > FAR


@register("TableSketch")
@dataclass(frozen=True)
class TableSketch(DataclassState):
    """Quantiles of each feature, and of the score, over the surest pairs of the items of a table; ``spread``
    is how much two random halves of it differ, in the mean, ``alone`` the share of items that were compared
    with nothing.

    >>> rng = np.random.default_rng(0)
    >>> sketch = TableSketch.of(rng.normal(size=(400, 2)), ["name: same", "score"])
    >>> sketch.differs_from(rng.normal(size=(400, 2))).is_far
    False
    >>> sketch.differs_from(rng.normal(size=(400, 2)) + [0.0, 1.0]).name
    'score'
    """

    names: list[str]
    quantiles: NDArray[np.float64]
    spread: NDArray[np.float64]
    n_items: int
    alone: float = 0.0

    def __post_init__(self) -> None:
        n = len(self.names)
        if np.shape(self.quantiles) != (n, len(LEVELS)) or np.shape(self.spread) != (n,) or self.n_items < 2:
            raise ValueError("the sketch of a table does not fit")

    @classmethod
    def of(cls, values: Floats, names: Sequence[str], alone: float = 0.0) -> Self:
        """The sketch by the values (items x features) of the surest pairs."""
        rng, n = np.random.default_rng(0), len(values)
        halves = []
        for _ in range(DEALS):
            order = rng.permutation(n)
            halves.append(_distances(_quantiles(values[order[: n // 2]]), values[order[n // 2 :]]))
        return cls(list(names), _quantiles(values), np.mean(halves, axis=0), n, alone)

    def differs_from(self, values: Floats, alone: float = 0.0) -> Difference:
        """How far another table's surest pairs are from these."""
        chance = self.spread * np.sqrt((1.0 / self.n_items + 1.0 / len(values)) * self.n_items / 4.0)
        beyond = _distances(self.quantiles, values) - TIMES * chance
        beyond[[OF_RARITY in name for name in self.names]] = 0.0
        worst = int(np.argmax(beyond))
        if abs(alone - self.alone) > beyond[worst]:
            return Difference(abs(alone - self.alone), "rows compared with nothing")
        return Difference(float(beyond[worst]), self.names[worst])


class SurestPairs(NamedTuple):
    """The pair of the highest score of each of some items, that score, and the share of these items that were
    compared with nothing.
    """

    pairs: Ints
    scores: Floats
    alone: float

    @classmethod
    def of(cls, scores: PairScores, items: Bools | None = None) -> Self:
        """Those of some items, all by default, or of as many of them as are looked at."""
        listed = scores.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        wanted = np.ones(scores.n_items, np.bool_) if items is None else items
        ends = listed.index.T.ravel()
        order = np.lexsort((-np.tile(listed.values, 2), ends))
        owners, first = np.unique(ends[order], return_index=True)
        rows = (order[first] % max(len(listed.values), 1))[wanted[owners]]
        alone = 1.0 - len(rows) / max(int(np.count_nonzero(wanted)), 1)
        if len(rows) > MOST_ITEMS:
            rows = rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:MOST_ITEMS])]
        return cls(listed.index[rows], listed.values[rows], float(alone))


def _quantiles(values: Floats) -> Floats:
    return np.asarray(np.quantile(values, LEVELS, axis=0).T, np.float64)


def _distances(quantiles: Floats, values: Floats) -> Floats:
    """The largest difference of the two distribution functions, for each feature, at the given quantiles.

    Values that many items share are counted as a whole: below, and up to them.
    """
    found = np.zeros(len(quantiles))
    for k, (q, v) in enumerate(zip(quantiles, np.sort(values, axis=0).T, strict=True)):
        for side in ("left", "right"):
            own = np.searchsorted(q, q, side) / len(q)
            other = np.searchsorted(v, q, side) / len(v)
            found[k] = max(found[k], float(np.abs(own - other).max()))
    return found
