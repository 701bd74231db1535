"""The best matching, and the best clustering with one item of each source, by trying all."""

from itertools import combinations

import numpy as np


def best_matching(left: np.ndarray, right: np.ndarray, values: np.ndarray) -> float:
    """The largest sum of values of pairs that share no item."""
    pairs = list(zip(left.tolist(), right.tolist(), values.tolist(), strict=True))
    best = 0.0
    for size in range(1, len(pairs) + 1):
        for some in combinations(pairs, size):
            if len({a for a, _, _ in some}) == len({b for _, b, _ in some}) == size:
                best = max(best, sum(v for _, _, v in some))
    return best


def best_exclusive(K: np.ndarray, sources: np.ndarray) -> float:
    """The largest sum of scores inside clusters without two items of a source."""
    m = len(K)

    def value(a: int, clusters: list[list[int]]) -> float:
        if a == m:
            return 0.0
        best = value(a + 1, [*clusters, [a]])
        for c, items in enumerate(clusters):
            if all(sources[a] != sources[b] for b in items):
                grown = [*clusters[:c], [*items, a], *clusters[c + 1 :]]
                best = max(best, sum(K[a, b] for b in items) + value(a + 1, grown))
        return best

    return value(0, [])
