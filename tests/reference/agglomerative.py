"""Slow, obvious twins of clustruct.search.agglomerative and of the losses of links, in plain loops.

Pairs are a dict {(a, b): score}, a < b; pairs that are not in it are not scored.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

Pair = tuple[int, int]
Scores = dict[Pair, float]


def scores_of(K: np.ndarray) -> Scores:
    """All pairs of a matrix."""
    return {(a, b): float(K[a, b]) for a, b in combinations(range(len(K)), 2)}


def pieces(m: int, links: Sequence[Pair]) -> list[int]:
    """The connected pieces, numbered by first appearance."""
    label = list(range(m))
    for a, b in links:
        old, new = label[b], label[a]
        label = [new if c == old else c for c in label]
    names: dict[int, int] = {}
    return [names.setdefault(c, len(names)) for c in label]


def all_forests(m: int, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Every set of the pairs without a circle."""

    def grow(chosen: tuple[Pair, ...], label: list[int], rest: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
        if not rest:
            yield chosen
            return
        (a, b), others = rest[0], rest[1:]
        yield from grow(chosen, label, others)
        if label[a] != label[b]:
            joined = [label[a] if c == label[b] else c for c in label]
            yield from grow((*chosen, (a, b)), joined, others)

    yield from grow((), list(range(m)), list(pairs))


def all_left_links(m: int, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Every choice of one earlier item, or none, for each item."""
    found: list[tuple[Pair, ...]] = [()]
    for j in range(m):
        options = [(i, b) for i, b in pairs if b == j]
        found = [(*links, *extra) for links in found for extra in [(), *((pair,) for pair in options)]]
    yield from found


def total(scores: Scores, links: Sequence[Pair]) -> float:
    """The sum of the scores of the links."""
    return sum(scores[pair] for pair in links)


def n_true_links(truth: Sequence[int], scores: Scores) -> int:
    """m less the number of connected pieces of the truth's clusters among the scored pairs."""
    inside = [(a, b) for a, b in scores if truth[a] == truth[b]]
    return len(truth) - len(set(pieces(len(truth), inside)))


def single_loss(truth: Sequence[int], scores: Scores, links: Sequence[Pair]) -> float:
    """s (m - k - sum l), l = 1 for a link inside a cluster of the truth, else -1."""
    m, true = len(truth), n_true_links(truth, scores)
    k = m - true
    if m == 1:
        return 0.0
    s = 100.0 / (m - 1) if k == 1 else 100.0 / (2 * m - k - 1)
    return s * (true - sum(1 if truth[a] == truth[b] else -1 for a, b in links))


def left_loss(truth: Sequence[int], scores: Scores, links: Sequence[Pair], r: float) -> float:
    """100 / m (items with an earlier true mate - sum l), l = 1 for a true mate, else -r."""
    true = len({b for a, b in scores if truth[a] == truth[b]})
    return 100.0 / len(truth) * (true - sum(1.0 if truth[a] == truth[b] else -r for a, b in links))


def agglomerate(m: int, scores: Scores, linkage: str, stop: float = 0.0) -> list[tuple[set[int], set[int]]]:
    """The merges in their order: of the clusters of highest mean (or least) score, while it is >= stop."""
    clusters, merges = [{a} for a in range(m)], []
    while True:
        best: tuple[float, int, int] | None = None
        for i, j in combinations(range(len(clusters)), 2):
            across = between(scores, clusters[i], clusters[j])
            if not across:
                continue
            value = min(across) if linkage == "complete" else sum(across) / len(across)
            if linkage == "single":
                value = max(across)
            if best is None or value > best[0]:
                best = (value, i, j)
        if best is None or best[0] < stop:
            return merges
        _, i, j = best
        merges.append((set(clusters[i]), set(clusters[j])))
        clusters[i] |= clusters.pop(j)


def between(scores: Scores, one: set[int], other: set[int]) -> list[float]:
    """The scores of the pairs across two clusters."""
    pairs = [(min(a, b), max(a, b)) for a in one for b in other]
    return [scores[pair] for pair in pairs if pair in scores]


def labels_after(m: int, merges: Sequence[tuple[set[int], set[int]]]) -> list[int]:
    """The clusters that merges make."""
    return pieces(m, [(min(one), min(other)) for one, other in merges])
