"""Listed pairs as a loss of pair counts sees them: which are true, what each counts, and who has which."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.losses import PairCounts


class JudgedPairs:
    """p listed pairs of m items. Of pairs put together a counts ``true``, P counts ``weight``:

    0 for a pair that is not judged, ``background`` where the label of one item alone is known, else 1.
    """

    def __init__(
        self, truth: Ints, index: Ints, judged: Bools | None, known: Bools | None, background: float
    ) -> None:
        self.truth = canonical_labels(truth)
        first, second = (np.ascontiguousarray(side) for side in index.T)
        self.sides = first, second
        weight = np.ones(len(index))
        if known is not None:
            weight[known[first] != known[second]] = background
        if judged is not None:
            weight[~judged] = 0.0
        self.weight = weight
        self.true = np.asarray((self.truth[first] == self.truth[second]) & (weight > 0.0), np.float64)
        self.n_true = float(self.true.sum())

    def counts(self, together: Floats) -> PairCounts:
        """a, P and T for the pairs put together (1, else 0)."""
        return PairCounts(float(self.true @ together), float(self.weight @ together), self.n_true)

    @cached_property
    def graph(self) -> tuple[Ints, Ints, Ints]:
        """The pairs of each item: where they begin, the other items, and which pairs they are."""
        (first, second), p, m = self.sides, len(self.weight), self.truth.size
        rows = np.tile(np.arange(p), 2)
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        # scipy sorts by item; row numbers begin at 1 since it may drop zeros.
        table = sparse.csr_array((rows + 1, ends), shape=(m, m))
        return table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data - 1
