"""Unlabelled items that look like members of a labelled cluster, though they were taken as apart."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence

import numpy as np

from clustruct.core.exceptions import DataWarning
from clustruct.core.partitions import partial_labels
from clustruct.core.typing import Labels
from clustruct.data import Evidence, ItemSet
from clustruct.learning.problems import Region

from .training_shape import PairScorer

# So many are named.
SHOWN = 5
# A score is usual for members of a cluster from this quantile on.
MOST = 0.25


def near_misses(x: ItemSet, labels: Labels, score: PairScorer) -> list[tuple[int, int, float]]:
    """Unlabelled items that the scores would put to a labelled cluster (their sum is positive), and whose
    highest score there is one that most pairs (three of four) of a labelled cluster have; the highest first.
    Each with a member of this cluster, and this score.

    >>> x = ItemSet(pairs=[[2.0], [1.0], [3.0]], pair_index=[[0, 1], [1, 2], [1, 3]], n_items=4)
    >>> near_misses(x, np.array([0, 0, -1, -1]), lambda x, pairs: x.pairs[:, 0])
    [(3, 1, 3.0)]
    """
    region = Region.of(x, Evidence.of_labels(labels))
    index = region.x.index
    if region.is_complete or index is None or not len(index):
        return []
    K, known = score(region.x, index), region.known_items[index]
    inside = known.all(axis=1) & (region.labels[index[:, 0]] == region.labels[index[:, 1]])
    usual = float(np.quantile(K[inside], MOST)) if inside.any() else np.inf
    mixed = known.sum(axis=1) == 1
    first_known = known[mixed, 0]
    ends, values = index[mixed], K[mixed]
    item, mate = (np.where(side, ends[:, 1], ends[:, 0]) for side in (first_known, ~first_known))
    cells, which = np.unique(item * x.n_items + region.labels[mate], return_inverse=True)
    total = np.bincount(which, weights=values, minlength=len(cells))
    highest = np.full(len(cells), -np.inf)
    np.maximum.at(highest, which, values)
    own = region.known_items
    members = dict(zip(region.labels[own].tolist(), region.items[own].tolist(), strict=True))
    return [
        (int(region.items[cells[c] // x.n_items]), members[cells[c] % x.n_items], float(highest[c]))
        for c in np.argsort(-highest, kind="stable").tolist()
        if total[c] > 0.0 and highest[c] >= usual
    ]


def warn_of_near_misses(
    sets: Sequence[ItemSet],
    names: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]],
    score: PairScorer,
) -> None:
    """Warn of them. ``names`` are the ids and the labels of the items of each set."""
    misses, total = [], 0
    for x, (ids, labels) in zip(sets, names, strict=True):
        found = near_misses(x, partial_labels(labels), score)
        total += len({item for item, *_ in found})
        misses += [f"{ids[item]!r} beside cluster {labels[mate]!r}" for item, mate, _ in found]
    if total:
        more = ", ..." if len(misses) > SHOWN else ""
        warnings.warn(
            f"{total} unlabelled {'item is' if total == 1 else 'items are'} as similar to a labelled cluster "
            f"as its own items are: {', '.join(misses[:SHOWN])}{more}. Were labelled clusters not complete, "
            "this would teach that duplicates are apart: label these items, or say --unlabelled unknown "
            "(Recipe(unlabelled='unknown'))",
            DataWarning,
            stacklevel=4,
        )
