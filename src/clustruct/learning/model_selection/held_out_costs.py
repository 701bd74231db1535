"""What predictions for held-out units cost, and what the difference of two costs may be by chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from clustruct.core.typing import Bools, Floats, Indices
from clustruct.learning.problems import Judged

# What is made small: the mean of the losses, or 1 - F of all pairs together.
Criterion: TypeAlias = Literal["loss", "pairwise_f"]
# Fewer groups of sets than this say little by their mean: what they agree on is asked for.
FEW_GROUPS = 8


def few_groups(groups: Sequence[Hashable] | None) -> Indices | None:
    """The number of the group of each unit, where there are two groups at least, but few; else None.

    >>> few_groups(["a", "b", "a"])
    array([0, 1, 0])
    """
    if groups is None:
        return None
    number = np.unique([str(g) for g in groups], return_inverse=True)[1]
    return number if 1 <= number.max(initial=0) < FEW_GROUPS - 1 else None


def costs(judged: Sequence[Judged], by: Criterion, weights: Floats | None = None) -> float:
    """The mean loss, or 1 - F of all pairs.

    >>> round(costs([Judged(2.0, (1.0, 1.0, 3.0)), Judged(4.0, (1.0, 2.0, 1.0))], "pairwise_f"), 3)
    0.429
    """
    if by == "loss":
        return float(np.average([j.loss for j in judged], weights=weights))
    return 1.0 - float(pairwise_f(np.sum([j.pairs for j in judged], axis=0)[None])[0])


def costs_of(judged: Sequence[Judged], chosen: Bools, by: Criterion, weights: Floats | None) -> float:
    """The costs over some of the units."""
    some = [judged[i] for i in np.flatnonzero(chosen).tolist()]
    return costs(some, by, None if weights is None else weights[chosen])


def error_of_difference(
    one: Sequence[Judged],
    other: Sequence[Judged],
    by: Criterion,
    owners: Indices | None = None,
    weights: Floats | None = None,
) -> float:
    """The standard error of the difference between the costs of two trainings on the same units.

    By the jackknife over units, or over their owners where these are given.

    >>> far = [Judged(loss) for loss in (1.0, 2.0, 3.0)]
    >>> error_of_difference(far, far, "loss"), round(error_of_difference(far, [Judged(1.0)] * 3, "loss"), 3)
    (0.0, 0.577)
    """
    without = [_without(judged, by, owners, weights) for judged in (one, other)]
    spread = without[0] - without[1]
    n = len(spread)
    return float(np.sqrt((n - 1) / n * ((spread - spread.mean()) ** 2).sum()))


def _without(
    judged: Sequence[Judged], by: Criterion, owners: Indices | None, weights: Floats | None
) -> Floats:
    """The costs without each unit (or owner) in turn."""
    if owners is None:
        return leave_one_out(judged, by, weights)
    return np.array([costs_of(judged, owners != g, by, weights) for g in np.unique(owners)])


def leave_one_out(judged: Sequence[Judged], by: Criterion, weights: Floats | None = None) -> Floats:
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
