"""How many clusters a set has, from the eigenvalues of its similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.inference import spectral

# Where nothing is known, k is looked for up to this many.
MOST_CLUSTERS = 30


def count_clusters(K: Any, most: int = MOST_CLUSTERS) -> int:
    """1 + the place of the largest eigengap of centred K, up to ``most`` clusters.

    The columns of every partition's Y span the constant vector, so that k clusters show as k - 1 leading
    eigenvalues of HKH, H = I - 11'/m, which training pushes up against the others by the margin. (K
    itself says less: no partition depends on 1'K1, and training leaves it where it falls.) Without a
    positive eigenvalue there is one cluster. `python -m benchmarks.kmeans_count` compares rules.

    >>> count_clusters(np.array([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]]))
    2
    """
    m = len(K)
    if m < 3:
        return 1 if m < 2 or K[0][1] > 0.0 else 2
    # The last of the m eigenvalues belongs to the constant vector.
    values = spectral.leading_eigenvectors(spectral.centre(K), min(most, m - 1))[0]
    if values[0] <= 1e-12 * float(np.abs(K).max()) * m:
        return 1
    return int(np.argmax(values[:-1] - values[1:])) + 2


def count_by_objective(K: Any, most: int = MOST_CLUSTERS) -> int:
    """k with the highest relaxed objective: the number of positive eigenvalues, at most ``most``.

    >>> count_by_objective(np.diag([5.0, 5.0, 1.0, -0.5]))
    3
    """
    values = spectral.leading_eigenvectors(K, min(most, len(K)))[0]
    return max(1, int(np.count_nonzero(values > 0.0)))
