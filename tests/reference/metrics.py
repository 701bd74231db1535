"""The scores by their definitions, over sets of items; matchings by trying them all."""

from itertools import combinations, permutations
from math import log

from tests.reference.losses import clusters

Labels = list[int]
PR = tuple[float, float]


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def together(y: Labels) -> set[tuple[int, int]]:
    return {(a, b) for a, b in combinations(range(len(y)), 2) if y[a] == y[b]}


def pairwise(y: Labels, z: Labels) -> PR:
    both = len(together(y) & together(z))
    P = both / len(together(z)) if together(z) else 1.0
    return P, both / len(together(y)) if together(y) else 1.0


def muc_recall(y: Labels, z: Labels) -> float:
    wanted = sum(len(t) - 1 for t in clusters(y))
    found = sum(len(t) - sum(bool(t & c) for c in clusters(z)) for t in clusters(y))
    return found / wanted if wanted else 0.0


def b_cubed_recall(y: Labels, z: Labels) -> float:
    def cluster_of(labels: Labels, a: int) -> set[int]:
        return {b for b, label in enumerate(labels) if label == labels[a]}

    shares = [len(cluster_of(y, a) & cluster_of(z, a)) / len(cluster_of(y, a)) for a in range(len(y))]
    return sum(shares) / len(y)


def best_match(y: Labels, z: Labels, phi: str) -> float:
    left, right = clusters(y), clusters(z)
    if len(left) > len(right):
        left, right = right, left

    def similarity(s: set[int], r: set[int]) -> float:
        shared = len(s & r)
        return shared if phi == "phi3" else 2 * shared / (len(s) + len(r))

    return max(
        sum(similarity(s, r) for s, r in zip(left, order, strict=True))
        for order in permutations(right, len(left))
    )


def lea_recall(y: Labels, z: Labels) -> float:
    def links(s: set[int]) -> int:
        return len(s) * (len(s) - 1) // 2

    total = 0.0
    for t in clusters(y):
        if len(t) == 1:
            total += t in clusters(z)
        else:
            total += len(t) * sum(links(t & c) for c in clusters(z)) / links(t)
    return total / len(y)


def variation_of_information(y: Labels, z: Labels) -> float:
    m, total = len(y), 0.0
    for t in clusters(y):
        for c in clusters(z):
            n = len(t & c)
            if n:
                total -= n / m * (log(n / len(t)) + log(n / len(c)))
    return total


def rand(y: Labels, z: Labels) -> float:
    m = len(y)
    pairs = m * (m - 1) // 2
    return 1.0 - len(together(y) ^ together(z)) / pairs if pairs else 1.0
