"""The losses by their definitions, over sets of items."""

from itertools import combinations


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
