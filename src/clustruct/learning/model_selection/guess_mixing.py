r"""How far learned weights are trusted beside a guess that was made without labels.

Let w be what was learned and v the guess. Of the similarities

.. math:: (1 - l) \frac{s_w}{\mathrm{mean} |s_w|} + l \frac{s_v}{\mathrm{mean} |s_v|}, \qquad 0 \le l \le 1,

those are as good that group held-out clusters within a standard error of the best, and l is their mean: what
few labels cannot tell apart is averaged. Where the guess alone (l = 1) is among them it counts for more, the
fewer labels there are: leaving it needs evidence. Held-out clusters are grouped as prediction will do it, in
the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Floats, Ints
from clustruct.data import pair_table
from clustruct.learning import search_groups
from clustruct.learning.problems import FoldLoss, HeldOutClusters, SimilarityTask
from clustruct.learning.problems.fold_losses import LOOSE, costs, count_pairs, error_of_difference
from clustruct.learning.problems.training import learn_weights

from .choose_c import Choice, Fold, criterion, split_sets
from .held_out_f import HeldOutF
from .reached_pairs import ReachedPairs, reach_pairs

if TYPE_CHECKING:
    from clustruct.features import UncomparedPairs

# The shares of the guess that are tried.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
# The guess alone counts as so many shares more, over the number of labelled clusters of two items and more.
# Nine made-up tables of addresses, persons and products, ten clusters: at worst share 0 is 8 points below no
# labels, .5 1.6 and .75 .3; with 60 clusters the best shares are 0 to .5, and 2 to 26 points above.
STAYING = 40.0
# Few labelled clusters are held out one by one, or in so many parts.
MOST_PARTS = 10
# Clusters of two items and more that are needed to hold some out.
FEWEST = 2


@dataclass(frozen=True)
class Delivered:
    """Weights to be kept, those of the folds of the same kind, and what these make of held-out clusters.

    ``share`` is that of the guess.
    """

    w: Floats
    folds: Sequence[Fold]
    held_out: HeldOutF | None = None
    share: float = 0.0


def mix_with_guess(
    task: SimilarityTask,
    choice: Choice,
    w: Floats,
    guess: Floats | None = None,
    rest: Sequence[UncomparedPairs | None] = (),
) -> Delivered:
    """The weights that clusters inside a table are best grouped by, learned and guessed ones together.

    ``guess`` has a weight for each feature; without it only the figure is made. ``rest`` are for each set the
    pairs that it does not list but prediction will.
    """
    if choice.unit == "set":
        return Delivered(w, choice.folds, _figure_of_sets(choice))
    if guess is not None and not mean_size(task, guess) > 0.0:
        guess = None
    clusters = HeldOutClusters(task)
    folds = [fold for fold in choice.folds if fold.w is not None]
    if not folds and guess is not None:
        if np.count_nonzero(clusters.sizes > 1) < FEWEST:
            return Delivered(guess, (), share=1.0)
        folds = _train_folds(clusters, choice.C)
    if not folds:
        return Delivered(w, choice.folds)
    tables = _HeldOutTables(task, clusters, folds, guess, rest)
    share = 0.0 if guess is None else _mean_share(tables)
    apart = task.unlabelled == "apart"
    counts = [tables.count(share, links_wrong=wrong) for wrong in ([True] if apart else [False, True])]
    figure = HeldOutF.of(*counts) if choice.folds else None
    mixed = [replace(fold, w=tables.mix(n, share)) for n, fold in enumerate(folds)] if choice.folds else ()
    return Delivered(mix(w, guess, share, mean_size(task, w), tables.sizes[-1]), mixed, figure, share)


def _figure_of_sets(choice: Choice) -> HeldOutF | None:
    if "pairs" not in choice.results or choice.results["pairs"].shape[1] < FEWEST:
        return None
    at = int(np.flatnonzero(choice.results["C"] == choice.C)[0])
    return HeldOutF.of(choice.results["pairs"][at])


def mix(w: Floats, guess: Floats | None, share: float, size: float, size_of_guess: float) -> Floats:
    """Weights whose scores are as large as those by w, in the mean.

    >>> mix(np.array([2.0, 0.0]), np.array([0.0, 1.0]), 0.5, 4.0, 1.0)
    array([1., 2.])
    """
    if guess is None:
        return w
    return np.asarray((1.0 - share) * w + share * size / size_of_guess * guess) if size > 0.0 else guess


def mean_size(task: SimilarityTask, w: Floats) -> float:
    """The mean size of scores over the pairs that touch a labelled item."""
    sizes = [np.abs(pair_table(region.x, region.x.pair_list) @ w) for region in task.regions]
    total = np.concatenate(sizes)
    return float(total.mean()) if len(total) else 0.0


def _train_folds(clusters: HeldOutClusters, C: float) -> list[Fold]:
    """Trainings without some of the clusters each, at a C that was not chosen."""
    cut = split_sets(clusters.n_clusters, MOST_PARTS)
    return [
        Fold(chosen, held_out, learn_weights(partial(clusters.train, C, chosen, None, rtol=LOOSE)))
        for chosen, held_out in cut
    ]


def _mean_share(tables: _HeldOutTables) -> float:
    """The mean of the shares of the guess that are as good as the best."""
    judged = [tables.judge(share) for share in SHARES]
    by = criterion(tables.task.loss)
    cost = [costs(one, by) for one in judged]
    best = int(np.argmin(cost))
    as_good = [
        share
        for share, one, c in zip(SHARES, judged, cost, strict=True)
        if c - cost[best] <= error_of_difference(one, judged[best], by)
    ]
    staying = STAYING / max(int(np.count_nonzero(tables.clusters.sizes > 1)), 1) if 1.0 in as_good else 0.0
    return float((np.sum(as_good) + staying) / (len(as_good) + staying))


@dataclass
class _HeldOutTables:
    """Tables as trainings group them that have not seen some of the clusters."""

    task: SimilarityTask
    clusters: HeldOutClusters
    folds: Sequence[Fold]
    guess: Floats | None
    rest: Sequence[UncomparedPairs | None]
    _counts: dict[tuple[float, bool], Floats] = field(default_factory=dict)

    @cached_property
    def _columns(self) -> list[Floats]:
        """The weights of the folds, and the guess at the end."""
        learned = [fold.w for fold in self.folds if fold.w is not None]
        return learned if self.guess is None else [*learned, self.guess]

    @cached_property
    def sizes(self) -> list[float]:
        """The mean size of scores by each of them."""
        return [mean_size(self.task, w) for w in self._columns]

    @cached_property
    def _tables(self) -> list[tuple[ReachedPairs, Ints]]:
        """What of each set may decide about a labelled item, and the clusters, -1 where there is no label."""
        found, W = [], np.column_stack(self._columns)
        for i, (x, region) in enumerate(zip(self.task.sets, self.task.regions, strict=True)):
            clusters = np.full(x.n_items, UNKNOWN, np.int64)
            clusters[region.items] = self.clusters.clusters[i]
            reached = reach_pairs(x, self.rest[i] if self.rest else None, clusters != UNKNOWN, W)
            found.append((reached, clusters[reached.items]))
        return found

    def mix(self, number: int, share: float) -> Floats:
        """The weights of a fold with this share of the guess."""
        return mix(self._columns[number], self.guess, share, self.sizes[number], self.sizes[-1])

    def _parts(self, number: int, share: float) -> Floats:
        """The same as a combination of the columns."""
        each = np.eye(len(self._columns))
        guess = None if self.guess is None else each[-1]
        return mix(each[number], guess, share, self.sizes[number], self.sizes[-1])

    def judge(self, share: float) -> list[FoldLoss]:
        """What becomes of each cluster when it is held out."""
        counts = self.count(share, links_wrong=self.task.unlabelled == "apart")
        return self.clusters.losses(counts)

    def count(self, share: float, *, links_wrong: bool) -> Floats:
        """Right, found and true pairs of each cluster; links to items without a label are wrong, or are not
        counted.
        """
        key = share, links_wrong
        if key not in self._counts:
            counts = np.zeros((self.clusters.n_clusters, 3))
            for number, fold in enumerate(self.folds):
                parts = self._parts(number, share)
                for reached, labels in self._tables:
                    predicted = search_groups(self.task.predictor, reached.scores(parts))
                    held_out = fold.held_out.tolist()
                    counts[held_out] += count_pairs(labels, predicted, held_out, links_wrong)
            self._counts[key] = counts
        return self._counts[key]
