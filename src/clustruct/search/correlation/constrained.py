r"""Correlation clustering under what is known: the one search for the best clusters under must and cannot.

.. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab}

over the clusterings y that keep each *piece* (items that must be together) whole, some pairs apart, no two
*anchors* (pieces that are known to differ from each other) in one cluster, and no source twice in one. What
two anchors score is no matter, and thousands of them cost nothing that is not listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clustruct.core.partitions import canonical_labels, chained_pairs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores

from .exclusive import source_pairs
from .graph import COLD, HOT, local_search

# Components of up to so many nodes are searched by branch and bound, in so many steps (one takes about 1 us).
SMALL, STEPS_OF_COMPONENT, STEPS = 24, 20_000, 1_000_000
# Where more than this share of all pairs has a score, a matrix is searched: a quarter of the time for 2,500
# items, and 3 % more.
DENSE = 0.5
NO_PAIRS = np.empty((0, 2), np.int64)


def constrained_search(
    scores: PairScores,
    pieces: Any = None,
    *,
    anchored: Any = None,
    cannot_link: Any = None,
    start: Any = None,
    sweeps: int = 100,
    random_state: int = 0,
) -> Ints:
    """The best clusters under what is known, numbered by first appearance.

    The cost is proportional to the items and the listed pairs. Small components of the positive scores, of up
    to 24 pieces, are mostly solved exactly; in larger ones the answer is a local optimum.

    >>> pairs = np.array([[0, 1], [1, 2], [2, 3]])
    >>> scores = PairScores(4, index=pairs, values=np.array([3.0, 1.0, 2.0]))
    >>> constrained_search(scores, cannot_link=[(0, 2)])
    array([0, 0, 1, 1])
    >>> constrained_search(scores, [0, 1, 2, 3], anchored=[True, True, False, False])
    array([0, 1, 1, 1])
    """
    index, values = listed_pairs(scores)
    n = scores.n_items
    nodes = np.arange(n) if pieces is None else numbers(pieces, n, "pieces")
    cannot = pair_array(cannot_link, "cannot_link", n)
    _check_apart(nodes, cannot)
    if scores.sources is not None:
        cannot = np.concatenate([cannot, source_pairs(scores.sources, index, values, nodes)])
    k = int(nodes.max(initial=-1)) + 1
    held = np.zeros(k, np.bool_) if anchored is None else np.asarray(anchored, np.bool_)
    if k > SMALL and len(index) > DENSE * n * (n - 1) / 2:
        return _search_matrix(scores, index, values, nodes, held, cannot, start, sweeps, random_state)
    known = nodes, held, cannot
    return search_nodes(index, values, *known, start=start, sweeps=sweeps, random_state=random_state)


def _search_matrix(
    scores: PairScores,
    index: Ints,
    values: Floats,
    nodes: Ints,
    anchored: Bools,
    cannot: Ints,
    start: Any,
    sweeps: int,
    random_state: int,
) -> Ints:
    """The answer where most pairs have a score: one component, which is searched as a matrix."""
    K = scores.matrix
    if K is None:
        K = np.zeros((len(nodes), len(nodes)))
        K[index[:, 0], index[:, 1]] = K[index[:, 1], index[:, 0]] = values
    first = np.unique(nodes, return_index=True)[1]
    held = first[anchored]
    a, b = np.triu_indices(len(held), 1)
    apart = np.concatenate([cannot, np.column_stack([held[a], held[b]])])
    return local_search(
        K,
        start,
        must_link=chained_pairs(nodes),
        cannot_link=apart,
        sweeps=None if sweeps else 0,
        random_state=random_state,
    )


def _check_apart(nodes: Ints, cannot: Ints) -> None:
    clash = np.flatnonzero(nodes[cannot[:, 0]] == nodes[cannot[:, 1]])
    if len(clash):
        a, b = cannot[clash[0]]
        raise ValueError(f"items {a} and {b} are in cannot_link, but they are of one piece")


def search_nodes(
    index: Ints,
    values: Floats,
    nodes: Ints,
    anchored: Bools,
    cannot: Ints,
    *,
    start: Ints | None = None,
    sweeps: int = 100,
    random_state: int = 0,
) -> Ints:
    """`constrained_search` of checked input: canonical labels of the items; a node that nothing touches is a
    cluster of its own.
    """
    from clustruct.search._kernels.anchored import by_appearance

    graph, touched, apart = touched_graph(index, values, nodes, anchored, cannot)
    begin = None
    if start is not None:
        first = np.unique(nodes, return_index=True)[1]
        begin = canonical_labels(np.asarray(start)[first[touched]])
    found = _clusters(graph, apart, start=begin, sweeps=sweeps, random_state=random_state)
    labels = len(found) + np.arange(len(anchored))
    labels[touched] = found
    return by_appearance(labels[nodes], len(found) + len(anchored))


def touched_graph(
    index: Ints, values: Floats, nodes: Ints, anchored: Bools, cannot: Ints
) -> tuple[NodeGraph, Ints, Ints]:
    """The graph of the nodes that a pair or a constraint touches, their numbers, and the pairs kept apart."""
    ends, apart = nodes[index], nodes[cannot]
    there = np.zeros(len(anchored), np.bool_)
    there[ends] = there[apart] = True
    touched, place = np.flatnonzero(there), np.cumsum(there) - 1
    ends, apart = place[ends], place[apart]
    graph = NodeGraph.from_pairs(ends[:, 0], ends[:, 1], values, anchored[touched])
    return graph, touched, apart


def tied_items(n: int, pairs: Ints) -> Ints:
    """The piece of each of n items, numbered by first appearance, where pairs tie two items each."""
    from clustruct.search._kernels.anchored import components_of_pairs

    return components_of_pairs(n, pairs)


def listed_pairs(scores: PairScores) -> tuple[Ints, Floats]:
    """Pairs of items and their scores, checked."""
    if scores.product is not None and scores.matrix is None:
        raise ValueError("scores must be listed pairs, or a matrix, not a product")
    index, values = scores.pairs_and_scores()
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        a, b = index[bad[0]]
        raise ValueError(f"the score of items {a} and {b} is {values[bad[0]]}")
    return index.astype(np.int64), np.asarray(values, dtype=np.float64)


def numbers(given: Any, n_items: int, name: str) -> Ints:
    """A whole number for each item, -1 for all below 0."""
    found = np.asarray(given)
    if found.shape != (n_items,) or (n_items and found.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be {n_items} whole numbers, one per item")
    return np.maximum(found.astype(np.int64), -1)


def pair_array(pairs: Any, name: str, n_items: int) -> Ints:
    """Pairs of item numbers, checked (p x 2)."""
    array = np.asarray([] if pairs is None else pairs)
    if not array.size:
        return NO_PAIRS
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of item numbers")
    if array.min() < 0 or array.max() >= n_items:
        raise ValueError(f"{name} names an item outside 0..{n_items - 1}")
    return array.astype(np.int64)


def _clusters(
    graph: NodeGraph,
    apart: Ints,
    *,
    start: Ints | None = None,
    sweeps: int = 100,
    random_state: Any = 0,
) -> Ints:
    """Canonical labels of the nodes: a local optimum under single moves and joins, and the best of all in
    small components of the positive scores.

    Greedy merging, or all free nodes alone, or ``start``, whichever settles best; then branch and bound in
    small components. What that leaves open is annealed, and the better of the two taken
    (`local_search` with anchors), at a cost of O(edges) a sweep; and then searched
    again from there: annealing misses the best of 7 to 24 nodes in some cases of a hundred, most with pairs
    apart. With random scores all of up to 16 nodes are solved; beyond the limits what was found stays.
    """
    from clustruct.search._kernels.anchored import merge_with_anchors, settle_with_anchors
    from clustruct.search._kernels.moving import anneal_some

    n = len(graph.anchored)
    if not n:
        return np.zeros(0, np.int64)
    # More than any clustering can gain: to break a pair that must stay apart never pays.
    penalty = 1.0 + 4.0 * graph.total
    barred, closed = graph.with_apart(apart, penalty), graph.with_apart(apart, np.inf)
    tolerance = 1e-9 * graph.scale + (1e-15 * penalty if len(apart) else 0.0)
    begun = [merge_with_anchors(*closed.csr, graph.anchored), np.arange(n)]
    begun += [] if start is None else [np.asarray(start, dtype=np.int64)]
    settled = [settle_with_anchors(*barred.csr, graph.anchored, labels, tolerance) for labels in begun]
    components = _ComponentSearch(closed)
    begin = max(settled, key=barred.value)
    best = components.solve_small(begin, tolerance)
    free = np.flatnonzero(~graph.anchored & components.open)
    if sweeps and graph.scale > 0.0 and len(free):
        temperatures = graph.scale * np.geomspace(HOT, COLD, sweeps)
        state = np.array([int(random_state) % 2**64], np.uint64)
        begin = canonical_labels(np.where(components.open, begin, n + best))
        annealed = anneal_some(*barred.csr, begin, free, temperatures, state, 0.0)
        again = settle_with_anchors(*barred.csr, graph.anchored, annealed, tolerance)
        again = max((begin, again), key=barred.value)
        best = max((best, components.solve_small(again, tolerance)), key=barred.value)
    return canonical_labels(best)


class _ComponentSearch:
    """The components of the positive scores of a graph: no cluster gains by spanning two.

    open : the nodes of those whose best labels are not known for sure
    """

    def __init__(self, graph: NodeGraph) -> None:
        from clustruct.search._kernels.anchored import components_of_graph

        self.graph = graph
        self._part = components_of_graph(*graph.csr)
        self._size = np.bincount(self._part)
        free = np.bincount(self._part, weights=~graph.anchored)
        # A single free node that has settled has its best place.
        self._open = free > 1

    @property
    def open(self) -> Bools:
        return np.asarray(self._open[self._part])

    def solve_small(self, labels: Ints, tolerance: float) -> Ints:
        """The best labels of the small ones that are open, the smallest first, as far as the steps go."""
        from clustruct.search._kernels.anchored import solve_components

        members, starts = self._small()
        labels = labels.copy()
        if len(members):
            found = np.zeros(len(starts) - 1, np.bool_)
            limits = STEPS, STEPS_OF_COMPONENT
            ordered = self.graph.anchored, members, starts
            solve_components(*self.graph.csr, *ordered, labels, tolerance, *limits, found)
            self._open[self._part[members[starts[:-1]]][found]] = False
        return canonical_labels(labels)

    def _small(self) -> tuple[Ints, Ints]:
        """Nodes by component, and where each begins, the smallest first; in each the anchors come first, then
        the nodes of large scores.
        """
        graph, part = self.graph, self._part
        some = np.flatnonzero(((self._size <= SMALL) & self._open)[part])
        finite = np.where(np.isfinite(graph.data), np.abs(graph.data), 0.0)
        strength = np.bincount(graph.rows, weights=finite, minlength=len(part))
        keys = -strength[some], ~graph.anchored[some], part[some], self._size[part[some]]
        members = some[np.lexsort(keys)]
        return members, np.flatnonzero(np.diff(part[members], prepend=-1, append=-1))


@dataclass(frozen=True)
class NodeGraph:
    """Scores between n nodes as a symmetric CSR graph without a diagonal; which nodes are anchors."""

    indptr: Ints
    indices: Ints
    data: Floats
    anchored: Bools

    @classmethod
    def from_pairs(cls, first: Ints, second: Ints, values: Floats, anchored: Bools) -> NodeGraph:
        """Pairs of nodes with their scores: those of one pair are summed, those inside a node left out."""
        from clustruct.search._kernels.anchored import summed_csr

        return cls(*summed_csr(len(anchored), first, second, values), anchored)

    @property
    def csr(self) -> tuple[Ints, Ints, Floats]:
        """What kernels take."""
        return self.indptr, self.indices, self.data

    @cached_property
    def rows(self) -> Ints:
        """The node of each entry."""
        return np.repeat(np.arange(len(self.anchored)), np.diff(self.indptr))

    @cached_property
    def total(self) -> float:
        """Sum of |score| over the pairs."""
        return float(np.abs(self.data).sum()) / 2.0

    @property
    def scale(self) -> float:
        """Mean |score| of the pairs that have one."""
        return self.total / max(len(self.data) / 2.0, 1.0)

    def value(self, labels: Ints) -> float:
        """Sum of the scores of the pairs that share a label."""
        from clustruct.search._kernels.anchored import inside_value

        return float(inside_value(*self.csr, labels))

    def with_apart(self, apart: Ints, penalty: float) -> NodeGraph:
        """``-penalty`` between the pairs of nodes that must not share a cluster, whatever they scored."""
        if not len(apart):
            return self
        n, (a, b) = len(self.anchored), apart.T
        rows, upper = self.rows, self.rows < self.indices
        barred = np.isin(rows * n + self.indices, np.r_[a * n + b, b * n + a])
        keep = upper & ~barred
        pairs = np.unique(np.sort(apart, axis=1), axis=0)
        values = np.r_[self.data[keep], np.full(len(pairs), -penalty)]
        first, second = np.r_[rows[keep], pairs[:, 0]], np.r_[self.indices[keep], pairs[:, 1]]
        return NodeGraph.from_pairs(first, second, values, self.anchored)


def without_anchors(graph: NodeGraph) -> NodeGraph:
    """The same scores with every node free to join any other."""
    return replace(graph, anchored=np.zeros_like(graph.anchored))
