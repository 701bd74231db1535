"""Scores and right clusters of items that a training has not seen: what probabilities are learned from.

Whole sets are held out, or whole clusters inside one table; never pairs that were chosen by their scores.

Of a table with few labels the pairs that touch a labelled item are compared, no others: an unlabelled item
whose own mate has no label either is free for a wrong one, and held-out precision is too low. After training
it is known which unlabelled items a held-out cluster may take: their other pairs are scored here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Bools, Floats, Indices, Ints
from clustruct.data import ItemSet, PairScores
from clustruct.learning import problems
from clustruct.learning.problems.training import learn_weights

if TYPE_CHECKING:
    from clustruct.features import UncomparedPairs
    from clustruct.learning.model_selection.choose_c import Fold, Unit
    from clustruct.learning.problems import HeldOutClusters, SimilarityTask

# Given the numbers of sets, and of others: the others, made by features that know the first alone. None:
# features that do not fit.
OutOfFoldSets: TypeAlias = Callable[[Indices, Indices], Sequence[ItemSet] | None]
# So many further pairs are scored at most for each pair that was compared in training.
MOST_UNLISTED = 1.0


@dataclass(frozen=True)
class HeldOutPart:
    """The items of one set, scored by a training that has not seen the clusters of some of them."""

    scores: PairScores
    truth: Ints
    mine: Bools
    unknown_apart: bool = True
    w: Floats = field(default_factory=lambda: np.zeros(0))
    set_number: int = 0
    items: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def clusters(self) -> Ints:
        """The clusters that were held out."""
        return np.unique(self.truth[self.mine])

    @property
    def judged_items(self) -> Bools:
        """The items of which something is known."""
        return self.mine | self.unknown_apart | (self.truth != UNKNOWN)


def held_out_parts(
    task: SimilarityTask,
    folds: Sequence[Fold],
    unit: Unit,
    final: Floats,
    C: float,
    rtol: float,
    out_of_fold: OutOfFoldSets | None = None,
) -> list[HeldOutPart]:
    """Each set of a task as often as clusters of it were held out, scored without them.

    Where sets are held out, each fold is trained as far as the final weights were: trainings that the choice
    of C ended early have larger weights, and other scores for the same doubt (litbank: norms of 6 to 56,
    against 5 of the final weights). Where clusters inside a table are held out, the weights of the folds are
    taken, and scores are brought to the usual size of those by the ``final`` weights, which moves no sign.
    ``out_of_fold`` makes held-out sets by features that were fitted without them: features that know a set
    give it other scores (news: calibration error 3.2 % with them and 1.0 % without).
    """
    clusters = problems.HeldOutClusters(task)
    found = []
    for fold in folds:
        if unit == "set":
            w = learn_weights(partial(task.train, C, fold.chosen))
            made = None if out_of_fold is None else out_of_fold(fold.chosen, fold.held_out)
            found += _by_sets(task, clusters, fold, w, made)
            continue
        known = fold.w is not None and len(fold.w) == len(final)
        own = fold.w if known else learn_weights(partial(clusters.train, C, fold.chosen, None, rtol=rtol))
        assert own is not None
        found += _by_clusters(task, clusters, fold, own * _size_of_scores(task, final, own))
    return found


def _size_of_scores(task: SimilarityTask, final: Floats, w: Floats) -> float:
    """How many times as large the final scores are as those by w: root mean squares over all pairs."""
    sums = [np.zeros(2)]
    for region in task.regions:
        for_both = [task.predictor.scores(region.x, v).list_pairs().values for v in (final, w)]
        sums.append(np.array([0.0 if v is None else float(v @ v) for v in for_both]))
    top, bottom = np.sum(sums, axis=0)
    return float(np.sqrt(top / bottom)) if top > 0.0 and bottom > 0.0 else 1.0


def _by_sets(
    task: SimilarityTask, clusters: HeldOutClusters, fold: Fold, w: Floats, made: Sequence[ItemSet] | None
) -> list[HeldOutPart]:
    numbers = fold.held_out.tolist()
    sets = [task.regions[i].x for i in numbers] if made is None else made
    return [
        _part(task, clusters, i, x, task.regions[i].known_items, w)
        for i, x in zip(numbers, sets, strict=True)
    ]


def _by_clusters(task: SimilarityTask, clusters: HeldOutClusters, fold: Fold, w: Floats) -> list[HeldOutPart]:
    masks = [np.isin(numbers, fold.held_out) for numbers in clusters.clusters]
    sets = [region.x for region in task.regions]
    return [_part(task, clusters, i, sets[i], mine, w) for i, mine in enumerate(masks) if mine.any()]


def _part(
    task: SimilarityTask, clusters: HeldOutClusters, i: int, x: ItemSet, mine: Bools, w: Floats
) -> HeldOutPart:
    scores = task.predictor.scores(x, w)
    apart = task.unlabelled == "apart"
    return HeldOutPart(scores, clusters.clusters[i], mine, apart, w, i, task.regions[i].items)


def with_neighbours(
    parts: Sequence[HeldOutPart], rest: Sequence[UncomparedPairs | None], low: float
) -> list[HeldOutPart]:
    """The parts with the pairs of those unlabelled items that score more than ``low`` with a held-out item.

    rest : for each set the pairs that were not compared, or None
    """
    found = list(parts)
    for number, one in enumerate(rest):
        which = [k for k, part in enumerate(parts) if part.set_number == number]
        if one is None or not which or not one.n_pairs:
            continue
        own = [parts[k] for k in which]
        pairs = _near_pairs(own, one.pair_list, low)
        scores = one.scores(pairs, np.column_stack([part.w for part in own]))
        for column, k in enumerate(which):
            found[k] = _add_pairs(parts[k], pairs, scores[:, column], one.sources)
    return found


def _near_pairs(parts: Sequence[HeldOutPart], pairs: Ints, low: float) -> Ints:
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
    room = MOST_UNLISTED * max(len(part.scores.index) for part in parts if part.scores.index is not None)
    chosen = np.zeros(m, np.bool_)
    chosen[near[np.cumsum(n_pairs[near]) <= room]] = True
    return pairs[chosen[pairs].any(axis=1)]


def _add_pairs(part: HeldOutPart, pairs: Ints, values: Floats, sources: Ints | None) -> HeldOutPart:
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
