"""Scores between nodes of which some are anchors: what the constrained search works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clustruct.core.typing import Bools, Floats, Ints


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
        from ._kernels.anchored import summed_csr

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
        from ._kernels.anchored import inside_value

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
