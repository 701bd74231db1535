"""Agglomerative clustering that stops at zero: single, average and complete link, and links to the left.

    maximise over partitions y and links h that make them:   F(y, h) = sum_{(a,b) in h} B_ab K_ab

From singletons, the two clusters that are most alike are joined while their likeness is at least 0: that of
their most similar pair (single link, Algorithm 8 of Finley 2009, section 6.2), the mean over their pairs
(average link), or that of their least similar pair (complete link). h are the pairs that were decisive, with
B = 1, or (average link) all pairs across a merge, with one over their number. Single link maximises F over
all forests; the other two are greedy. Left links are for items in an order: each takes its best earlier
item, where that scores above 0.

Pairs that are not listed are not scored: they join nothing, and have no part in a mean or a minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from clustruct.core.partitions import canonical_labels, connected_items
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores

__all__ = ["average_link", "complete_link", "left_links", "single_link"]

Linkage: TypeAlias = Literal["single", "average", "complete", "left"]


@dataclass(frozen=True, eq=False)
class WeightedLinks:
    """Pairs (q x 2, smaller item first) with their weights B, and the clusters that they make of m items."""

    n_items: int
    index: Ints
    weights: Floats

    @classmethod
    def plain(cls, n_items: int, index: Ints) -> WeightedLinks:
        """Links that count once each, in the order of their items."""
        order = np.lexsort((index[:, 0], index[:, 1]))
        return cls(n_items, index[order], np.ones(len(index)))

    @cached_property
    def labels(self) -> Ints:
        """Canonical labels of the connected pieces."""
        return canonical_labels(connected_items(self.n_items, self.index))

    def same_as(self, other: WeightedLinks) -> bool:
        """Whether the same pairs are linked with the same weights."""
        return np.array_equal(self.index, other.index) and np.array_equal(self.weights, other.weights)

    def score(self, scores: PairScores) -> float:
        """F: the weighted sum of the scores of the links."""
        return float(self.weights @ scores.at(self.index))


def single_link(K: Any, within: Ints | None = None) -> WeightedLinks:
    """Join the two clusters that hold the most similar pair, while its score is at least 0.

    Algorithm 8: Kruskal's algorithm stopped at zero, which finds the forest of highest score. K is a square
    matrix (dense and symmetric, or sparse), or `PairScores`. With labels ``within``, the maximum spanning
    tree inside each of their clusters, whatever it scores (one for each piece that the listed pairs connect).
    Cost O(m^2) for a matrix (Prim's algorithm), O(p log p) for p listed pairs.

    Examples
    --------
    >>> K = np.array([[0.0, 2.0, -9.0], [2.0, 0.0, 1.0], [-9.0, 1.0, 0.0]])
    >>> single_link(K).index.tolist(), single_link(K).labels.tolist()
    ([[0, 1], [1, 2]], [0, 0, 0])
    >>> single_link(K - 1.5).labels.tolist()
    [0, 0, 1]
    """
    from ._kernels.link_merging import kruskal, prim

    scores, labels, floor = _task(K, within)
    if scores.matrix is not None:
        links = np.empty((max(scores.n_items - 1, 0), 2), np.int64)
        n = prim(scores.matrix, labels, floor, links)
        return WeightedLinks.plain(scores.n_items, links[:n])
    index, values = scores.pairs_and_scores()
    candidates = np.flatnonzero((values >= floor) & (labels[index[:, 0]] == labels[index[:, 1]]))
    order = candidates[np.argsort(-values[candidates], kind="stable")]
    kept = np.zeros(len(index), np.bool_)
    kruskal(index, order, np.arange(scores.n_items), kept)
    return WeightedLinks.plain(scores.n_items, index[kept])


def left_links(K: Any, within: Ints | None = None) -> WeightedLinks:
    """Each item links to its best earlier item, h_j = argmax_{i<j} K_ij, where that scores above 0.

    The items are in an order that means something: mentions of a text, messages of a thread. ``within``: the
    best earlier item of the same label for each item that has one, whatever it scores.

    Cost O(m^2), or O(p) for p listed pairs.

    Examples
    --------
    >>> K = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]])
    >>> left_links(K).index.tolist()
    [[0, 1], [1, 2]]
    >>> left_links(-K, within=np.array([0, 1, 0])).index.tolist()
    [[0, 2]]
    """
    from ._kernels.link_merging import left_of_list, left_of_matrix

    scores, labels, floor = _task(K, within)
    best, mate = np.full(scores.n_items, floor), np.full(scores.n_items, -1)
    if scores.matrix is not None:
        left_of_matrix(scores.matrix, labels, best, mate)
    else:
        left_of_list(*scores.pairs_and_scores(), labels, best, mate)
    linked = np.flatnonzero(mate >= 0)
    return WeightedLinks(scores.n_items, np.column_stack([mate[linked], linked]), np.ones(len(linked)))


def average_link(K: Any, within: Ints | None = None, gains: Floats | None = None) -> WeightedLinks:
    """Join the two clusters with the highest mean score between them, while it is at least 0.

    ``within`` as for `single_link`. ``gains``: one number for each scored pair (in the order of the list, or
    of `pdist`), whose sum over the pairs that a merge puts together is added to what the merge scores.

    Cost O(m^2) numbers, a few passes over them in practice (O(m^3) at worst).

    Examples
    --------
    >>> K = np.array([[0.0, 2.0, -9.0], [2.0, 0.0, 1.0], [-9.0, 1.0, 0.0]])
    >>> average_link(K).labels.tolist()
    [0, 0, 1]
    >>> average_link(K, within=np.zeros(3, int)).weights
    array([1. , 0.5, 0.5])
    """
    from ._kernels.link_merging import spread_means

    scores = _scores(K)
    merges, scored = _merges(scores, within, gains, complete=False)
    room = int(np.count_nonzero(scored)) // 2
    links, weights = np.empty((room, 2), np.int64), np.empty(room)
    n = spread_means(merges, scored, links, weights)
    return WeightedLinks(scores.n_items, links[:n], weights[:n])


def complete_link(K: Any, within: Ints | None = None, gains: Floats | None = None) -> WeightedLinks:
    """Join the two clusters whose least similar pair scores most, while that is at least 0.

    Parameters and cost as for `average_link`.

    Examples
    --------
    >>> K = np.array([[0.0, 2.0, -9.0], [2.0, 0.0, 1.0], [-9.0, 1.0, 0.0]])
    >>> complete_link(K).labels.tolist(), complete_link(K, within=np.zeros(3, int)).index.tolist()
    ([0, 0, 1], [[0, 1], [0, 2]])
    """
    scores = _scores(K)
    merges, _ = _merges(scores, within, gains, complete=True)
    pairs = np.column_stack(np.divmod(merges[:, 2], max(scores.n_items, 1)))
    return WeightedLinks.plain(scores.n_items, np.sort(pairs, axis=1))


LINKAGES: dict[str, Callable[..., WeightedLinks]] = {
    "single": single_link,
    "average": average_link,
    "complete": complete_link,
    "left": left_links,
}


def dense_parts(scores: PairScores) -> tuple[Floats, Bools]:
    """Scores as a matrix without a diagonal, 0 where a pair is not scored; and which are."""
    m = scores.n_items
    if scores.matrix is not None:
        S = scores.matrix.copy()
        np.fill_diagonal(S, 0.0)
        return S, ~np.eye(m, dtype=np.bool_)
    S, scored = np.zeros((m, m)), np.zeros((m, m), np.bool_)
    index, values = scores.pairs_and_scores()
    a, b = index.T
    S[a, b] = S[b, a] = values
    scored[a, b] = scored[b, a] = True
    return S, scored


def _merges(
    scores: PairScores, within: Ints | None, gains: Floats | None, *, complete: bool
) -> tuple[Ints, Bools]:
    """The merges in their order (the first items of both clusters, and the pair that was decisive for
    complete link), and which pairs are scored.
    """
    from ._kernels.link_merging import agglomerate

    S, scored = dense_parts(scores)
    m = scores.n_items
    pair = np.arange(m * m).reshape(m, m)
    L = np.zeros((m, m)) if gains is None else dense_parts(scores.like(gains))[0]
    merges = np.empty((max(m - 1, 0), 3), np.int64)
    _, labels, floor = _task(scores, within)
    n = agglomerate(S, scored.astype(np.float64), L, pair, labels, complete, floor, merges)
    return merges[:n], scored


def _scores(K: Any) -> PairScores:
    return K if isinstance(K, PairScores) else PairScores.from_matrix(K)


def _task(K: Any, within: Ints | None) -> tuple[PairScores, Ints, float]:
    """The scores, labels that joins must not cross, and the score from which on there are joins."""
    scores = _scores(K)
    if within is None:
        return scores, np.zeros(scores.n_items, np.int64), 0.0
    return scores, canonical_labels(within, n_items=scores.n_items), -np.inf
