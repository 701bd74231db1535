"""k-means on similarities: maximise the mean similarity within clusters, k clusters given.

    maximise over partitions y into k clusters:   sum_c 1/|c| sum_{a,b in c} K_ab = trace(Y'KY)

with Y_ac = |c|^(-1/2) for a in c, else 0. K may be indefinite. Finley and Joachims 2008; Finley 2009,
section 4.3.3 (Iterative).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from clustruct.core.partitions import canonical_labels, indicator
from clustruct.core.typing import Floats, Indices, Ints
from clustruct.data.matrices import symmetric_matrix

# Steps must raise the value by more than rounding, or a search could walk in circles.
RELATIVE_TOLERANCE = 1e-12
MOST_PASSES = 1000
# Sums over items that agree to so many digits of the largest are the same but for rounding.
SAME_DIGITS = 9


def iterative(
    K: Any,
    k: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.Generator = 0,
    labels: Any = None,
) -> Ints:
    """Iterative: from random assignments, move one item after the other to the cluster that raises
    ``trace(Y'KY)`` most, centres updated at once, until a pass moves nothing; the best of all starts.

    ``labels`` are starts beside the ``n_init`` random ones. Returns canonical labels. Cost O(m^2) for a
    start, O(m k) for a pass, O(m) for a move.

    >>> K = np.array([[2.0, 1.9, 0.1], [1.9, 2.0, 0.0], [0.1, 0.0, 1.0]])
    >>> iterative(K, 2)
    array([0, 0, 1])
    """
    dense = check_similarity(K)
    check_k(k, len(dense))
    order = order_by_similarity(dense)
    begin = starts(len(dense), k, n_init, random_state, labels, order)
    return best_hill_climb(dense, k, begin, order, rows=False)


def order_by_similarity(K: Floats) -> Indices:
    """The items in an order that depends on their similarities, not on how they are numbered.

    Random starts and the passes of a search follow it, so that the same items in another order have the same
    clusters. Items that look alike in all sums over K stay as they are.

    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    >>> order_by_similarity(K), order_by_similarity(K[::-1, ::-1])
    (array([2, 0, 1]), array([0, 2, 1]))
    """
    own, total = K.diagonal(), K.sum(axis=1)
    return order_of_rows(np.stack([own, total, (K * K).sum(axis=1), K @ own, K @ (total * total)], axis=1))


def order_of_rows(signs: Floats) -> Indices:
    """Row numbers, sorted by the first column, then the next; numbers equal but for rounding are equal."""
    largest = np.abs(signs).max(axis=0, initial=0.0)
    rounded = np.round(signs / np.where(largest > 0.0, largest, 1.0), SAME_DIGITS)
    return np.asarray(np.lexsort(rounded.T[::-1]), np.intp)


def starts(
    m: int,
    k: int,
    n_init: int,
    random_state: int | np.random.Generator,
    labels: Any = None,
    order: Indices | None = None,
) -> list[Ints]:
    """The given starts first, then random ones, drawn for the items in an order of their own."""
    rng = np.random.default_rng(random_state)
    given = _listed_labels(labels, m, k)
    if n_init < (0 if given else 1):
        raise ValueError(f"n_init must be at least 1, not {n_init}")
    back = slice(None) if order is None else np.argsort(order)
    return given + [random_labels(m, k, rng)[back] for _ in range(n_init)]


def random_labels(m: int, k: int, rng: np.random.Generator) -> Ints:
    """A random assignment in which no cluster is empty: k items seed them, the others go anywhere."""
    labels = rng.integers(0, k, m)
    labels[rng.choice(m, k, replace=False)] = np.arange(k)
    return labels.astype(np.int64)


def best_hill_climb(A: Floats, k: int, beginnings: list[Ints], order: Indices, *, rows: bool) -> Ints:
    """The best end of the climbs from all starts. A is K, or with ``rows`` a factor F of K = F F'.

    The items are visited in the order given.
    """
    # Imported here: numba takes a second to load.
    from ._kernels.kmeans_moves import hill_climb, hill_climb_rows

    kernel = hill_climb_rows if rows else hill_climb
    size = float(np.sum(A * A)) if rows else float(np.abs(A).sum(axis=1).max(initial=0.0)) * k
    best, found = -np.inf, beginnings[0]
    sorted_A = np.ascontiguousarray(A[order] if rows else A[np.ix_(order, order)])
    for begin in beginnings:
        labels = begin[order]
        value = kernel(sorted_A, labels, k, RELATIVE_TOLERANCE * size, MOST_PASSES)
        if value > best + RELATIVE_TOLERANCE * size:
            best, found = value, labels[np.argsort(order)]
    return canonical_labels(found)


def objective(K: Any, labels: Any) -> float:
    """trace(Y'KY) = sum_c 1/|c| sum_{a,b in c} K_ab.

    >>> objective([[1.0, 3.0], [3.0, 1.0]], [0, 0])
    4.0
    """
    Z = indicator(labels)
    product = K @ Z.toarray() if hasattr(K, "matmat") or sparse.issparse(K) else np.asarray(K) @ Z
    within = np.asarray((Z * np.asarray(product)).sum(axis=0)).ravel()
    return float(np.sum(within / np.asarray(Z.sum(axis=0)).ravel()))


def check_similarity(K: Any) -> Floats:
    """K as a finite symmetric C-ordered array; an operator is formed."""
    if isinstance(K, LinearOperator):
        K = K @ np.eye(K.shape[0])
    elif sparse.issparse(K):
        K = K.toarray()
    return symmetric_matrix(K)


def check_k(k: int, m: int) -> None:
    """1 <= k <= m."""
    if not 1 <= k <= m:
        raise ValueError(f"the number of clusters must be between 1 and the number of items, {m}, not {k}")


def _listed_labels(labels: Any, m: int, k: int) -> list[Ints]:
    if labels is None:
        return []
    many = isinstance(labels, list) and len(labels) > 0 and np.ndim(labels[0]) == 1
    checked = [canonical_labels(y, n_items=m) for y in (labels if many else [labels])]
    for y in checked:
        if int(y.max()) + 1 != k:
            raise ValueError(f"the labels to start from have {int(y.max()) + 1} clusters, not {k}")
    return checked
