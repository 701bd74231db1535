"""How sure a precision is that was counted on held-out clusters.

The bound is that of Clopper and Pearson (1934) for an effective number of pairs, their number over the design
effect, as Korn and Graubard (1998) have it for samples of clusters. Clusters that wrong links join are one
unit: their errors are the same. Where few errors are seen their spread says little; then an error is taken to
be a wrong link between two usual clusters, which makes all pairs between them wrong
(``python -m benchmarks.promises scores`` has what these two are for).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import beta

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Floats, Ints
from clustruct.learning.problems.fold_losses import count_pairs

from .held_out import HeldOutPart

# One side of 95 %.
LEVEL = 0.05


class _PartCounts(NamedTuple):
    """`count_pairs` of the held-out clusters of a part, the labelled clusters in each predicted group that
    has one of their items, and how many items there are, and with a label.
    """

    counts: Floats
    clusters: Ints
    links: Ints
    items: tuple[int, int]

    @classmethod
    def of(cls, part: HeldOutPart, labels: Ints) -> Self:
        counts = count_pairs(part.truth, labels, part.clusters.tolist(), part.unknown_apart)
        known = part.truth != UNKNOWN
        touched = np.zeros(int(labels.max()) + 1, np.bool_)
        touched[labels[part.mine]] = True
        rows = known & touched[labels]
        links = np.unique(np.column_stack([part.truth[rows], labels[rows]]), axis=0)
        return cls(counts, part.clusters, links, (len(known), int(known.sum())))


class HeldOutPairs(NamedTuple):
    """Pairs of held-out clusters: together rightly, by a prediction, and by the truth; to which unit each
    cluster belongs, and the share of the items that have a label.
    """

    right: Floats
    found: Floats
    true: Floats
    unit: Ints
    labelled: float = 1.0

    @classmethod
    def of(cls, parts: Sequence[HeldOutPart], labels: Sequence[Ints]) -> Self:
        """Those of predicted groups; clusters that they join, in whichever part, are one unit."""
        made = [_PartCounts.of(part, y) for part, y in zip(parts, labels, strict=True)]
        counts = np.concatenate([part.counts for part in made])
        n = 1 + max(int(part.links[:, 0].max(initial=-1)) for part in made)
        ends, first = [], n
        for part in made:
            ends.append(part.links + np.array([0, first]))
            first += 1 + int(part.links[:, 1].max(initial=-1))
        a, b = np.concatenate(ends).T
        unit = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(first, first)))[1]
        items, known = np.sum([part.items for part in made], axis=0)
        clusters = np.concatenate([part.clusters for part in made])
        right, found, true = counts.T
        return cls(right, found, true, unit[clusters], float(known / items))

    @property
    def n_large(self) -> int:
        """How many clusters have two items at least."""
        return int(np.count_nonzero(self.true))

    @property
    def n_units(self) -> float:
        """The pairs found, over those that a wrong link of two clusters makes wrong: the square of the size
        of the usual item's cluster. Half of them count for either; the other half is seen where that has a
        label.
        """
        size = (1.0 + np.sqrt(1.0 + 8.0 * self.true)) / 2.0
        wrong = float((size @ size / size.sum()) ** 2) * (1.0 + self.labelled) / 2.0
        return min(float(self.found.sum()) / wrong, float(np.count_nonzero(self._by_unit(self.found))))

    def bounds(self) -> tuple[float, float]:
        """The lower and the upper 95 % bound of the precision; 0, 1 where nothing was found."""
        total = float(self.found.sum())
        if total <= 0.0:
            return 0.0, 1.0
        p = float(self.right.sum()) / total
        found = self._by_unit(self.found)
        k = int(np.count_nonzero(found))
        rest = self._by_unit(self.right) - p * found
        variance = float(rest @ rest) / total**2 * k / max(k - 1, 1)
        n = self.n_units
        return clopper_pearson(p, min(n, p * (1.0 - p) / variance) if variance > 0.0 else n)

    def _by_unit(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.unit, weights=values), np.float64)


def clopper_pearson(p: float, n: float) -> tuple[float, float]:
    """The lower and the upper 95 % bound, each of one side, of a share p of n, which need not be whole.

    >>> [round(bound, 3) for bound in clopper_pearson(1.0, 59.0)]
    [0.95, 1.0]
    """
    x = n * p
    low = float(beta.ppf(LEVEL, x, n - x + 1.0)) if x > 0.0 else 0.0
    high = float(beta.ppf(1.0 - LEVEL, x + 1.0, n - x)) if x < n else 1.0
    return low, high


def fewest_units(precision: float) -> float:
    """How many units without an error show a precision.

    >>> [round(fewest_units(p)) for p in (0.95, 0.99)]
    [58, 298]
    """
    return float(np.log(LEVEL) / np.log(precision))
