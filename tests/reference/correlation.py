"""Slow, obvious twins of clustruct.search.correlation: what each function means, in plain loops."""

from collections.abc import Sequence

import numpy as np

from tests.reference.partitions import all_partitions

Pairs = Sequence[tuple[int, int]]


def objective(K: np.ndarray, labels: Sequence[int]) -> float:
    """Sum of K_ab over unordered pairs with equal labels."""
    m = len(labels)
    return float(sum(K[a, b] for a in range(m) for b in range(a + 1, m) if labels[a] == labels[b]))


def allowed(labels: Sequence[int], must_link: Pairs = (), cannot_link: Pairs = ()) -> bool:
    """Do the labels honour every link?"""
    return all(labels[a] == labels[b] for a, b in must_link) and all(
        labels[a] != labels[b] for a, b in cannot_link
    )


def best_partition(
    K: np.ndarray, must_link: Pairs = (), cannot_link: Pairs = ()
) -> tuple[float, list[list[int]]]:
    """Best value over all partitions that honour the links, and every partition that reaches it."""
    scored = [(objective(K, y), y) for y in all_partitions(len(K)) if allowed(y, must_link, cannot_link)]
    top = max(value for value, _ in scored)
    return top, [y for value, y in scored if value >= top - 1e-9]


def canonical(labels: Sequence[int]) -> list[int]:
    """Clusters numbered by first appearance."""
    names: dict[int, int] = {}
    return [names.setdefault(label, len(names)) for label in labels]


def greedy_steps(K: np.ndarray) -> list[list[int]]:
    """Algorithm 3: the clustering after each merge, singletons first. Ties: smallest first items."""
    clusters = [[a] for a in range(len(K))]
    sums = {(a, b): float(K[a, b]) for a in range(len(K)) for b in range(a + 1, len(K))}
    steps = []
    while True:
        labels = [0] * len(K)
        for c, members in enumerate(clusters):
            for a in members:
                labels[a] = c
        steps.append(canonical(labels))
        gains = {pair: gain for pair, gain in sums.items() if gain > 0}
        if not gains:
            return steps
        u, v = min(gains, key=lambda pair: (-gains[pair], pair))
        for members in clusters:
            x = members[0]
            if x not in (u, v):
                sums[min(u, x), max(u, x)] += sums.pop((min(v, x), max(v, x)))
        del sums[u, v]
        kept, gone = (next(c for c in clusters if c[0] == name) for name in (u, v))
        kept += gone
        clusters.remove(gone)


def move_gains(K: np.ndarray, labels: Sequence[int]) -> list[float]:
    """What every single move (to any cluster, or to a new one) would gain."""
    before = objective(K, labels)
    gains = []
    for a in range(len(K)):
        for c in range(max(labels) + 2):
            moved = list(labels)
            moved[a] = c
            gains.append(objective(K, moved) - before)
    return gains


def join_gains(K: np.ndarray, labels: Sequence[int]) -> list[float]:
    """What every join of two clusters would gain."""
    before = objective(K, labels)
    names = sorted(set(labels))
    return [
        objective(K, [c if label == d else label for label in labels]) - before
        for c in names
        for d in names
        if c < d
    ]
