"""The loss of one example: over all pairs, over the listed or judged ones, or where some labels are known."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse

from clustruct.core.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import all_pairs
from clustruct.losses import (
    CountForm,
    CountLoss,
    LinearLoss,
    Loss,
    LossState,
    NormalisedLoss,
    PairCountLoss,
    PairCounts,
    PartialLoss,
    TableForm,
    TableLoss,
)
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.correlation import EdgeDegrees


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


Output: TypeAlias = Ints | EdgeDegrees | RelaxedClustering | WeightedLinks
WAY_OUT = "use 'pairwise' or 'pairwise_f', or leave out items without a label (--skip-unlabelled)"


class ExampleLoss:
    """Delta(y_i, .) for one truth y_i: what a search maximises and what the constraint counts are this one
    thing.

    Without ``index``, ``judged`` and ``known`` it is the loss of the whole clustering. Where pairs are
    listed, or only some of them judged, a loss of pairs (pairwise, pairwise F) counts the judged ones among
    them; any other loss compares the two partitions as they are, and needs every pair judged.

    ``known`` is a mask of the items whose label is known (None: all). The others must each be alone in the
    truth, and a pair is judged when at least one of its items is known. ``right`` is the output that scores
    are compared with, the truth or one that makes it.

    >>> from clustruct.losses import PairwiseLoss
    >>> y = np.array([0, 0, 1])
    >>> some = ExampleLoss(PairwiseLoss(), y, index=np.array([[0, 1], [0, 2]]))
    >>> some(np.array([0, 0, 0])), some(y)
    (50.0, 0.0)
    """

    def __init__(
        self,
        loss: Loss,
        truth: Ints,
        index: Ints | None = None,
        judged: Bools | None = None,
        known: Bools | None = None,
    ) -> None:
        self.loss, self.truth = loss, canonical_labels(truth)
        self.right: Output = self.truth
        self.known = check_known_mask(known, truth)
        of_pairs = isinstance(loss, LinearLoss) or (isinstance(loss, PairCountLoss) and not loss.transitive)
        if judged is not None and not of_pairs:
            raise ValueError(f"{loss} compares whole partitions, but not every pair is judged: {WAY_OUT}")
        if self.known is not None and not (of_pairs or isinstance(loss, PartialLoss)):
            raise ValueError(f"{loss} compares whole partitions, but not every label is known: {WAY_OUT}")
        self.by_pairs = of_pairs and not (index is None and judged is None and self.known is None)
        if self.by_pairs and index is None:
            index = all_pairs(truth.size)
        if self.by_pairs and self.known is not None:
            assert index is not None
            touched = self.known[index[:, 0]] | self.known[index[:, 1]]
            judged = touched if judged is None else touched & judged
        self.judged = judged
        self.index = index if self.by_pairs else None

    def __call__(self, y: Output) -> float:
        """Delta(y_i, y)."""
        if isinstance(y, WeightedLinks):
            y = y.labels
        if self.index is not None:
            return self._of_pairs(y)
        if isinstance(y, EdgeDegrees):
            assert isinstance(self.loss, LinearLoss)
            return self.loss.degree_loss(self.truth, y.degrees)
        if isinstance(y, RelaxedClustering):
            assert isinstance(self.loss, NormalisedLoss)
            return self.loss(self.truth, y)
        if self.known is not None:
            assert isinstance(self.loss, PartialLoss)
            return self.loss.partial(self.truth, canonical_labels(y), self.known)
        return self.loss(self.truth, y)

    def _of_pairs(self, y: Output) -> float:
        """sum_r c_r (e_r - e_r(y_i)), by counting pairs of equal c: exactly 0 for the truth."""
        assert self.index is not None
        assert not isinstance(y, RelaxedClustering | WeightedLinks)
        e = y.at(self.index) if isinstance(y, EdgeDegrees) else together(y, self.index)
        if self.judged_pairs is not None:
            assert isinstance(self.loss, PairCountLoss)
            return self.loss.of_counts(self.judged_pairs.counts(e))
        distinct, which = self._levels
        counts = np.bincount(which, weights=e - self.together, minlength=len(distinct))
        return max(0.0, sum(c * n for c, n in zip(distinct, counts.tolist(), strict=True)))

    @cached_property
    def _levels(self) -> tuple[list[float], Ints]:
        assert self.coefficients is not None
        distinct, which = np.unique(self.coefficients, return_inverse=True)
        return distinct.tolist(), which

    @cached_property
    def together(self) -> Floats:
        """e_r(y_i) of the listed pairs."""
        assert self.index is not None
        return together(self.truth, self.index)

    @cached_property
    def coefficients(self) -> Floats | None:
        """c_ab of Delta = constant + sum c_ab e_ab, one for each scored pair; None for a loss that is not
        linear.
        """
        if not isinstance(self.loss, LinearLoss):
            return None
        if self.index is None or self.judged is None:
            return self.loss.pair_weights(self.truth, self.index).coefficients
        spread = np.zeros(len(self.index))
        spread[self.judged] = self.loss.pair_weights(self.truth, self.index[self.judged]).coefficients
        return spread

    @cached_property
    def judged_pairs(self) -> JudgedPairs | None:
        """The listed pairs for a loss of their counts; None for any other, or where none are listed."""
        if self.index is None or not isinstance(self.loss, PairCountLoss):
            return None
        weight = self.loss.background_weight
        return JudgedPairs(self.truth, self.index, self.judged, self.known, weight)

    @cached_property
    def form(self) -> CountForm | None:
        """The coefficients of a loss of the whole partition that depends on counts alone."""
        if self.known is not None:
            return (
                self.loss.partial_form(self.truth, self.known) if isinstance(self.loss, PartialLoss) else None
            )
        return self.loss.count_form(self.truth) if isinstance(self.loss, CountLoss) else None

    @cached_property
    def table(self) -> TableForm | None:
        """The form of a loss of the whole partition that is one of the table of clusters by true ones."""
        if self.by_pairs or self.known is not None or not isinstance(self.loss, TableLoss):
            return None
        return self.loss.table_form(self.truth)

    @cached_property
    def factor(self) -> sparse.csr_array:
        """Y_i, the normalised indicator of the truth."""
        return normalised_indicator(self.truth)

    def start(self, labels: Ints) -> LossState:
        """The loss of the whole partition, as a state from which a search merges and moves."""
        return self.loss.start(self.truth, labels)


def check_known_mask(known: Bools | None, truth: Ints) -> Bools | None:
    """The mask, or None where every label is known; refuses other items that share a label."""
    if known is None:
        return None
    mask = np.asarray(known)
    if mask.shape != truth.shape or mask.dtype != np.bool_:
        raise ValueError(f"known must be {truth.size} truth values, got {mask.dtype} of shape {mask.shape}")
    if mask.all():
        return None
    sizes = np.bincount(truth)
    shared = np.flatnonzero(~mask & (sizes[truth] > 1))
    if shared.size:
        raise ValueError(f"item {shared[0]} has no known label, but the truth puts it with another item")
    return mask


def together(y: Ints, index: Ints) -> Floats:
    """e_r = 1 where the two items of a pair share a cluster, else 0."""
    return np.asarray(y[index[:, 0]] == y[index[:, 1]], dtype=np.float64)
