"""Trainings on some of the labelled clusters inside their sets: how C is chosen where there is one table.

The training does not see the items of the clusters that are held out: as background, apart from all others,
they would teach it the wrong pairs that it is judged by. Prediction then meets all of the region, and the
pairs that touch a held-out item count, by half where the other item is of another cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Floats, Indices, Ints

from .fold_losses import FoldLoss, count_pairs
from .training import SimilarityTask, Trained

# Parts of larger tasks, which hold pairs of their own, are made anew each time.
MOST_BYTES = 2**26


@dataclass
class HeldOutClusters:
    """The clusters of a task, numbered through its sets: what `choose_C` holds out.

    Clusters of one item count as well: nothing may be joined to them.
    """

    task: SimilarityTask

    def __post_init__(self) -> None:
        self._parts: dict[bytes, SimilarityTask] = {}

    @cached_property
    def clusters(self) -> list[Ints]:
        """The cluster of each item of each region, -1 for items without a label."""
        found, first = [], 0
        for region in self.task.regions:
            numbers = np.full(len(region.labels), UNKNOWN, np.int64)
            numbers[region.known_items] = (
                first + np.unique(region.labels[region.known_items], return_inverse=True)[1]
            )
            first = int(numbers.max()) + 1
            found.append(numbers)
        return found

    @property
    def n_clusters(self) -> int:
        """How many labelled clusters there are."""
        return max(int(numbers.max()) for numbers in self.clusters) + 1

    @property
    def sizes(self) -> Ints:
        """How many items each has."""
        every = np.concatenate(self.clusters)
        return np.bincount(every[every != UNKNOWN], minlength=self.n_clusters)

    def train(self, C: float, chosen: Indices, start: Trained | None, rtol: float | None = None) -> Trained:
        """Train on some clusters and the background; items of other clusters are not there."""
        part = self._part(chosen)
        return part.train(C, None, start, rtol=rtol)

    def _part(self, chosen: Indices) -> SimilarityTask:
        """The task without the items of other clusters, and without sets that have none of these."""
        key = np.asarray(chosen, np.int64).tobytes()
        if key not in self._parts:
            if self._n_bytes > MOST_BYTES:
                self._parts.clear()
            self._parts[key] = self._hide(chosen)
        return self._parts[key]

    @property
    def _n_bytes(self) -> float:
        """What the pairs of one part take, about."""
        return sum(8.0 * r.x.n_pairs * r.x.n_features for r in self.task.regions if r.x.is_sparse)

    def _hide(self, chosen: Indices) -> SimilarityTask:
        seen = np.zeros(self.n_clusters + 1, np.bool_)
        seen[chosen] = True
        seen[UNKNOWN] = True  # the last one is that of items without a label
        shown = [seen[numbers] for numbers in self.clusters]
        labels = [numbers[here] for numbers, here in zip(self.clusters, shown, strict=True)]
        kept = [i for i, y in enumerate(labels) if (y != UNKNOWN).any()]
        weights = self.task.sample_weight
        return replace(
            self.task,
            sets=[self.task.regions[i].x.subset(shown[i]) for i in kept],
            labels=[labels[i] for i in kept],
            sample_weight=None if weights is None else weights[kept],
            checkpoint=None,
        )

    def judge(self, trained: Trained, held_out: Sequence[int]) -> list[FoldLoss]:
        """What a prediction makes of each cluster that was held out: its wrong pairs, and the counts."""
        tables = [
            count_pairs(numbers, self.task.predict(trained, i), held_out, self.task.unlabelled == "apart")
            for i, numbers in enumerate(self.clusters)
        ]
        return self.losses(np.sum(tables, axis=0))

    def losses(self, counts: Floats) -> list[FoldLoss]:
        """The wrong pairs of each cluster beside its (right, found, true) pairs."""
        merge, split = (getattr(self.task.loss, name, 1.0) for name in ("merge_cost", "split_cost"))
        errors = merge * (counts[:, 1] - counts[:, 0]) + split * (counts[:, 2] - counts[:, 0])
        rows = zip(errors.tolist(), counts.tolist(), strict=True)
        return [FoldLoss(error, (both, found, true)) for error, (both, found, true) in rows]
