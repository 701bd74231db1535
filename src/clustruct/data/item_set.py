"""Item sets: pair feature vectors psi_ab, held so that no m x m x N array is ever formed.

    similarity(w) -> K,        K_ab = <w, psi_ab>
    joint_feature(B) -> Psi,   Psi = sum over all ordered pairs (a, b), diagonal included, of B_ab psi_ab
    <similarity(w), B> = sum_ab K_ab B_ab = <w, joint_feature(B)>

Which sum is which:

    joint_feature(B)            all ordered pairs with the diagonal, any B
    joint_feature_factor(Y)     the same with B = Y Y' (k-means and spectral clustering)
    joint_feature_pairs(y)      pairs a < b that y puts together, no diagonal (correlation clustering)
    joint_feature_edges(e)      pairs a < b weighted by e_ab, no diagonal (its relaxation)
"""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.distance import squareform

from clustruct.core.formatting import MOST_ROWS, html_table
from clustruct.core.partitions import canonical_labels, indicator
from clustruct.core.storage import digest
from clustruct.core.typing import Floats, Ints, LabelsLike

from . import matrices
from .compared_pairs import (
    Pairs,
    add_both_orders,
    add_both_orders_of_factor,
    are_together,
    check_pair_index,
    check_sources,
    fastest_matrix,
    full_matrix,
)
from .equal_rows import EqualRows
from .matrices import Matrix, MatrixLike, check_matrix, check_real


class ItemSet(Pairs):
    """m items with pair features psi_ab = [node_a * node_b ; pair features of {a, b}].

    Parameters
    ----------
    nodes : (m, N_n) array or sparse matrix, optional
        One row per item.
    pairs : (p, N_p) array or sparse matrix, optional
        Pair features: p = m(m-1)/2 rows in the order of scipy's `pdist`, or one row for each of `pair_index`.
    pair_index : (p, 2) integer array, optional
        The two items of each row of `pairs`, each unordered pair at most once; others have no pair features.
    pair_diagonal : (m, N_p) array or sparse matrix, optional
        Features of an item with itself (else zero).
    ids : sequence of hashable, optional
        Names of the items, m of them and all distinct.
    feature_names : sequence of str, optional
        Names of the features, N_n + N_p of them.
    n_items : int, optional
        m, needed where nothing else gives it (`pair_index` without nodes, ids or diagonal).
    sources : m integers, optional
        Items of one source never share a cluster.
    equal_rows : EqualRows, optional
        Which items are equal: without labels only the first of them is learned from.

    Notes
    -----
    The object does not change; arrays of the right type are held as read-only views, not copied.
    Wrong input raises ValueError naming the row, column or item.

    Examples
    --------
    >>> x = ItemSet(nodes=[[1.0, 2.0], [3.0, 4.0]], pairs=[[5.0]])
    >>> x.n_items, x.n_features
    (2, 3)
    >>> x.pair_features(0, 1)
    array([3., 8., 5.])
    >>> x.similarity([1.0, 1.0, 10.0])
    array([[ 5., 61.],
           [61., 25.]])
    """

    def __init__(
        self,
        nodes: MatrixLike | None = None,
        pairs: MatrixLike | None = None,
        *,
        pair_index: ArrayLike | None = None,
        pair_diagonal: MatrixLike | None = None,
        ids: Sequence[Hashable] | None = None,
        feature_names: Sequence[str] | None = None,
        n_items: int | None = None,
        sources: ArrayLike | None = None,
        equal_rows: EqualRows | None = None,
    ) -> None:
        if nodes is None and pairs is None:
            raise ValueError("an item set needs nodes, pairs or both")
        if pairs is None and (pair_index is not None or pair_diagonal is not None):
            raise ValueError("pair_index and pair_diagonal need pairs")
        X = None if nodes is None else check_matrix(nodes, "nodes")
        P = None if pairs is None else check_matrix(pairs, "pairs")
        diagonal = None if pair_diagonal is None else check_matrix(pair_diagonal, "pair_diagonal")
        m = _count_items(X, P, diagonal, ids, n_items, listed=pair_index is not None)
        index = None if pair_index is None else check_pair_index(pair_index, m, P)
        source_numbers = None if sources is None else check_sources(sources, m)
        # Node products compare all pairs, whichever have pair features beside them.
        super().__init__(m, index if X is None else None, source_numbers)
        self._rows = Pairs(m, index) if self.index is None else self
        self.nodes, self.pairs, self.pair_diagonal = X, P, diagonal
        if P is not None and P.shape[0] != self._rows.n_pairs:
            raise ValueError(f"pairs has {P.shape[0]} rows for m = {m} items; expected {self._rows.n_pairs}")
        if diagonal is not None and P is not None and diagonal.shape != (m, P.shape[1]):
            raise ValueError(f"pair_diagonal has shape {diagonal.shape}; expected {(m, P.shape[1])}")
        if equal_rows is not None and len(equal_rows.row) != m:
            raise ValueError(f"equal_rows has {len(equal_rows.row)} rows for {m} items")
        self.equal_rows = equal_rows
        self.ids = _check_ids(ids)
        self.feature_names = _check_feature_names(feature_names, self.n_features)

    @property
    def n_node_features(self) -> int:
        """N_n, the number of node products (the first entries of psi)."""
        return 0 if self.nodes is None else int(self.nodes.shape[1])

    @property
    def n_pair_features(self) -> int:
        """N_p, the number of explicit pair features (the last entries of psi)."""
        return 0 if self.pairs is None else int(self.pairs.shape[1])

    @property
    def n_features(self) -> int:
        """N = N_n + N_p."""
        return self.n_node_features + self.n_pair_features

    @property
    def pair_index(self) -> Ints | None:
        """The pairs with pair features (smaller item first), or None where all have them."""
        return self._rows.index

    @cached_property
    def digest(self) -> str:
        """A digest of the features and how they are held: the same numbers as CSR have another."""
        more = () if self.sources is None else (self.sources,)
        return digest(self.nodes, self.pairs, self.pair_index, self.pair_diagonal, self.n_items, *more)

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        return f"ItemSet(m={self.n_items}, N_n={self.n_node_features}, N_p={self.n_pair_features})"

    def _repr_html_(self) -> str:
        """What notebooks show: how many items, and the features with their names."""
        names = self.feature_names or [f"feature {j}" for j in range(self.n_features)]
        kinds = ["product of nodes"] * self.n_node_features + ["of the pair"] * self.n_pair_features
        rows = list(zip(names[:MOST_ROWS], kinds, strict=False))
        return html_table(f"ItemSet: {self.n_items:,} items", ["feature", "kind"], rows, self.n_features)

    def similarity(self, w: ArrayLike, *, sparse: bool = False) -> Matrix:
        """K_ab = <w, psi_ab>, a dense symmetric m x m array. Cost O(m^2 N_n + p N_p), less if sparse.

        With `sparse=True` a CSR graph of the listed pairs and the diagonal, where there are no nodes.
        """
        w_node, w_pair = self._split(w)
        diagonal = None if self.pair_diagonal is None else self.pair_diagonal @ w_pair
        if sparse:
            return self._signed_graph(w_pair, diagonal)
        K = np.zeros((self.n_items, self.n_items))
        if self.nodes is not None:
            K = matrices.node_similarity(self.nodes, w_node)
        if self.pairs is not None:
            K += full_matrix(self._rows, self.pairs @ w_pair)
        if diagonal is not None:
            K[np.diag_indices(self.n_items)] += diagonal
        return K

    def similarity_operator(self, w: ArrayLike) -> LinearOperator:
        """K as an operator V -> K V that never forms K where nodes or listed pairs are sparse or few.

        K V = X (w (X'V)) + (graph of the listed pairs) V. Cost O(nnz(X) + p) for each column of V.
        """
        w_node, w_pair = self._split(w)
        # Training begins at w = 0, where a matrix may be asked for column by column.
        X, graph, m = self.nodes if w_node.any() else None, None, self.n_items
        if self.pairs is not None:
            diagonal = None if self.pair_diagonal is None else self.pair_diagonal @ w_pair
            graph = fastest_matrix(self._rows, self.pairs @ w_pair, diagonal)
        back = None if X is None else X.T

        def times(V: Floats) -> Floats:
            block = np.asarray(V, dtype=np.float64).reshape(m, -1)
            out = np.zeros_like(block) if graph is None else np.asarray(graph @ block)
            if X is not None and back is not None:
                out = out + X @ (w_node[:, None] * (back @ block))
            return out.reshape(np.shape(V))

        return LinearOperator((m, m), matvec=times, matmat=times, rmatvec=times, dtype=np.float64)

    def _signed_graph(self, w_pair: Floats, diagonal: Floats | None) -> sp.csr_array:
        if not self.is_sparse or self.pairs is None:
            raise ValueError("a sparse graph needs pairs listed by pair_index, and no nodes")
        graph = sp.csr_array(fastest_matrix(self._rows, self.pairs @ w_pair, diagonal))
        graph.eliminate_zeros()
        return graph

    def joint_feature(self, B: MatrixLike) -> Floats:
        """Psi = sum over all ordered pairs, diagonal included, of B_ab psi_ab (length N).

        B is any m x m array or sparse matrix; only its symmetric part matters. For nodes this is
        diag(X'BX). Cost O(m^2 N_n + p N_p) dense, O(nnz) products for sparse B or X.
        """
        check_real(B, "B")
        weights = sp.csr_array(B, dtype=np.float64) if sp.issparse(B) else np.asarray(B, dtype=np.float64)
        if weights.shape != (self.n_items, self.n_items):
            raise ValueError(f"B has shape {weights.shape}; expected {(self.n_items, self.n_items)}")
        node_part = np.zeros(0) if self.nodes is None else matrices.node_adjoint(self.nodes, weights)
        pair_part = self._pair_part(lambda: add_both_orders(self._rows, weights), weights.diagonal())
        return np.concatenate([node_part, pair_part])

    def joint_feature_factor(self, Y: MatrixLike) -> Floats:
        """joint_feature(Y Y') for an m x k Y, dense or sparse: row sums of (X'Y)^2 for nodes, O(nnz(X) k)."""
        factor = check_matrix(Y, "Y")
        if factor.shape[0] != self.n_items:
            raise ValueError(f"Y has {factor.shape[0]} rows for {self.n_items} items")
        node_part = np.zeros(0) if self.nodes is None else matrices.row_squares(self.nodes.T @ factor)
        squares = matrices.row_squares(factor)
        return np.concatenate(
            [node_part, self._pair_part(lambda: add_both_orders_of_factor(self._rows, factor), squares)]
        )

    def joint_feature_pairs(self, labels: LabelsLike) -> Floats:
        """sum_{a<b, y_a = y_b} psi_ab: unordered pairs put together by the partition, no diagonal.

        The node part is 1/2 (row sums of (X'Y)^2 - column sums of X^2) with the 0/1 indicator Y.
        Cost O(nnz(X) + p N_p).
        """
        y = canonical_labels(labels, n_items=self.n_items)
        pair_part = self._pair_part(lambda: are_together(self._rows, y), None)
        if self.nodes is None:
            return pair_part
        together = matrices.row_squares(self.nodes.T @ indicator(y))
        squares = matrices.row_squares(self.nodes.T)
        return np.concatenate([(together - squares) / 2, pair_part])

    def joint_feature_edges(self, e: ArrayLike) -> Floats:
        """sum_{a<b} e_ab psi_ab for edge degrees e in the order of scipy's `pdist`, no diagonal."""
        check_real(e, "e")
        degrees = np.asarray(e, dtype=np.float64)
        expected = (self.n_items * (self.n_items - 1) // 2,)
        if degrees.shape != expected:
            raise ValueError(f"e has shape {degrees.shape}; expected {expected}")
        B = squareform(degrees) / 2 if self.n_items > 1 else np.zeros((1, 1))
        return self.joint_feature(B)

    def pair_features(self, a: int, b: int) -> Floats:
        """psi_ab as a dense vector of length N; a = b gives the diagonal."""
        a, b = self._check_items([a, b]).tolist()
        psi = matrices.dense(pair_table(self, np.array([[a, b]])))[0]
        if a == b and self.pair_diagonal is not None:
            psi[self.n_node_features :] = matrices.dense(self.pair_diagonal[[a]])
        return psi

    def subset(self, indices: ArrayLike) -> "ItemSet":
        """The item set of the given items (numbers or a boolean mask), in the given order."""
        chosen = self._check_items(np.arange(self.n_items)[np.asarray(indices)])
        if np.unique(chosen).size != chosen.size:
            raise ValueError("subset: an item is chosen more than once")
        index, pairs = None, None
        if self.pairs is not None:
            index, rows = self._rows.pairs_within(chosen)
            pairs = self.pairs[rows]
        return ItemSet(
            None if self.nodes is None else self.nodes[chosen],
            pairs,
            pair_index=index,
            pair_diagonal=None if self.pair_diagonal is None else self.pair_diagonal[chosen],
            ids=None if self.ids is None else [self.ids[a] for a in chosen],
            feature_names=self.feature_names,
            n_items=chosen.size,
            sources=None if self.sources is None else self.sources[chosen],
            equal_rows=None if self.equal_rows is None else EqualRows.of(self.equal_rows.row[chosen]),
        )

    def _split(self, w: ArrayLike) -> tuple[Floats, Floats]:
        check_real(w, "w")
        weights = np.asarray(w, dtype=np.float64)
        if weights.shape != (self.n_features,):
            raise ValueError(f"w has shape {weights.shape}; expected {(self.n_features,)}")
        return weights[: self.n_node_features], weights[self.n_node_features :]

    def _pair_part(self, weights: Callable[[], Floats], diagonal: Floats | None) -> Floats:
        """P' e, and the diagonal; the weights e are asked for only where there are pair features."""
        if self.pairs is None:
            return np.zeros(0)
        total = np.asarray(self.pairs.T @ weights(), dtype=np.float64)
        if self.pair_diagonal is not None and diagonal is not None:
            total = total + self.pair_diagonal.T @ diagonal
        return total

    def _check_items(self, items: ArrayLike) -> Ints:
        numbers = np.asarray(items)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
            raise ValueError(f"expected item numbers, got {items!r}")
        outside = (numbers < 0) | (numbers >= self.n_items)
        if outside.any():
            raise ValueError(f"item {numbers[outside][0]} is not in 0..{self.n_items - 1}")
        return numbers.astype(np.int64)


def pair_table(x: ItemSet, pairs: Ints) -> Matrix:
    """psi_ab of the pairs (p x 2): node products and pair features side by side.

    The pair features are zero where they are not listed, and for a = b. Sparse where a part of it is.

    Parameters
    ----------
    x : ItemSet
        The item set.
    pairs : array of int
        The two items of each pair, one row each.

    Returns
    -------
    array or sparse matrix
        One row of features for each pair.

    Examples
    --------
    >>> x = ItemSet(nodes=[[1.0], [2.0], [4.0]], pairs=[[5.0], [6.0], [7.0]])
    >>> pair_table(x, np.array([[0, 2], [2, 1]]))
    array([[4., 6.],
           [8., 7.]])
    """
    a, b = pairs[:, 0], pairs[:, 1]
    parts: list[Matrix] = []
    if x.nodes is not None:
        parts.append(x.nodes[a] * x.nodes[b])
    if x.pairs is not None:
        rows = x._rows.rows_of(np.sort(pairs, axis=1))
        parts.append(matrices.pick_rows(x.pairs, np.where(a == b, -1, rows)))
    if any(sp.issparse(part) for part in parts):
        return sp.csr_array(sp.hstack(parts, format="csr"))
    return np.concatenate(parts, axis=1)


def as_item_set(x: ItemSet | MatrixLike) -> ItemSet:
    """An ItemSet as it is, or one of a 2-D array, sparse matrix or data frame of node features."""
    if isinstance(x, ItemSet):
        return x
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        return ItemSet(x.to_numpy(), feature_names=[str(name) for name in x.columns])
    return ItemSet(x)


def with_distances(X: ItemSet | MatrixLike) -> ItemSet:
    """An item set whose pair features are the distances |x_a - x_b| of a table's columns, and a constant.

    Node features give products x_a x_b, angles from the origin, which cannot say "near". Memory is that of
    m (m - 1) / 2 rows.

    Parameters
    ----------
    X : ItemSet or array-like or sparse matrix
        A table with one row for each item, or an item set with node features.

    Returns
    -------
    ItemSet
        The item set of distances.

    Examples
    --------
    >>> x = with_distances([[1.0, 2.0], [4.0, 2.0]])
    >>> x.pair_features(0, 1), x.feature_names
    (array([3., 0., 1.]), ('distance of 0', 'distance of 1', 'constant'))
    """
    given = as_item_set(X)
    if given.nodes is None or given.pairs is not None:
        raise ValueError("distances are taken of a table of node features, without pair features")
    nodes = matrices.dense(given.nodes)
    a, b = np.triu_indices(given.n_items, 1)
    names = given.feature_names or [str(k) for k in range(nodes.shape[1])]
    return ItemSet(
        pairs=np.column_stack([np.abs(nodes[a] - nodes[b]), np.ones(len(a))]),
        ids=given.ids,
        feature_names=[*(f"distance of {name}" for name in names), "constant"],
        n_items=given.n_items,
    )


def _count_items(
    nodes: Matrix | None,
    pairs: Matrix | None,
    diagonal: Matrix | None,
    ids: Sequence[Hashable] | None,
    n_items: int | None,
    *,
    listed: bool,
) -> int:
    """m, from whatever gives it; two sources that differ are an error."""
    tables = {"nodes": nodes, "pair_diagonal": diagonal}
    counts = {name: int(A.shape[0]) for name, A in tables.items() if A is not None}
    if ids is not None:
        counts["ids"] = len(ids)
    if n_items is not None:
        counts["n_items"] = int(n_items)
    if not counts and pairs is not None:
        counts["pairs"] = _count_from_pairs(pairs.shape[0], listed)
    source, m = next(iter(counts.items()))
    for other, value in counts.items():
        if value != m:
            raise ValueError(f"{source} gives {m} items, {other} gives {value}")
    if m < 1:
        raise ValueError(f"an item set needs at least one item ({source} gives {m})")
    return m


def _count_from_pairs(n_rows: int, listed: bool) -> int:
    """The m with m(m-1)/2 rows (1 for none)."""
    if listed:
        raise ValueError("pair_index without nodes, ids or pair_diagonal needs n_items")
    m = (1 + math.isqrt(1 + 8 * n_rows)) // 2
    if m * (m - 1) // 2 != n_rows:
        raise ValueError(f"pairs has {n_rows} rows, which is not m(m-1)/2 for any m")
    return m


def _check_ids(ids: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Distinct item names."""
    if ids is None:
        return None
    names = tuple(ids)
    seen: dict[Hashable, int] = {}
    for a, name in enumerate(names):
        if seen.setdefault(name, a) != a:
            raise ValueError(f"ids: items {seen[name]} and {a} are both named {name!r}")
    return names


def _check_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """One string for each entry of psi."""
    if names is None:
        return None
    given = tuple(names)
    if len(given) != n_features:
        raise ValueError(f"feature_names has {len(given)} entries for {n_features} features")
    for f, name in enumerate(given):
        if not isinstance(name, str):
            raise ValueError(f"feature_names: entry {f} is not a string ({name!r})")
    return given
