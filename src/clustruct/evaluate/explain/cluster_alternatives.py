"""Confidence in each cluster: the score lost by its best other shape, and the split that would help most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import logit

from clustruct.core.partitions import canonical_labels, indicator
from clustruct.core.typing import Floats, Ints, LabelsLike
from clustruct.data import PairScores
from clustruct.learning.score_confidence import (
    Scores,
    Similarities,
    as_csr,
    best_elsewhere,
    cluster_sums,
    source_indicator,
    without_shared_source,
)
from clustruct.search.correlation import greedy, objective

Kind = Literal["merge", "take out", "split", "none"]
# A sparse graph of so few items is clustered faster as a dense one.
SMALL = 500


@dataclass(frozen=True)
class ClusterMove:
    """The best other shape found for one cluster, by its canonical number: a merge with the cluster ``other``
    (else -1), its weakest item taken out, or a split, into ``parts`` (one where nothing is cut).

    ``confidence`` is the score lost by the move: negative where it would gain, infinite where there is none.
    """

    cluster: int
    size: int
    confidence: float
    kind: Kind
    other: int
    parts: tuple[tuple[int, ...], ...]

    def applied_to(self, labels: LabelsLike) -> Ints:
        """The clustering after the move."""
        y = canonical_labels(labels)
        new = y.copy()
        if self.kind == "merge":
            new[y == self.cluster] = self.other
        for number, part in enumerate(self.parts[1:]):
            new[list(part)] = len(y) + number
        return canonical_labels(new)


def cluster_confidence(K: Similarities, labels: LabelsLike, sources: Ints | None = None) -> list[ClusterMove]:
    """Score lost by the best alternative of each cluster, under correlation clustering's objective.

    The alternatives of a cluster are: a merge with another cluster (loses minus the sum of K between
    them); its weakest item taken out (loses the sum of K between it and the rest); and a split found by
    greedy re-clustering of its items, once freely and once with the least similar pair kept apart. The
    loss given is that of a real move, recomputed; a split that loses still less may exist, since to
    find the best one is as hard as clustering itself.

    In a sparse K two clusters without a listed pair between them cannot be merged, nor can, where items of
    one of the ``sources`` never share a cluster, two that both have an item of one.

    Cost O(m^2) dense or O(edges log edges) sparse, and a greedy clustering of each cluster.

    Examples
    --------
    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> [(move.kind, move.confidence) for move in cluster_confidence(K, [0, 0, 1])]
    [('merge', 0.0), ('merge', 0.0)]
    """
    W, y, sums, support = cluster_sums(K, labels)
    sizes = np.bincount(y)
    # T_cd = sum of K_ab over a in c and b in d; the diagonal counts each pair inside c twice.
    merged = as_csr(indicator(y).T @ sums)
    if sources is not None:
        of_cluster = indicator(y).T @ source_indicator(sources)
        merged = without_shared_source(merged, of_cluster, of_cluster)
    between, partner = best_elsewhere(merged, np.arange(len(sizes)))
    order = np.argsort(y, kind="stable")
    W = W[order][:, order]  # each cluster is a block
    stops = np.cumsum(sizes)
    moves = []
    for c, (start, stop) in enumerate(zip(stops - sizes, stops, strict=True)):
        items = order[start:stop]
        kind: Kind = "none" if partner[c] < 0 else "merge"
        merge = ClusterMove(c, len(items), 0.0 - float(between[c]), kind, int(partner[c]), (_tuple(items),))
        cuts = [_without_weakest(c, items, support[items])] if len(items) > 1 else []
        if len(items) > 2:
            cuts += _splits(W[start:stop, start:stop], c, items)
        moves.append(min([merge, *cuts], key=lambda move: move.confidence))
    return moves


def _without_weakest(c: int, items: Ints, support: Floats) -> ClusterMove:
    weakest = int(support.argmin())
    parts = (_tuple(np.delete(items, weakest)), (int(items[weakest]),))
    return ClusterMove(c, len(items), float(support[weakest]), "take out", -1, parts)


def _splits(inside: Scores, c: int, items: Ints) -> list[ClusterMove]:
    """Greedy re-clusterings of one cluster that cut it."""
    if not isinstance(inside, np.ndarray) and len(items) <= SMALL:
        inside = inside.toarray()
    whole = inside.sum() / 2.0
    found = []
    for labels in (greedy(inside), greedy(_kept_apart(inside))):
        if labels.max() > 0:
            parts = tuple(_tuple(items[labels == p]) for p in range(int(labels.max()) + 1))
            lost = float(whole) - objective(inside, labels)
            found.append(ClusterMove(c, len(items), lost, "split", -1, parts))
    return found


def _kept_apart(inside: Scores) -> Scores:
    """The scores with the least similar pair (the least similar listed one) made one that never joins."""
    penalty = 1.0 + abs(inside).sum()
    if not isinstance(inside, np.ndarray):
        if not inside.nnz:
            return inside
        entries = inside.tocoo()
        a, b = np.array(entries.coords)[:, entries.data.argmin()]
        bar = sparse.csr_array(([penalty, penalty], ([a, b], [b, a])), shape=inside.shape)
        return inside - bar
    fenced = inside.copy()
    np.fill_diagonal(fenced, np.inf)
    a, b = np.unravel_index(fenced.argmin(), fenced.shape)
    fenced[a, b] = fenced[b, a] = -penalty
    np.fill_diagonal(fenced, 0.0)
    return fenced


def _tuple(items: Ints) -> tuple[int, ...]:
    return tuple(items.tolist())


# A group is cut where the first of these probabilities, as a threshold, cuts it.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
NEAREST = 1e-9


@dataclass(frozen=True)
class Split:
    """The smaller side of a group that may not belong to the rest: the mean probability that an item of it
    and one of the rest belong together, and how many wrong pairs are to be expected between them.
    """

    cluster: int
    size: int
    part: tuple[int, ...]
    together: float
    wrong_pairs: float


def suggested_splits(
    scores: PairScores, labels: LabelsLike, probability: Callable[[Floats], Floats]
) -> list[Split]:
    """For each group the part of which most wrong pairs with the rest are expected, the worst group first.

    The parts of a group are those in which the lowest of several thresholds on the probability of a pair
    cuts it (by greedy merging of the pairs inside groups). For a part A of a group, q the mean probability of
    the compared pairs between A and the rest B, (1 - q) |A| |B| wrong pairs are expected: what a person who
    looks at this one question may mend. Groups that no threshold cuts are left out.

    Cost O(pairs log pairs) for each threshold; nothing is made a matrix.

    Examples
    --------
    >>> K = np.full((4, 4), 1.0); K[:2, :2] = K[2:, 2:] = 9.0
    >>> found = suggested_splits(PairScores(4, matrix=K), [0, 0, 0, 0], lambda s: s / 10)[0]
    >>> found.part, round(found.together, 2), round(found.wrong_pairs, 2)
    ((0, 1), 0.1, 3.6)
    """
    y, listed = canonical_labels(labels), scores.list_pairs()
    assert listed.index is not None
    assert listed.values is not None
    inside = np.flatnonzero(y[listed.index[:, 0]] == y[listed.index[:, 1]])
    pairs, p = listed.index[inside], probability(listed.values[inside])
    parts = _first_parts(y, pairs, p)
    return _worst(y, parts, pairs, p)


def _first_parts(y: Ints, pairs: Ints, p: Floats) -> Ints:
    """The part of each item where the first threshold that cuts its group does so."""
    parts, uncut, first_free = y.copy(), np.bincount(y) > 1, len(y)
    evidence = logit(np.clip(p, NEAREST, 1.0 - NEAREST))
    for level in LEVELS:
        use = uncut[y[pairs[:, 0]]]
        if not use.any():
            break
        found = greedy(PairScores(len(y), index=pairs[use], values=evidence[use] - logit(level)))
        first = np.unique(y, return_index=True)[1]
        cut = np.zeros(len(uncut), np.bool_)
        cut[y[found != found[first][y]]] = True
        cut &= uncut
        parts[cut[y]] = first_free + found[cut[y]]
        first_free += len(y)  # parts that another threshold finds have numbers of their own
        uncut &= ~cut
    return canonical_labels(parts)


def _worst(y: Ints, parts: Ints, pairs: Ints, p: Floats) -> list[Split]:
    """Of each group that was cut, the part with most wrong pairs to be expected."""
    ends = parts[pairs]
    across = ends[:, 0] != ends[:, 1]
    k = int(parts.max(initial=-1)) + 1
    both, twice = ends[across].T.ravel(), np.tile(p[across], 2)
    count = np.bincount(both, minlength=k)
    q = np.bincount(both, weights=twice, minlength=k) / np.maximum(count, 1)
    size, group = np.bincount(parts, minlength=k), np.zeros(k, np.int64)
    group[parts] = y
    rest = np.bincount(y)[group] - size
    wrong = (1.0 - q) * size * rest
    order = np.lexsort((size, -wrong))
    found, seen = [], set[int]()
    members = np.split(np.argsort(parts, kind="stable"), np.cumsum(size)[:-1])
    for part in order.tolist():
        if rest[part] == 0 or int(group[part]) in seen:
            continue
        seen.add(int(group[part]))
        items = members[part]
        if size[part] > rest[part]:
            items = np.setdiff1d(np.flatnonzero(y == group[part]), items)
        whole = int(size[part] + rest[part])
        found.append(
            Split(int(group[part]), whole, tuple(items.tolist()), float(q[part]), float(wrong[part]))
        )
    return found
