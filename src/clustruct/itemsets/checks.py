"""Checks of what a user hands to an ItemSet. Each error names the row, column or item at fault."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from clustruct._typing import Bools, Ints

from .pair_algebra import Matrix, MatrixLike, items_of_condensed


def check_matrix(values: MatrixLike, name: str) -> Matrix:
    """A finite two-dimensional float64 array (read-only view) or CSR in canonical form."""
    if sparse.issparse(values):
        return _check_sparse(values, name)
    try:
        dense = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a two-dimensional array of numbers: {error}") from None
    if dense.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {dense.shape}")
    if not np.isfinite(dense).all():
        row, column = np.argwhere(~np.isfinite(dense))[0]
        raise ValueError(f"{name}: row {row}, column {column} is {dense[row, column]}")
    view = dense.view()
    view.flags.writeable = False
    return view


def _check_sparse(values: sparse.sparray, name: str) -> sparse.csr_array:
    if values.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {values.shape}")
    csr = sparse.csr_array(values, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # sum_duplicates works in place; the caller's matrix must not change
        csr.sum_duplicates()
    bad = ~np.isfinite(csr.data)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(csr.indptr, place, side="right")) - 1
        raise ValueError(f"{name}: row {row}, column {csr.indices[place]} is {csr.data[place]}")
    csr.data = csr.data.view()  # the caller's own array stays writeable
    csr.data.flags.writeable = False
    return csr


def count_items(
    nodes: Matrix | None,
    pairs: Matrix | None,
    diagonal: Matrix | None,
    ids: Sequence[Hashable] | None,
    n_items: int | None,
    *,
    listed: bool,
) -> int:
    """m, from whatever tells it; two sources that differ are an error."""
    counts: dict[str, int] = {}
    if nodes is not None:
        counts["nodes"] = nodes.shape[0]
    if diagonal is not None:
        counts["pair_diagonal"] = diagonal.shape[0]
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
    if listed:
        raise ValueError("pair_index without nodes, ids or pair_diagonal needs n_items")
    m = items_of_condensed(n_rows)
    if m is None:
        raise ValueError(f"pairs has {n_rows} rows, which is not m(m-1)/2 for any m")
    return m


def check_pair_index(pair_index: ArrayLike, m: int, pairs: Matrix | None) -> Ints:
    """The listed pairs as a (p, 2) array with the smaller item first, read-only."""
    given: NDArray[Any] = np.asarray(pair_index)
    if given.size == 0:
        given = np.zeros((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(f"pair_index must be a (p, 2) integer array, got {given.dtype} {given.shape}")
    if pairs is not None and pairs.shape[0] != given.shape[0]:
        raise ValueError(f"pair_index has {given.shape[0]} rows, pairs has {pairs.shape[0]}")
    index = np.sort(given.astype(np.int64), axis=1)
    _refuse_row((index < 0) | (index >= m), given, f"names an item outside 0..{m - 1}")
    _refuse_row(index[:, :1] == index[:, 1:], given, "pairs an item with itself (use pair_diagonal)")
    keys = index[:, 0] * m + index[:, 1]
    _, first = np.unique(keys, return_index=True)
    repeated = np.ones((keys.size, 1), dtype=np.bool_)
    repeated[first] = False
    _refuse_row(repeated, given, "repeats an earlier pair")
    index.flags.writeable = False
    return index


def _refuse_row(wrong: Bools, given: NDArray[Any], reason: str) -> None:
    rows = np.flatnonzero(wrong.any(axis=1))
    if rows.size:
        raise ValueError(f"pair_index: row {rows[0]} {given[rows[0]].tolist()} {reason}")


def check_ids(ids: Sequence[Hashable] | None, m: int) -> tuple[Hashable, ...] | None:
    """m distinct item names."""
    if ids is None:
        return None
    names = tuple(ids)
    if len(names) != m:
        raise ValueError(f"ids has {len(names)} entries for {m} items")
    seen: dict[Hashable, int] = {}
    for a, name in enumerate(names):
        if seen.setdefault(name, a) != a:
            raise ValueError(f"ids: items {seen[name]} and {a} are both named {name!r}")
    return names


def check_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
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
