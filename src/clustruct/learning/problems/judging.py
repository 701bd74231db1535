"""What a prediction is worth beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustruct.core.partitions import UNKNOWN, canonical_labels
from clustruct.core.typing import Bools, Floats, Ints

# Trainings that are judged by what they make of held-out data need not go on to the last digit.
LOOSE = 0.1


class Judged(NamedTuple):
    """A prediction beside the truth: the loss, and how many pairs are together rightly, by the prediction,
    and by the truth.

    Attributes
    ----------
    loss : float
        The loss of the prediction.
    pairs : tuple of float, float, float, default=(0.0, 0.0, 0.0)
        How many pairs are together rightly, by the prediction, and by the truth.
    """

    loss: float
    pairs: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class JudgedFold:
    """The weights learned without some units, and what the predictions for these are worth.

    Attributes
    ----------
    judged : sequence of Judged
        One entry for each unit that was held out.
    w : array of float
        The weights learned without them.
    """

    judged: Sequence[Judged]
    w: Floats


def shared_pairs(truth: Ints, predicted: Ints) -> tuple[float, float, float]:
    """Pairs together in both partitions, in the predicted one, and in the true one.

    >>> shared_pairs(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    (1.0, 2.0, 3.0)
    """
    both = canonical_labels(truth * (int(predicted.max()) + 1) + predicted)
    sizes = [np.bincount(y) for y in (both, predicted, truth)]
    return tuple(float((n * (n - 1)).sum() // 2) for n in sizes)  # type: ignore[return-value]


def touching_pairs(truth: Ints, predicted: Ints, items: Bools) -> tuple[float, float, float]:
    """`shared_pairs` of the pairs that have one of these items at least.

    >>> touching_pairs(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), np.array([False, False, False, True]))
    (0.0, 0.0, 1.0)
    """
    every = shared_pairs(truth, predicted)
    if items.all():
        return every
    others = shared_pairs(truth[~items], predicted[~items])
    return tuple(a - b for a, b in zip(every, others, strict=True))  # type: ignore[return-value]


def count_pairs(clusters: Ints, predicted: Ints, held_out: Sequence[int], unknown_apart: bool) -> Floats:
    """Pairs together rightly, by the prediction and by the truth of each of these clusters.

    ``clusters`` are -1 for items without a label: a pair with one of them is wrong, or not counted. A pair of
    two clusters counts a half for each of them, so that the counts of clusters drawn at random are in the
    mean those of the whole table, false pairs beside true ones.

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
