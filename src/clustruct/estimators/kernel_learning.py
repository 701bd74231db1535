"""Kernel learning (Finley 2009, section 4.2.1): w >= 0 over features that are kernels keeps K one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from clustruct._typing import Floats
from clustruct.itemsets import ItemSet
from clustruct.itemsets.pair_algebra import Matrix

# An eigenvalue below minus this share of the largest is taken as negative.
TOLERANCE = 1e-8


def check_kernel_features(sets: Sequence[ItemSet]) -> None:
    """Refuse sets with a feature whose m x m matrix is not positive semidefinite.

    Node products are: x x' of one column. Pair features need a diagonal (without one the trace is 0), and
    each one's matrix, on the items where it is not zero, is looked at by its eigenvalues. Cost O(s^3) for
    a feature of s items.
    """
    for i, x in enumerate(sets):
        if x.pairs is None:
            continue
        if x.pair_diagonal is None:
            raise ValueError(
                f"set {i}: kernel learning needs pair features with a diagonal (ItemSet(pair_diagonal=...)); "
                "without one their matrices have trace 0 and are never positive semidefinite"
            )
        for f in range(x.n_pair_features):
            least, size = _eigenvalue_range(x, f)
            if least < -TOLERANCE * max(size, 1e-300):
                raise ValueError(
                    f"set {i}: pair feature {f} is not a kernel: its matrix has the eigenvalue {least:.3g}"
                )


def _eigenvalue_range(x: ItemSet, f: int) -> tuple[float, float]:
    """The least eigenvalue of the feature's matrix, and the size of the largest."""
    values, diagonal = _column(x.pairs, f), _column(x.pair_diagonal, f)
    rows = np.flatnonzero(values)
    a, b = np.triu_indices(x.n_items, 1) if x.pair_index is None else x.pair_index.T
    a, b = a[rows], b[rows]
    items = np.union1d(np.flatnonzero(diagonal), np.union1d(a, b))
    if items.size == 0:
        return 0.0, 0.0
    place = np.zeros(x.n_items, np.intp)
    place[items] = np.arange(items.size)
    A = np.diag(diagonal[items])
    A[place[a], place[b]] = A[place[b], place[a]] = values[rows]
    found = np.linalg.eigvalsh(A)
    return float(found[0]), float(np.abs(found).max())


def _column(A: Matrix | None, f: int) -> Floats:
    assert A is not None
    column = A[:, [f]]
    return np.asarray(column.toarray() if isinstance(column, sparse.csr_array) else column).ravel()
