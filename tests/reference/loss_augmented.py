"""Greedy and local search for H by their definitions: every neighbour is built and scored from scratch."""

from collections.abc import Callable, Iterator
from itertools import combinations
from math import sqrt

import numpy as np

from tests.reference.partitions import all_partitions

Labels = list[int]
Value = Callable[[Labels], float]


def canonical(labels: Labels) -> Labels:
    order = list(dict.fromkeys(labels))
    return [order.index(label) for label in labels]


def objective(
    K: np.ndarray, y: Labels, delta: Callable[[Labels, Labels], float], scaling: str, slack_norm: int
) -> Value:
    """H as a function of a labeling."""

    def S(labels: Labels) -> float:
        return float(sum(K[a, b] for a, b in combinations(range(len(labels)), 2) if labels[a] == labels[b]))

    def H(labels: Labels) -> float:
        D = delta(y, labels) if slack_norm == 1 else sqrt(max(delta(y, labels), 0.0))
        gain = S(labels) - S(y)
        return D + gain if scaling == "margin" else D * (1 + gain)

    return H


def best_of_all(m: int, H: Value) -> float:
    return max(H(y) for y in all_partitions(m))


def merged(labels: Labels, c: int, d: int) -> Labels:
    return [c if label == d else label for label in labels]


def greedy_steps(m: int, H: Value, tolerance: float = 1e-9) -> Iterator[Labels]:
    labels = list(range(m))
    yield labels
    while True:
        names = sorted(set(labels))
        options = [merged(labels, c, d) for c, d in combinations(names, 2)]
        best = max(options, key=H, default=labels)
        if H(best) <= H(labels) + tolerance:
            return
        labels = best
        yield canonical(labels)


def climb_steps(start: Labels, H: Value, tolerance: float = 1e-9) -> Iterator[Labels]:
    labels = list(start)
    yield canonical(labels)
    while True:
        before = labels
        for item in range(len(labels)):
            targets = [*sorted(set(labels)), max(labels) + 1]
            options = [[*labels[:item], c, *labels[item + 1 :]] for c in targets]
            best = max(options, key=H)
            if H(best) > H(labels) + tolerance:
                labels = best
                yield canonical(labels)
        if labels is not before:
            continue
        options = [merged(labels, c, d) for c, d in combinations(sorted(set(labels)), 2)]
        best = max(options, key=H, default=labels)
        if H(best) <= H(labels) + tolerance:
            return
        labels = best
        yield canonical(labels)
