"""Items of which nothing is known: their clusters are latent, completed by what the model says of them.

    min over w   1/2 |w|^2 + C mean_i xi_i,
    xi_i = max_y (Delta(y_i, y) + <w, Psi(x_i, y)>) - max_h <w, Psi(x_i, (y_i, h))>

h says which known cluster each unknown item of a region joins, if any; Delta looks at known items alone. The
concave part is replaced by its tangent at the present w, that is h by its best value, and a structural SVM is
solved, again and again (CCCP; Yu and Joachims 2009). No pair of two unknown items is in the region, so that
the best h is found exactly, item by item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from scipy import sparse

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints
from clustruct.ssvm import FitResult

from .region import Region

MOST_ROUNDS = 10


class HasResult(Protocol):
    """A training."""

    @property
    def result(self) -> FitResult: ...


T = TypeVar("T", bound=HasResult)
R = TypeVar("R")


def completed(region: Region, w: Floats) -> Ints:
    """The labels of the region with each unknown item in the known cluster that it is most similar to (in
    sum), or alone where no sum is positive.

    >>> from clustruct.data import ItemSet
    >>> x = ItemSet(pairs=[[1.0], [-2.0], [3.0]], pair_index=[[0, 2], [1, 2], [1, 3]], n_items=4)
    >>> completed(Region.of(x, np.array([0, 1, -1, -1])), np.ones(1)).tolist()
    [0, 1, 0, 1]
    """
    if region.is_complete:
        return region.labels
    x, known = region.x, region.known
    assert x.pairs is not None
    mixed = np.flatnonzero(known[x.pair_list].sum(axis=1) == 1)
    index = x.pair_list[mixed]
    a_known = known[index[:, 0]]
    item, mate = (np.where(side, index[:, 1], index[:, 0]) for side in (a_known, ~a_known))
    shape = (x.n_items, int(region.labels.max()) + 1)
    sums = sparse.csr_array((np.asarray(x.pairs[mixed] @ w), (item, region.labels[mate])), shape=shape)
    found = region.labels.copy()
    rows = sparse.coo_array(sums)
    order = np.lexsort((-rows.col, rows.data))  # the last one of an item is its best: of equals the first
    best = np.full(x.n_items, -np.inf)
    best[rows.row[order]] = rows.data[order]
    joined = np.zeros(x.n_items, np.int64)
    joined[rows.row[order]] = rows.col[order]
    found[best > 0.0] = joined[best > 0.0]
    return canonical_labels(found)


def descend(
    regions: Sequence[R],
    start: Floats,
    train: Callable[[Sequence[Ints]], T],
    complete: Callable[[R, Floats], Ints],
) -> T:
    """Complete, train and repeat, until the completion does not change or the objective does not fall.

    ``train`` takes the completed labels, which ``complete`` makes at a w.
    """
    labels = [complete(region, start) for region in regions]
    best = train(labels)
    for _ in range(MOST_ROUNDS):
        again = [complete(region, best.result.w) for region in regions]
        if all(np.array_equal(one, other) for one, other in zip(labels, again, strict=True)):
            break
        labels, found = again, train(again)
        if not found.result.objective < best.result.objective:
            break
        best = found
    return best
