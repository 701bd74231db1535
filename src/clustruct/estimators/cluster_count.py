"""How many clusters a set has, from the eigenvalues of its similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.inference import spectral

# Where nothing is known, k is looked for up to this many.
MOST_CLUSTERS = 30


def count_clusters(K: Any, most: int = MOST_CLUSTERS) -> int:
    """k with the largest eigengap, lambda_k - lambda_{k+1}, among 1 <= k <= ``most`` (and k < m).

    Training pushes the k leading eigenvalues of K up against the others by the margin, so that the gap
    after the k-th is what it makes large. The other rule at hand, the k of highest objective
    trace(Y'KY), counts the positive eigenvalues: `python -m benchmarks.kmeans_count` compares the two.

    >>> count_clusters(np.diag([5.0, 5.0, 1.0, 0.5]))
    2
    """
    m = len(K)
    if m < 3:
        return 1 if m < 2 or K[0][1] > 0.0 else 2
    values = spectral.leading_eigenvectors(K, min(most + 1, m))[0]
    return int(np.argmax(values[:-1] - values[1:])) + 1


def count_by_objective(K: Any, most: int = MOST_CLUSTERS) -> int:
    """k with the highest relaxed objective: the number of positive eigenvalues, at most ``most``.

    >>> count_by_objective(np.diag([5.0, 5.0, 1.0, -0.5]))
    3
    """
    values = spectral.leading_eigenvectors(K, min(most, len(K)))[0]
    return max(1, int(np.count_nonzero(values > 0.0)))
