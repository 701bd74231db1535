"""The split of a group that would help most, if it is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.data import PairScores
from clustruct.search.correlation import greedy

# A group is cut where the first of these probabilities, as a threshold, cuts it.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
NEAREST = 1e-9


@dataclass(frozen=True)
class Split:
    """A part of a group that may not belong to the rest.

    Attributes
    ----------
    cluster, size : int
        The group (canonical number), and how many items it has.
    part : tuple of int
        The items that would leave, the smaller side.
    together : float
        The mean probability that an item of the part and one of the rest belong together.
    wrong_pairs : float
        How many wrong pairs there are between the two, as is to be expected.
    """

    cluster: int
    size: int
    part: tuple[int, ...]
    together: float
    wrong_pairs: float


def suggested_splits(
    scores: PairScores, labels: LabelsLike, probability: Callable[[Floats], Floats]
) -> list[Split]:
    """For each group the part of which most wrong pairs with the rest are expected, the worst group first.

    The parts of a group are those in which the lowest of several thresholds on the probability of a pair
    cuts it (by greedy merging of the pairs inside groups). For a part A of a group, q the mean probability of
    the compared pairs between A and the rest B, (1 - q) |A| |B| wrong pairs are expected: what a person who
    looks at this one question may mend. Groups that no threshold cuts are left out.

    Cost O(pairs log pairs) for each threshold; nothing is made a matrix.

    Parameters
    ----------
    scores : PairScores
        The scores of the pairs.
    labels : array-like
        The group of each item.
    probability : callable
        From scores to probabilities.

    Returns
    -------
    list of Split
        One entry for each group that a threshold cuts.

    Examples
    --------
    >>> K = np.full((4, 4), 1.0); K[:2, :2] = K[2:, 2:] = 9.0
    >>> found = suggested_splits(PairScores(4, matrix=K), [0, 0, 0, 0], lambda s: s / 10)[0]
    >>> found.part, round(found.together, 2), round(found.wrong_pairs, 2)
    ((0, 1), 0.1, 3.6)
    """
    y, listed = canonical_labels(labels), scores.list_pairs()
    assert listed.index is not None
    assert listed.values is not None
    inside = np.flatnonzero(y[listed.index[:, 0]] == y[listed.index[:, 1]])
    pairs, p = listed.index[inside], probability(listed.values[inside])
    parts = _first_parts(y, pairs, p)
    return _worst(y, parts, pairs, p)


def _first_parts(y: Ints, pairs: Ints, p: Floats) -> Ints:
    """The part of each item where the first threshold that cuts its group does so."""
    parts, uncut, first_free = y.copy(), np.bincount(y) > 1, len(y)
    evidence = logit(np.clip(p, NEAREST, 1.0 - NEAREST))
    for level in LEVELS:
        use = uncut[y[pairs[:, 0]]]
        if not use.any():
            break
        found = greedy(PairScores(len(y), index=pairs[use], values=evidence[use] - logit(level)))
        first = np.unique(y, return_index=True)[1]
        cut = np.zeros(len(uncut), np.bool_)
        cut[y[found != found[first][y]]] = True
        cut &= uncut
        parts[cut[y]] = first_free + found[cut[y]]
        first_free += len(y)  # parts that another threshold finds have numbers of their own
        uncut &= ~cut
    return canonical_labels(parts)


def _worst(y: Ints, parts: Ints, pairs: Ints, p: Floats) -> list[Split]:
    """Of each group that was cut, the part with most wrong pairs to be expected."""
    ends = parts[pairs]
    across = ends[:, 0] != ends[:, 1]
    k = int(parts.max(initial=-1)) + 1
    both, twice = ends[across].T.ravel(), np.tile(p[across], 2)
    count = np.bincount(both, minlength=k)
    q = np.bincount(both, weights=twice, minlength=k) / np.maximum(count, 1)
    size, group = np.bincount(parts, minlength=k), np.zeros(k, np.int64)
    group[parts] = y
    rest = np.bincount(y)[group] - size
    wrong = (1.0 - q) * size * rest
    order = np.lexsort((size, -wrong))
    found, seen = [], set[int]()
    members = np.split(np.argsort(parts, kind="stable"), np.cumsum(size)[:-1])
    for part in order.tolist():
        if rest[part] == 0 or int(group[part]) in seen:
            continue
        seen.add(int(group[part]))
        items = members[part]
        if size[part] > rest[part]:
            items = np.setdiff1d(np.flatnonzero(y == group[part]), items)
        whole = int(size[part] + rest[part])
        found.append(
            Split(int(group[part]), whole, tuple(items.tolist()), float(q[part]), float(wrong[part]))
        )
    return found
