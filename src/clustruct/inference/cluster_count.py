"""How many clusters a set has, from the eigenvalues of its similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import spectral

# Where nothing is known, k is looked for up to this many.
MOST_CLUSTERS = 30


def count_clusters(K: Any, least: int = 1, most: int = MOST_CLUSTERS) -> int:
    """1 + the place of the largest eigengap of centred K, between ``least`` and ``most`` clusters.

    The columns of every partition's Y span the constant vector, so that k clusters show as k - 1 leading
    eigenvalues of HKH, H = I - 11'/m, which training pushes up against the others by the margin. (K
    itself says less: no partition depends on 1'K1, and training leaves it where it falls.) Without a
    positive eigenvalue there is one cluster. `python -m benchmarks.kmeans_count` compares rules.

    >>> count_clusters(np.array([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 2.0]]))
    2
    """
    m = len(K)
    if m < 3:
        one = m < 2 or (least < 2 and K[0][1] > 0.0) or most < 2
        return 1 if one else 2
    low, high = min(max(least, 2), m - 1), min(most, m - 1)
    if high < 2:
        return 1
    # The last of the m eigenvalues belongs to the constant vector. Place j holds the (j + 1)st eigenvalue.
    values = spectral.leading_eigenvectors(spectral.centre(K), min(high, m - 1))[0]
    if least < 2 and values[0] <= 1e-12 * float(np.abs(K).max()) * m:
        return 1
    gaps = (values[:-1] - values[1:])[low - 2 :]
    return int(np.argmax(gaps)) + low if gaps.size else low


def count_range(labels: Sequence[NDArray[np.int64]]) -> tuple[int, int]:
    """Where to look for k after training: from half the fewest clusters seen to twice the most.

    >>> count_range([np.array([0, 1, 2, 3]), np.array([0, 0, 1, 2, 3, 4])])
    (2, 10)
    """
    seen = [int(y.max()) + 1 for y in labels]
    return max(1, min(seen) // 2), 2 * max(seen)
