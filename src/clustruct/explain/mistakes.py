"""Wrong pairs of which a model is most confident."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clustruct._typing import LabelsLike
from clustruct.partitions import canonical_labels

from ._scores import Similarities, symmetric_scores


@dataclass(frozen=True)
class WrongPair:
    """Items a < b whose place is wrong, with their similarity; `together` is what was predicted."""

    a: int
    b: int
    similarity: float
    together: bool


def wrong_pairs(K: Similarities, truth: LabelsLike, predicted: LabelsLike, n: int = 5) -> list[WrongPair]:
    """The n wrong pairs whose similarity speaks most for the error: highest K among pairs wrongly put
    together, lowest among pairs wrongly kept apart, the two kinds in one order by that size.

    Of a sparse K only the listed pairs are looked at.

    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> wrong_pairs(K, truth=[0, 1, 1], predicted=[0, 0, 1])
    [WrongPair(a=0, b=1, similarity=3.0, together=True), WrongPair(a=1, b=2, similarity=1.0, together=False)]
    """
    W = symmetric_scores(K)
    t = canonical_labels(truth, n_items=W.shape[0], name="truth")
    p = canonical_labels(predicted, n_items=W.shape[0], name="predicted")
    if sparse.issparse(W):
        entries = sparse.triu(W, 1).tocoo()
        (a, b), values = entries.coords, entries.data
    else:
        a, b = np.triu_indices(len(t), 1)
        values = W[a, b]
    together = p[a] == p[b]
    wrong = np.flatnonzero(together != (t[a] == t[b]))
    confidence = np.where(together, values, -values)[wrong]
    worst = wrong[np.argsort(-confidence, kind="stable")[:n]]
    return [WrongPair(int(a[i]), int(b[i]), float(values[i]), bool(together[i])) for i in worst]
