"""What the pictures are drawn from: marbles grouped by hue, measured so badly that errors are left."""

from __future__ import annotations

from functools import cache

import numpy as np

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.datasets import make_marbles


@cache
def trained() -> tuple[SupervisedCorrelationClustering, ItemSet, np.ndarray]:
    """A fitted model, one new set of marbles, and the right clusters of these."""
    *train, new = make_marbles(
        9, 60, colours=["red", "yellow", "green", "cyan", "blue", "magenta"], noise=1.6, random_state=4
    )
    model = SupervisedCorrelationClustering(C=1.0).fit(
        [m.item_set() for m in train], [m.labels for m in train]
    )
    return model, new.item_set(), new.labels
