"""The losses by their definitions, over sets of items."""

import math
from itertools import combinations, permutations


def clusters(labels: list[int]) -> list[set[int]]:
    return [{a for a, label in enumerate(labels) if label == c} for c in sorted(set(labels))]


def pairwise(y: list[int], ybar: list[int], merge_cost: float = 1.0, split_cost: float = 1.0) -> float:
    m = len(y)
    if m < 2:
        return 0.0
    wrong = 0.0
    for a, b in combinations(range(m), 2):
        if y[a] == y[b] and ybar[a] != ybar[b]:
            wrong += split_cost
        if y[a] != y[b] and ybar[a] == ybar[b]:
            wrong += merge_cost
    return 100.0 * wrong / (m * (m - 1) / 2)


def muc_recall(y: list[int], ybar: list[int]) -> float:
    found = sum(len(c) - sum(bool(c & d) for d in clusters(ybar)) for c in clusters(y))
    wanted = sum(len(c) - 1 for c in clusters(y))
    return 1.0 if wanted == 0 else found / wanted


def pairwise_f(
    y: list[int],
    ybar: list[int],
    beta: float = 1.0,
    known: list[bool] | None = None,
    background_weight: float = 1.0,
) -> float:
    """100 (1 - F) over the pairs of which at least one item is known."""
    known = [True] * len(y) if known is None else known
    both = found = right = 0.0
    for a, b in combinations(range(len(y)), 2):
        if not (known[a] or known[b]):
            continue
        weight = 1.0 if known[a] and known[b] else background_weight
        found += weight * (ybar[a] == ybar[b])
        right += y[a] == y[b]
        both += y[a] == y[b] and ybar[a] == ybar[b]
    if found + right == 0:
        return 0.0
    return 100.0 * (1 - (1 + beta**2) * both / (found + beta**2 * right))


def mitre(y: list[int], ybar: list[int]) -> float:
    R, P = muc_recall(y, ybar), muc_recall(ybar, y)
    return 100.0 if P + R == 0 else 100.0 * (1 - 2 * P * R / (P + R))


def purity(y: list[int], ybar: list[int]) -> float:
    return sum(max(len(c & d) for d in clusters(ybar)) for c in clusters(y)) / len(y)


def mutual_purity(y: list[int], ybar: list[int]) -> float:
    A, B = purity(y, ybar), purity(ybar, y)
    return 100.0 * (1 - 2 * A * B / (A + B))


def f_loss(P: float, R: float) -> float:
    return 100.0 if P + R == 0 else 100.0 * (1 - 2 * P * R / (P + R))


def b_cubed(y: list[int], ybar: list[int]) -> float:
    """The share of each item's cluster that is right, item by item."""
    m = len(y)
    P = R = 0.0
    for a in range(m):
        true, found = {b for b in range(m) if y[b] == y[a]}, {b for b in range(m) if ybar[b] == ybar[a]}
        P += len(true & found) / len(found) / m
        R += len(true & found) / len(true) / m
    return f_loss(P, R)


def links(cluster: set[int]) -> set[tuple[int, int]]:
    return {(a, a) for a in cluster} if len(cluster) == 1 else set(combinations(sorted(cluster), 2))


def lea(y: list[int], ybar: list[int]) -> float:
    """The share of the links of each cluster that the other side has, weighed by size."""

    def resolved(own: list[set[int]], other: list[set[int]]) -> float:
        found = set().union(*(links(c) for c in other))
        return sum(len(c) * len(links(c) & found) / len(links(c)) for c in own) / len(y)

    true, pred = clusters(y), clusters(ybar)
    return f_loss(resolved(pred, true), resolved(true, pred))


def variation_of_information(y: list[int], ybar: list[int]) -> float:
    m = len(y)
    H = 0.0
    for c in clusters(y):
        for d in clusters(ybar):
            share = len(c & d) / m
            if share:
                H -= share * (math.log(share / (len(c) / m)) + math.log(share / (len(d) / m)))
    return 100.0 * H / math.log(m) if m > 1 else 0.0


def best_map(y: list[int], ybar: list[int], likeness) -> float:
    """Over all one-to-one maps of the fewer clusters into the more."""
    few, many = sorted((clusters(y), clusters(ybar)), key=len)
    return max(
        sum(likeness(c, d) for c, d in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


def ceaf_mention(y: list[int], ybar: list[int]) -> float:
    return 100.0 * (1 - best_map(y, ybar, lambda c, d: len(c & d)) / len(y))


def ceaf_entity(y: list[int], ybar: list[int]) -> float:
    V = best_map(y, ybar, lambda c, d: 2 * len(c & d) / (len(c) + len(d)))
    return f_loss(V / len(clusters(ybar)), V / len(clusters(y)))
