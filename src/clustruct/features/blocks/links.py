"""Links between items as pair features, as for web pages (Finley 2009, section 4.5.1)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from clustruct.core.exceptions import DataError
from clustruct.core.storage import register
from clustruct.core.typing import Bools, Ints
from clustruct.data import Fields, ItemSet, Table
from clustruct.data.matrices import MatrixLike, check_real
from clustruct.features.base import Block, Unlearned, Values, check_name


@register("Links")
@dataclass(eq=False, repr=False)
class Links(Unlearned):
    """Whether one item links to the other, and whether some item links to both.

    The links are rows (source, target) of the set's context; items are numbered from 0, and a source that is
    no item's number is somebody outside who links to items.

    Parameters
    ----------
    edges : str, default="links"
        The entry of the context.

    Examples
    --------
    >>> table = Table([{}, {}, {}], context={"links": [[0, 1], [9, 1], [9, 2]]})
    >>> Links().fit([table]).transform(table, np.array([[0, 1], [0, 2], [1, 2]])).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """

    suits_record = ("records", "text", "vectors")

    edges: str = "links"

    def check_parameters(self) -> None:
        check_name(self.edges, "edges")

    def used_context(self) -> list[str]:
        return [self.edges]

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        return [cls()] if any("links" in table.context for table in data.sets) else []

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.edges}: linked", f"{self.edges}: linked from one place"]

    def transform(self, table: Table, pairs: Ints) -> Values:
        m = len(table)
        try:
            found, *kinds = link_pairs(table.context.get(self.edges, []), m)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{table.title}: {error}") from None
        keys, wanted = (p[:, 0] * m + p[:, 1] for p in (found, np.sort(pairs, axis=1)))
        columns = [np.isin(wanted, keys[kind]) for kind in kinds]
        return np.column_stack(columns).astype(np.float64)


def links(
    edges: ArrayLike,
    nodes: MatrixLike,
    *,
    products: bool = True,
    indicator: float = 1.0,
    ids: Sequence[Hashable] | None = None,
) -> ItemSet:
    """An item set of nodes with two regions of pair features::

        psi_ab = [ x_a * x_b ; L_ab [x_a * x_b ; indicator] ; M_ab [x_a * x_b ; indicator] ]

    L_ab = 1 where one of the two links to the other, M_ab = 1 where some item links to both, else 0.

    Parameters
    ----------
    edges : array-like
        (e, 2) integers, each row (source, target). Items are 0..m-1; sources with other numbers are
        citing items outside the set. Repeated edges and links to oneself do nothing.
    nodes : (m, N_n) array or sparse matrix
        The x_a.
    products : bool, default=True
        Whether the regions have the products x_a * x_b, or the indicator alone.
    indicator : float, default=1.0
        Value of the indicator feature (beside unit rows x_a a value below 1 gives the words more weight).
    ids : sequence of hashable, optional
        Names of the items.

    Returns
    -------
    ItemSet
        The set; only pairs that are linked or co-cited have pair features.

    Examples
    --------
    >>> x = links([[0, 1], [9, 1], [9, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    >>> x.pair_index.tolist()
    [[0, 1], [1, 2]]
    >>> x.pairs.toarray()
    array([[ 3.,  8.,  1.,  0.,  0.,  0.],
           [ 0.,  0.,  0., 15.,  0.,  1.]])
    """
    check_real(nodes, "nodes")
    X = sparse.csr_array(nodes, dtype=np.float64)
    found, *kinds = link_pairs(edges, X.shape[0])
    a, b = found.T
    regions = []
    for member in kinds:
        mask = member.astype(np.float64)
        if products:
            rows = sparse.csr_array(sparse.diags_array(mask) @ (X[a] * X[b]))
            rows.eliminate_zeros()
            regions.append(rows)
        regions.append(sparse.csr_array(indicator * mask[:, None]))
    pairs = sparse.csr_array(sparse.hstack(regions, format="csr"))
    return ItemSet(nodes, pairs, pair_index=found, ids=ids)


def link_pairs(edges: ArrayLike, n_items: int) -> tuple[Ints, Bools, Bools]:
    """Sorted pairs a < b of an edge list, and which of them are linked (in either direction) and which are
    co-cited (some item links to both). Cost: the pairs found.
    """
    given = _check_edges(edges, n_items)
    inside = given[((given >= 0) & (given < n_items)).all(axis=1)]
    direct = _adjacency(inside[:, 0], inside[:, 1], (n_items, n_items))
    _, sources = np.unique(given[:, 0], return_inverse=True)
    citing = _adjacency(sources, given[:, 1], (len(given) + 1, n_items))
    linked, co_cited = _keys(direct + direct.T), _keys(citing.T @ citing)
    either = np.union1d(linked, co_cited)
    pairs = np.column_stack(np.divmod(either, n_items))
    return pairs, np.isin(either, linked), np.isin(either, co_cited)


def _check_edges(edges: ArrayLike, n_items: int) -> Ints:
    given = np.asarray(edges)
    if given.size == 0:
        given = np.zeros((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"edges must be an (e, 2) integer array, got {given.dtype} {given.shape}")
    outside = np.flatnonzero((given[:, 1] < 0) | (given[:, 1] >= n_items))
    if outside.size:
        row = int(outside[0])
        raise ValueError(f"edges: row {row} has the target {given[row, 1]}, not an item in 0..{n_items - 1}")
    return given[given[:, 0] != given[:, 1]].astype(np.int64)


def _adjacency(sources: Ints, targets: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(sources)), (sources, targets)), shape=shape)


def _keys(A: sparse.sparray) -> Ints:
    """The pairs a < b with an entry, as numbers a m + b."""
    a, b = sparse.triu(A, 1).coords
    return a.astype(np.int64) * A.shape[1] + b
