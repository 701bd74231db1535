"""Greedy correlation clustering (C_G, Algorithm 3), and local search: annealed single moves, then descent
under single moves and joins of whole clusters.

Both work on a :class:`SignedGraph`, made of a dense matrix or a sparse signed graph that is checked once:
nodes (groups of items tied by must-link), their summed scores, and pairs of nodes that must stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats, Ints
from clustruct.itemsets.pairs import check_real
from clustruct.partitions import canonical_labels

Pairs: TypeAlias = Sequence[tuple[int, int]] | NDArray[np.integer[Any]]

# Two halves of a matrix product may differ in the last bits, but not by more than this share of the largest.
ASYMMETRY = 1e-8
# First and last temperature, in units of the mean |score|. Measured on planted partitions, m = 1000, 100
# sweeps, objective over the planted one (Gaussian / sign noise): 1.0-0.3 gives 0.99 / 1.01, 1.2-0.3 gives
# 1.02 / 1.01, 1.5-0.3 gives 1.01 / 0.96, 0.6-0.4 gives 0.94 (Gaussian).
HOT, COLD = 1.1, 0.3


def greedy(K: Any, *, must_link: Pairs | None = None, cannot_link: Pairs | None = None) -> Ints:
    r"""Merge the two clusters that raise the objective most, from singletons, until no merge raises it.

    .. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab}

    K (m x m) holds a score per pair: positive pulls together, negative pushes apart; the diagonal is ignored.
    Algorithm 3 of Finley's dissertation (2009). Equal gains: the pair of clusters with the smallest
    first items is merged.

    Parameters
    ----------
    K : square matrix, dense and symmetric, or any scipy sparse matrix that is symmetric or has entries in one
        triangle only; absent pairs count 0. Of a dense K the upper triangle is used.
    must_link, cannot_link : pairs (a, b) of items that must, or must not, share a cluster. Always honoured.

    Returns
    -------
    labels : int64, one per item, clusters numbered by first appearance.

    Cost: a few passes over m^2 numbers in practice (O(m^3) at worst) for dense K; sparse K is never made
    dense and takes O(E log E) in practice. Own code because it was measured 50 times faster than
    bioimage-cpp's edge contraction at m = 3000 (``benchmarks/correlation.py``).

    >>> greedy([[0, 2, -9], [2, 0, 1], [-9, 1, 0]])
    array([0, 0, 1])
    >>> greedy([[0, 2, -9], [2, 0, 1], [-9, 1, 0]], cannot_link=[(0, 1)])
    array([0, 1, 1])
    """
    graph = signed_graph(K, must_link, cannot_link)
    return graph.to_items(merged_nodes(graph))


def local_search(
    K: Any,
    labels: Any = None,
    *,
    must_link: Pairs | None = None,
    cannot_link: Pairs | None = None,
    sweeps: int | None = None,
    random_state: Any = 0,
) -> Ints:
    r"""Find a clustering of high objective that no single move and no join of two clusters improves.

    .. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab}

    From ``labels`` (by default those of :func:`greedy`): descend to a local optimum; then anneal, and descend
    again; keep the better. In a sweep of annealing at temperature T each item in turn draws its cluster c
    with probability proportional to exp(sum of its K to c / T), a cluster of its own having sum 0; T falls by
    a constant factor per sweep from 1.1 to 0.3 times the mean absolute score. (Heat bath, as in Kirkpatrick,
    Gelatt and Vecchi 1983.)

    Parameters
    ----------
    K, must_link, cannot_link : as for :func:`greedy`.
    labels : the start, any integers. Without links the result is never worse than it. A start that breaks
        a link is mended first; of a must-link group the first item's label counts.
    sweeps : how much annealing. 0 is descent alone, for an oracle that is called very often. By default 100
        for sparse scores, and m / 5 but at least 150 and at most 600 for dense ones. A search that freezes
        stops early.
    random_state : an integer, or anything ``numpy.random.default_rng`` takes. Same number, same answer.

    Returns
    -------
    labels : int64, one per item, clusters numbered by first appearance.

    Cost of a sweep: O(m k) plus O(m) per item that changes cluster (dense), O(edges) (sparse).
    Own code: on planted partitions it beats bioimage-cpp's Kernighan-Lin in value, in less time than that
    takes for its greedy start (``benchmarks/correlation.py``): clearly so from m = 1000 on; at m = 300, where
    both find the planted clusters, it fell short by at most 0.7 % in 2 of 60 instances. Random starts were no
    better than the greedy one.

    >>> K = [[0, 3, 2, -4], [3, 0, 2, -4], [2, 2, 0, 3], [-4, -4, 3, 0]]
    >>> local_search(K)
    array([0, 0, 0, 1])
    """
    graph = signed_graph(K, must_link, cannot_link)
    if sweeps is None:
        sweeps = 100 if graph.dense is None else min(max(150, graph.n_nodes // 5), 600)
    if sweeps < 0:
        raise ValueError(f"sweeps must not be negative, but is {sweeps}")
    state = random_word(random_state)
    start = merged_nodes(graph) if labels is None else node_labels(graph, labels)
    # More than any clustering can gain: to break a cannot-link never pays, to mend one always does.
    penalty = 1.0 + 4.0 * graph.total
    barred = graph.with_cannot_links(penalty)
    # Sums that once held the penalty carry its rounding error.
    tolerance = 1e-9 * graph.scale + (1e-15 * penalty if len(graph.apart) else 0.0)
    best = settle(barred, start, tolerance)
    if sweeps and graph.scale > 0:
        from ._kernels.moving import anneal_dense, anneal_sparse

        temperatures = graph.scale * np.geomspace(HOT, COLD, sweeps)
        annealed = barred.run(anneal_dense, anneal_sparse, best, temperatures, state)
        annealed = settle(barred, annealed, tolerance)
        if barred.value(annealed) > barred.value(best):
            best = annealed
    return graph.to_items(best)


def node_labels(graph: SignedGraph, labels: Any) -> Ints:
    """Labels of the nodes from given labels of the items: the first item of a must-link group decides."""
    items = check_labels(labels, len(graph.groups))
    if len(items) == graph.n_nodes:
        return items
    first_item = np.unique(graph.groups, return_index=True)[1]
    return check_labels(items[first_item], graph.n_nodes)


def random_word(random_state: Any) -> NDArray[np.uint64]:
    """State of the kernels' random numbers. An integer is used as it is: a numpy generator costs 15 us."""
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, but is {random_state}")
        return np.array([int(random_state) % 2**64], np.uint64)
    if isinstance(random_state, np.random.RandomState):
        return np.array([random_state.randint(2**31)], np.uint64)
    return np.array([np.random.default_rng(random_state).integers(2**63)], np.uint64)


def merged_nodes(graph: SignedGraph) -> Ints:
    """Greedy labels of the nodes: each is the smallest node of its cluster."""
    from ._kernels.merging import merge_dense, merge_sparse

    return graph.with_cannot_links(np.inf).run(merge_dense, merge_sparse)


def settle(graph: SignedGraph, labels: Ints, tolerance: float) -> Ints:
    """Single moves, then joins of whole clusters, again and again until neither gains anything."""
    from ._kernels import checks, merging, moving

    if not len(labels):
        return labels
    if graph.dense is not None:
        return moving.settle_dense(graph.dense, labels, tolerance)
    assert graph.csr is not None
    labels = checks.canonical(labels)
    while True:
        moving.descend_sparse(*graph.csr, labels, tolerance)
        labels = checks.canonical(labels)
        joined = merging.merge_sparse(*graph.joined_csr(labels, int(labels.max()) + 1))
        if np.array_equal(joined, np.arange(len(joined))):
            return labels
        labels = checks.canonical(joined[labels])


@dataclass(frozen=True)
class SignedGraph:
    """Checked scores between nodes.

    ``dense`` is a matrix of which only the upper triangle means anything, or None; ``csr`` is
    (indptr, indices, data), symmetric without diagonal, or None. ``groups[i]`` is the node of item i,
    ``apart`` the pairs of nodes that cannot share a cluster, ``total`` the sum of |score| over the
    ``n_pairs`` unordered pairs of items that have one.
    """

    dense: Floats | None
    csr: tuple[Ints, Ints, Floats] | None
    groups: Ints
    n_nodes: int
    apart: Ints
    total: float
    n_pairs: int

    @property
    def scale(self) -> float:
        """Mean |score| of the pairs that have one, the unit of temperatures and tolerances."""
        return self.total / self.n_pairs if self.n_pairs else 0.0

    def with_cannot_links(self, penalty: float) -> SignedGraph:
        """A copy to work on: exactly symmetric, zero diagonal, ``-penalty`` between nodes kept apart."""
        a, b = self.apart.T
        if self.dense is not None:
            from ._kernels.checks import mirrored

            W = mirrored(self.dense)
            if len(a):
                W[a, b] = W[b, a] = -penalty
            return replace(self, dense=W)
        if not len(a):
            return self
        n = self.n_nodes
        rows, columns, values = self.entries
        keep = ~np.isin(rows * n + columns, np.r_[a * n + b, b * n + a])
        links = (np.r_[rows[keep], a, b], np.r_[columns[keep], b, a])
        return replace(self, csr=_csr_arrays(*links, np.r_[values[keep], np.full(2 * len(a), -penalty)], n))

    @property
    def entries(self) -> tuple[Ints, Ints, Floats]:
        """Rows, columns and scores of a sparse graph; each edge is there twice."""
        assert self.csr is not None
        indptr, columns, scores = self.csr
        return np.repeat(np.arange(self.n_nodes), np.diff(indptr)), columns, scores

    def joined_csr(self, groups: Ints, n: int) -> tuple[Ints, Ints, Floats]:
        """A sparse graph between n groups of nodes: edges summed, edges inside a group left out."""
        rows, columns, scores = self.entries
        rows, columns = groups[rows], groups[columns]
        off = rows != columns
        return _csr_arrays(rows[off], columns[off], scores[off], n)

    def matrix(self) -> Floats:
        """The scores as a dense matrix."""
        if self.dense is not None:
            return self.dense
        rows, columns, scores = self.entries
        W = np.zeros((self.n_nodes, self.n_nodes))
        W[rows, columns] = scores
        return W

    def run(self, on_dense: Callable[..., Any], on_sparse: Callable[..., Any], *more: Any) -> Any:
        """The kernel for what the graph is held in."""
        if self.dense is not None:
            return on_dense(self.dense, *more)
        assert self.csr is not None
        return on_sparse(*self.csr, *more)

    def value(self, node_labels: Ints) -> float:
        """Sum of the scores of the pairs of nodes with equal labels."""
        if self.dense is not None:
            from ._kernels.checks import pairs_together_dense

            return float(pairs_together_dense(self.dense, node_labels))
        rows, columns, scores = self.entries
        return float(scores[(node_labels[rows] == node_labels[columns]) & (rows < columns)].sum())

    def to_items(self, node_labels: Ints) -> Ints:
        """Canonical labels of the items from labels (in 0..n_nodes-1) of the nodes."""
        from ._kernels.checks import canonical

        return canonical(node_labels[self.groups])


def signed_graph(K: Any, must_link: Pairs | None = None, cannot_link: Pairs | None = None) -> SignedGraph:
    """Check everything a caller gives, before any work; raise ValueError saying what is wrong and where."""
    check_real(K, "K")
    scores = K if sparse.issparse(K) else np.ascontiguousarray(K, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1]:
        raise ValueError(f"K must be a square matrix, not of shape {scores.shape}")
    graph = _from_sparse(K) if sparse.issparse(K) else _from_dense(scores)
    if must_link is None and cannot_link is None:
        return graph
    groups, apart = link_groups(graph.n_nodes, must_link, cannot_link)
    return _contracted(graph, groups, apart)


def objective(K: Any, labels: Any) -> float:
    """Sum of K_ab over unordered pairs of items with equal labels (equation 3.1, each pair counted once).

    ``K`` is a dense symmetric matrix or a sparse graph, as for :func:`greedy`. O(m^2) or O(edges).

    >>> objective([[0, 2, -1], [2, 0, 5], [-1, 5, 0]], [0, 1, 1])
    5.0
    """
    graph = signed_graph(K)
    return graph.value(check_labels(labels, graph.n_nodes))


def check_labels(labels: Any, n_items: int) -> Ints:
    """Any integer labels, as contiguous int64 in 0..m-1, numbered by first appearance."""
    given = np.asarray(labels)
    if given.shape != (n_items,):
        raise ValueError(f"labels has shape {given.shape}, but the scores are for {n_items} items")
    if n_items and given.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, not {given.dtype}")
    if n_items and given.min() >= 0 and given.max() < n_items:
        from ._kernels.checks import canonical

        return canonical(np.ascontiguousarray(given, dtype=np.int64))  # 20 us less than np.unique
    return canonical_labels(given)


def _from_dense(W: Floats) -> SignedGraph:
    from ._kernels.checks import inspect

    largest, total, asymmetry, places = inspect(W)
    if places[0] >= 0:
        a, b = places[:2]
        raise ValueError(f"K[{a}, {b}] is {W[a, b]}; every score must be finite")
    if asymmetry > ASYMMETRY * largest:
        a, b = places[2:]
        raise ValueError(f"K is not symmetric: K[{a}, {b}] is {W[a, b]} but K[{b}, {a}] is {W[b, a]}")
    m = W.shape[0]
    return SignedGraph(W, None, np.arange(m), m, np.empty((0, 2), np.int64), total, m * (m - 1) // 2)


def _from_sparse(K: Any) -> SignedGraph:
    m = K.shape[0]
    whole = sparse.csr_array(K, dtype=np.float64)  # sums duplicate entries where the format allows them
    bad = ~np.isfinite(whole.data)
    rows = np.repeat(np.arange(m), np.diff(whole.indptr))
    for at in np.flatnonzero(bad & (rows != whole.indices)):
        raise ValueError(
            f"K[{rows[at]}, {whole.indices[at]}] is {whole.data[at]}; every score must be finite"
        )
    upper, lower = sparse.triu(whole, 1, format="csr"), sparse.tril(whole, -1, format="csr").T.tocsr()
    upper.sum_duplicates()
    lower.sum_duplicates()
    if not upper.count_nonzero():
        upper = lower
    elif lower.count_nonzero():
        _check_halves(upper, lower)
    edges = upper.tocoo()
    first, second = edges.coords
    csr = _csr_arrays(np.r_[first, second], np.r_[second, first], np.r_[edges.data, edges.data], m)
    total = float(np.abs(edges.data).sum())
    return SignedGraph(None, csr, np.arange(m), m, np.empty((0, 2), np.int64), total, edges.nnz)


def _check_halves(upper: Any, lower: Any) -> None:
    difference = abs(upper - lower)
    if difference.nnz and difference.max() > ASYMMETRY * np.abs(upper.data).max():
        a, b = np.unravel_index(int(difference.argmax()), difference.shape)
        raise ValueError(
            f"K is not symmetric: K[{a}, {b}] is {upper[a, b]} but K[{b}, {a}] is {lower[a, b]}"
            " (a sparse K is symmetric, or has entries in one triangle only)"
        )


def _csr_arrays(rows: Any, columns: Any, values: Any, n: int) -> tuple[Ints, Ints, Floats]:
    matrix = sparse.csr_array((values, (rows, columns)), shape=(n, n))
    matrix.sum_duplicates()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


def link_groups(m: int, must_link: Pairs | None, cannot_link: Pairs | None) -> tuple[Ints, Ints]:
    """Group of each item under must-link, by first appearance, and the pairs of groups kept apart."""
    together = _pair_array(must_link, "must_link", m)
    separate = _pair_array(cannot_link, "cannot_link", m)
    ties = sparse.coo_array((np.ones(len(together)), (together[:, 0], together[:, 1])), shape=(m, m))
    groups = check_labels(sparse.csgraph.connected_components(ties, directed=False)[1], m)
    apart = groups[separate]
    clash = np.flatnonzero(apart[:, 0] == apart[:, 1])
    if len(clash):
        a, b = separate[clash[0]]
        if a == b:
            raise ValueError(f"cannot_link pairs item {a} with itself")
        raise ValueError(f"items {a} and {b} are in cannot_link, but must_link puts them together")
    return groups, np.unique(np.sort(apart, axis=1), axis=0)


def _pair_array(pairs: Pairs | None, name: str, m: int) -> Ints:
    array = np.asarray([] if pairs is None else pairs)
    if not array.size:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of item numbers, not {array.dtype} of shape {array.shape}")
    outside = np.argwhere((array < 0) | (array >= m))
    if len(outside):
        row, column = outside[0]
        raise ValueError(f"{name}[{row}] names item {array[row, column]}, but there are {m} items")
    return array.astype(np.int64)


def _contracted(graph: SignedGraph, groups: Ints, apart: Ints) -> SignedGraph:
    m, n = len(groups), int(groups.max(initial=-1)) + 1
    if n == m:
        return replace(graph, apart=apart)
    member = sparse.csr_array((np.ones(m), (np.arange(m), groups)), shape=(m, n))
    if graph.dense is not None:
        W = graph.dense.copy()
        np.fill_diagonal(W, 0.0)
        summed = np.ascontiguousarray(member.T @ (member.T @ W).T)
        return replace(graph, dense=summed, groups=groups, n_nodes=n, apart=apart)
    return replace(graph, csr=graph.joined_csr(groups, n), groups=groups, n_nodes=n, apart=apart)
