"""Partitions as label vectors: canonical numbering, co-membership, indicator matrices.

A partition y of m items is a vector of m labels; two items are together when their labels are equal.
The canonical form numbers the clusters 0, 1, 2, ... by first appearance, so that two label vectors
describe one partition exactly when their canonical forms are equal. Pure functions over arrays.
"""

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .typing import Bools, Floats, Ints, LabelsLike

__all__ = ["RelaxedClustering", "canonical_labels"]
# The label of an item whose cluster is not known.
UNKNOWN = -1


def canonical_labels(labels: LabelsLike, *, n_items: int | None = None, name: str = "labels") -> Ints:
    """y_a = number of distinct labels seen before the first item with a's label. Cost O(m log m).

    A missing label (None or NaN) is refused, as is a wrong length; the message names the item.

    Examples
    --------
    >>> canonical_labels(["oak", "elm", "oak"])
    array([0, 1, 0])
    """
    _check_vector(labels, n_items, name)
    if len(labels) == 0:
        return np.zeros(0, dtype=np.int64)
    if _holds_integers(labels):
        return _number_integers(np.asarray(labels))
    return _number_hashables(labels, name)


def partial_labels(labels: LabelsLike, *, n_items: int | None = None, name: str = "labels") -> Ints:
    """Canonical labels of the items whose cluster is known, and -1 for the others: None, NaN or -1."""
    _check_vector(labels, n_items, name)
    found = np.full(len(labels), UNKNOWN, dtype=np.int64)
    if _holds_integers(labels):
        values: NDArray[Any] = np.asarray(labels)
        known = values != UNKNOWN if values.dtype.kind == "i" else np.ones(len(values), np.bool_)
        found[known] = _number_integers(values[known])
    else:
        listed = list(labels)
        items = [a for a, value in enumerate(listed) if not is_unknown(value)]
        found[items] = _number_hashables([listed[a] for a in items], name, items)
    return found


def is_unknown(label: object) -> bool:
    """Whether a label says that the cluster is not known: None, NaN, pandas' NA or -1."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, int | float | np.number):
        return bool(label != label or label == UNKNOWN)
    return False


def _check_vector(labels: LabelsLike, n_items: int | None, name: str) -> None:
    # Sets and mappings have no order that could be that of the items.
    if isinstance(labels, (str, bytes, Mapping, Set)) or not hasattr(labels, "__len__"):
        raise ValueError(f"{name} must be a sequence with one label per item, got {type(labels).__name__}")
    if isinstance(labels, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array: fill in or leave out what is masked")
    shape = getattr(labels, "shape", (len(labels),))
    if len(shape) != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {tuple(shape)}")
    if n_items is not None and len(labels) != n_items:
        raise ValueError(f"{name} has {len(labels)} entries for {n_items} items")


def _holds_integers(labels: LabelsLike) -> bool:
    dtype = getattr(labels, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "biu"


def _number_integers(values: NDArray[Any]) -> Ints:
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def _number_hashables(values: Iterable[Hashable], name: str, items: Iterable[int] | None = None) -> Ints:
    """Numbers by first appearance; ``items`` are what messages call the items."""
    numbers: dict[Hashable, int] = {}
    out = []
    for a, value in zip(count() if items is None else items, values):  # noqa: B905 (one is endless)
        if value is None or value != value:  # NaN is the only common value unequal to itself
            raise ValueError(f"{name}: item {a} has no label ({value!r})")
        try:
            out.append(numbers.setdefault(value, len(numbers)))
        except TypeError:
            raise ValueError(f"{name}: the label of item {a} is not hashable ({value!r})") from None
    return np.array(out, dtype=np.int64)


def co_membership(labels: LabelsLike) -> Bools:
    """e_ab = 1[y_a = y_b] for a < b, in the order of scipy's `pdist`; m(m-1)/2 entries."""
    y = canonical_labels(labels)
    m = y.size
    together = np.empty(m * (m - 1) // 2, dtype=np.bool_)
    start = 0
    for a in range(m - 1):
        stop = start + m - 1 - a
        np.equal(y[a + 1 :], y[a], out=together[start:stop])
        start = stop
    return together


def indicator(labels: LabelsLike) -> sparse.csr_array:
    """Y_ac = 1 if item a lies in cluster c, else 0 (m x k, CSR)."""
    y = canonical_labels(labels)
    return _one_per_row(y, np.ones(y.size))


def normalised_indicator(labels: LabelsLike) -> sparse.csr_array:
    """Y_ac = |c|^(-1/2) if item a lies in cluster c, else 0, so that Y'Y = I (m x k, CSR)."""
    y = canonical_labels(labels)
    return _one_per_row(y, 1.0 / np.sqrt(np.bincount(y)[y]))


def _one_per_row(columns: Ints, values: Floats) -> sparse.csr_array:
    m = columns.size
    k = int(columns.max()) + 1 if m else 0
    return sparse.csr_array((values, columns, np.arange(m + 1)), shape=(m, k))


@dataclass(frozen=True)
class RelaxedClustering:
    """A clustering into k clusters relaxed to any m x k matrix Y with orthonormal columns, Y'Y = I.

    Of partitions Y is the normalised indicator. Columns have no order and no sign that means anything: only
    Y Y' does. Finley 2009, section 4.3.3.
    """

    Y: Floats

    def __post_init__(self) -> None:
        if self.Y.ndim != 2 or not 1 <= self.Y.shape[1] <= self.Y.shape[0]:
            raise ValueError(f"Y must be m x k with 1 <= k <= m, got shape {self.Y.shape}")
        off = float(np.abs(self.Y.T @ self.Y - np.eye(self.Y.shape[1])).max())
        if not off <= 1e-6:
            raise ValueError(f"the columns of Y are not orthonormal (Y'Y differs from I by {off:.3g})")

    @property
    def n_items(self) -> int:
        """m."""
        return int(self.Y.shape[0])

    @property
    def n_clusters(self) -> int:
        """k."""
        return int(self.Y.shape[1])


def connected_items(n: int, pairs: Ints) -> Ints:
    """The component of each of n items, where pairs tie two items each."""
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1], dtype=np.int64)


def chained_pairs(labels: Ints) -> Ints:
    """Pairs that tie all items of one label, one fewer than there are items; -1 is no label.

    >>> chained_pairs(np.array([5, -1, 5, 3, 5])).tolist()
    [[0, 2], [2, 4]]
    """
    items = np.flatnonzero(labels >= 0)
    items = items[np.argsort(labels[items], kind="stable")]
    same = labels[items[1:]] == labels[items[:-1]]
    return np.column_stack([items[:-1][same], items[1:][same]])


def contingency(y_true: LabelsLike, y_pred: LabelsLike) -> sparse.csr_array:
    """n_tc = number of items in true cluster t and predicted cluster c (CSR of integers). O(m log m)."""
    t = canonical_labels(y_true, name="y_true")
    c = canonical_labels(y_pred, n_items=t.size, name="y_pred")
    if t.size == 0:
        return sparse.csr_array((0, 0), dtype=np.int64)
    k = int(c.max()) + 1
    cells, counts = np.unique(t * k + c, return_counts=True)
    shape = (int(t.max()) + 1, k)
    return sparse.csr_array((counts.astype(np.int64), (cells // k, cells % k)), shape=shape)
