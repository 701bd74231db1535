r"""Correlation clustering in which known groups stay apart.

.. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab} \quad \text{with at most one anchor in each cluster}

Nodes are items, or groups of items that stay together; *anchors* are the known groups. What two anchors
score is no matter, and thousands of them cost nothing that is not listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Floats, Ints

# First and last temperature in units of the mean |score|, as in `inference.correlation`.
HOT, COLD = 1.1, 0.3
# Components of up to so many nodes are searched by branch and bound, in so many steps (one takes about 1 us).
SMALL, STEPS_OF_COMPONENT, STEPS = 24, 20_000, 1_000_000


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
        from ._kernels import summed_csr

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
        from ._kernels import inside_value

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


def anchored_clusters(
    graph: NodeGraph,
    apart: Ints,
    *,
    start: Ints | None = None,
    sweeps: int = 100,
    random_state: Any = 0,
) -> Ints:
    """Labels of the nodes, clusters numbered by first appearance: a local optimum under single moves and
    joins, and the best of all in small components of the positive scores.

    Greedy merging, or all free nodes alone, or ``start``, whichever settles best; then branch and bound in
    small components. What that leaves open is annealed, and the better of the two taken
    (`inference.correlation.local_search` with anchors), at a cost of O(edges) a sweep; and then searched
    again from there: annealing misses the best of 7 to 24 nodes in some cases of a hundred, most with pairs
    apart. With random scores all of up to 16 nodes are solved; beyond the limits what was found stays.

    Parameters
    ----------
    graph : scores between nodes, and which of them are anchors
    apart : pairs of nodes (p x 2) that must not share a cluster
    start : labels to begin from, with at most one anchor in each cluster
    sweeps : how much annealing; 0 is descent alone
    random_state : an integer
    """
    from clustruct.search.correlation._kernels.moving import anneal_some

    from ._kernels import merge_anchored, settle_anchored

    n = len(graph.anchored)
    if not n:
        return np.zeros(0, np.int64)
    # More than any clustering can gain: to break a pair that must stay apart never pays.
    penalty = 1.0 + 4.0 * graph.total
    barred, closed = graph.with_apart(apart, penalty), graph.with_apart(apart, np.inf)
    tolerance = 1e-9 * graph.scale + (1e-15 * penalty if len(apart) else 0.0)
    begun = [merge_anchored(*closed.csr, graph.anchored), np.arange(n)]
    begun += [] if start is None else [np.asarray(start, dtype=np.int64)]
    settled = [settle_anchored(*barred.csr, graph.anchored, labels, tolerance) for labels in begun]
    components = _Components(closed)
    begin = max(settled, key=barred.value)
    best = components.solved(begin, tolerance)
    free = np.flatnonzero(~graph.anchored & components.open)
    if sweeps and graph.scale > 0.0 and len(free):
        temperatures = graph.scale * np.geomspace(HOT, COLD, sweeps)
        state = np.array([int(random_state) % 2**64], np.uint64)
        begin = canonical_labels(np.where(components.open, begin, n + best))
        annealed = anneal_some(*barred.csr, begin, free, temperatures, state, 0.0)
        again = settle_anchored(*barred.csr, graph.anchored, annealed, tolerance)
        again = max((begin, again), key=barred.value)
        best = max((best, components.solved(again, tolerance)), key=barred.value)
    return canonical_labels(best)


class _Components:
    """The components of the positive scores of a graph: no cluster gains by spanning two.

    open : the nodes of those whose best labels are not known for sure
    """

    def __init__(self, graph: NodeGraph) -> None:
        from ._kernels import pulled

        self.graph = graph
        self._part = pulled(*graph.csr)
        self._size = np.bincount(self._part)
        free = np.bincount(self._part, weights=~graph.anchored)
        # A single free node that has settled has its best place.
        self._open = free > 1

    @property
    def open(self) -> Bools:
        return np.asarray(self._open[self._part])

    def solved(self, labels: Ints, tolerance: float) -> Ints:
        """The best labels of the small ones that are open, the smallest first, as far as the steps go."""
        from ._kernels import solve_components

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


def without_anchors(graph: NodeGraph) -> NodeGraph:
    """The same scores with every node free to join any other."""
    return replace(graph, anchored=np.zeros_like(graph.anchored))
