"""What predictions for held-out units are worth: losses, pairs, and how much of a difference is chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from clustruct.core.partitions import UNKNOWN, canonical_labels
from clustruct.core.typing import Bools, Floats, Indices, Ints

# Trainings that are judged by what they make of held-out data need not go on to the last digit.
LOOSE = 0.1
# What is made small: the mean of the losses, or 1 - F of all pairs together.
Criterion: TypeAlias = Literal["loss", "pairwise_f"]
# Fewer groups of sets than this say little by their mean: what they agree on is asked for.
FEW_GROUPS = 8


class FoldLoss(NamedTuple):
    """The loss of a prediction, and how many pairs are together rightly, by the prediction, and by the
    truth.
    """

    loss: float
    pairs: tuple[float, float, float] = (0.0, 0.0, 0.0)


# What predictions for units are worth that were held out, and the weights learned without them.
FoldResult: TypeAlias = tuple[Sequence[FoldLoss], Floats]


def shared_pairs(truth: Ints, predicted: Ints) -> tuple[float, float, float]:
    """Pairs together in both partitions, in the predicted one, and in the true one.

    >>> shared_pairs(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    (1.0, 2.0, 3.0)
    """
    both = canonical_labels(truth * (int(predicted.max()) + 1) + predicted)
    sizes = [np.bincount(y) for y in (both, predicted, truth)]
    return tuple(float((n * (n - 1)).sum() // 2) for n in sizes)  # type: ignore[return-value]


def touching_pairs(truth: Ints, predicted: Ints, items: Bools) -> tuple[float, float, float]:
    """`shared_pairs` of the pairs that have one of these items at least."""
    every = shared_pairs(truth, predicted)
    if items.all():
        return every
    others = shared_pairs(truth[~items], predicted[~items])
    return tuple(a - b for a, b in zip(every, others, strict=True))  # type: ignore[return-value]


def count_pairs(clusters: Ints, predicted: Ints, held_out: Sequence[int], unknown_apart: bool) -> Floats:
    """Pairs together rightly, by the prediction and by the truth of each held-out cluster.

    ``clusters`` are -1 for items without a label: a pair with one is wrong, or not counted. A pair of two
    clusters counts a half for each, so that clusters drawn at random have in the mean the counts of the whole
    table.

    >>> count_pairs(np.array([0, 0, 1, 2, -1]), np.array([0, 0, 0, 1, 1]), [0, 2], True)
    array([[1. , 2. , 1. ],
           [0. , 0.5, 0. ]])
    """
    width, k = len(held_out), int(predicted.max()) + 1
    place = np.full(max(int(clusters.max()), *held_out) + 2, width, np.int64)
    place[list(held_out)] = np.arange(width)
    own = place[clusters]  # the last entry is that of items without a label
    counted = np.ones(len(clusters), np.bool_) if unknown_apart else clusters != UNKNOWN
    total = np.bincount(predicted[counted], minlength=k)
    mine = np.flatnonzero(own < width)
    cells, size = np.unique(own[mine] * k + predicted[mine], return_counts=True)
    c, inside = cells // k, size * (size - 1) / 2
    found = inside + size * (total[cells % k] - size) / 2
    true = np.bincount(own[mine], minlength=width).astype(np.float64)
    both, together = (np.bincount(c, weights=v, minlength=width) for v in (inside, found))
    return np.column_stack([both, together, true * (true - 1) / 2])


def few_groups(groups: Sequence[Hashable] | None) -> Indices | None:
    """The number of the group of each unit, where there are two groups at least, but few; else None.

    >>> few_groups(["a", "b", "a"])
    array([0, 1, 0])
    """
    if groups is None:
        return None
    number = np.unique([str(g) for g in groups], return_inverse=True)[1]
    return number if 1 <= number.max(initial=0) < FEW_GROUPS - 1 else None


def costs(judged: Sequence[FoldLoss], by: Criterion, weights: Floats | None = None) -> float:
    """The mean loss, or 1 - F of all pairs.

    >>> round(costs([FoldLoss(2.0, (1.0, 1.0, 3.0)), FoldLoss(4.0, (1.0, 2.0, 1.0))], "pairwise_f"), 3)
    0.429
    """
    if by == "loss":
        return float(np.average([j.loss for j in judged], weights=weights))
    return 1.0 - float(pairwise_f(np.sum([j.pairs for j in judged], axis=0)[None])[0])


def costs_of(judged: Sequence[FoldLoss], chosen: Bools, by: Criterion, weights: Floats | None) -> float:
    some = [judged[i] for i in np.flatnonzero(chosen).tolist()]
    return costs(some, by, None if weights is None else weights[chosen])


def error_of_difference(
    one: Sequence[FoldLoss],
    other: Sequence[FoldLoss],
    by: Criterion,
    owners: Indices | None = None,
    weights: Floats | None = None,
) -> float:
    """The standard error of the difference between the costs of two trainings on the same units, by the
    jackknife over units or their owners.
    """
    without = [_without(judged, by, owners, weights) for judged in (one, other)]
    spread = without[0] - without[1]
    n = len(spread)
    return float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))


def _without(
    judged: Sequence[FoldLoss], by: Criterion, owners: Indices | None, weights: Floats | None
) -> Floats:
    if owners is None:
        return leave_one_out(judged, by, weights)
    return np.array([costs_of(judged, owners != g, by, weights) for g in np.unique(owners)])


def leave_one_out(judged: Sequence[FoldLoss], by: Criterion, weights: Floats | None = None) -> Floats:
    """The costs without each of the units in turn."""
    if by == "loss":
        w = np.ones(len(judged)) if weights is None else weights
        losses = np.array([j.loss for j in judged])
        return ((w * losses).sum() - w * losses) / np.maximum(w.sum() - w, 1e-300)
    pairs = np.array([j.pairs for j in judged])
    return 1.0 - pairwise_f(pairs.sum(axis=0) - pairs)


def pairwise_f(pairs: Floats) -> Floats:
    """F of pairs put together, of rows of (rightly, by the prediction, by the truth); 1 where there are none.

    >>> pairwise_f(np.array([[3.0, 4.0, 4.0], [0.0, 0.0, 0.0]]))
    array([0.75, 1.  ])
    """
    both = pairs[:, 1] + pairs[:, 2]
    return np.where(both > 0.0, 2.0 * pairs[:, 0] / np.maximum(both, 1e-300), 1.0)
