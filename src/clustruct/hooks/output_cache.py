"""Answers of the oracle that came before: their psi differences and losses need not be asked for again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Indices

# Outputs of these kinds cannot be changed after they were returned, so they may be compared later.
PLAIN_TYPES = {int, float, str, bool, bytes, np.int64, np.int32, np.float64, np.bool_, np.str_}


def is_hashable_output(output: object) -> bool:
    """Whether an output is a plain value, or a tuple of plain values.

    >>> is_hashable_output(3), is_hashable_output(("N", "V")), is_hashable_output([3])
    (True, True, False)
    """
    return type(output) in PLAIN_TYPES or (
        type(output) is tuple and all(type(part) in PLAIN_TYPES for part in output)
    )


class RowStore:
    """CSR rows in arrays that double as they grow. Row 0 is empty: the truth's difference."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.data, self.indices = np.empty(1024), np.empty(1024, np.int32)
        self.pointers = np.zeros(1024, np.int64)
        self.count = 1

    def append(self, rows: sparse.csr_array) -> int:
        """Take in rows; the number of the first."""
        first, held = self.count, int(self.pointers[self.count])
        end, entries = self.count + rows.shape[0], held + len(rows.data)
        self.data = _with_room(self.data, entries)
        self.indices = _with_room(self.indices, entries)
        self.pointers = _with_room(self.pointers, end + 1)
        self.data[held:entries] = rows.data
        self.indices[held:entries] = rows.indices
        self.pointers[first : end + 1] = held + rows.indptr
        self.count = end
        return first

    def take(self, which: Indices) -> sparse.csr_array:
        """Some of the rows, in the order asked for."""
        starts = self.pointers[which]
        lengths = self.pointers[which + 1] - starts
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(pointers[-1]) + np.repeat(starts - pointers[:-1], lengths)
        shape = (len(which), self.n_columns)
        return sparse.csr_array((self.data[at], self.indices[at], pointers.astype(np.int32)), shape=shape)


def _with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    if size <= len(array):
        return array
    grown = np.zeros(2 * size, array.dtype)
    grown[: len(array)] = array
    return grown
