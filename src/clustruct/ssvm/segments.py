"""Plane vectors as stretches of shared data."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats


@dataclass(frozen=True)
class PieceRows:
    """Vectors made of any stretches of one array: vector j has ``count[j]`` pieces, listed one after
    another, each ``factor`` times ``data[start : start + length]`` laid down from entry ``offset`` on.

    Where ``indices`` is not empty the data is sparse, and ``indices`` holds entries relative to the offset.
    ``data`` must be the same object in every batch of a problem: it is not copied. The psi difference of a
    multiclass example is two pieces, one row of X laid down twice.
    """

    data: Floats
    indices: NDArray[np.int32]
    count: NDArray[np.intp]
    start: NDArray[np.intp]
    length: NDArray[np.intp]
    offset: NDArray[np.intp]
    factor: Floats
    n_features: int

    def __len__(self) -> int:
        return len(self.count)

    def scaled(self, factors: Floats) -> PieceRows:
        return replace(self, factor=self.factor * np.repeat(factors, self.count))

    def tocsr(self) -> Any:
        held = Segments(self.n_features)
        held.add(self)
        return held.tocsr()


class Segments:
    """Storage of plane vectors for the kernels. See `_kernels` for the format.

    Rows come as `PieceRows` over one array, as dense rows or as CSR.
    The first batch decides whether the data is sparse; later ones are turned to fit.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.count = 0
        self._base: Any = None
        self._data = np.zeros(0)
        self._indices = np.zeros(0, np.int32)
        self._filled = 0
        self._sparse: bool | None = None
        self._first = np.zeros(1025, np.int64)
        self._parts: dict[str, NDArray[Any]] = {
            "start": np.zeros(2048, np.int64),
            "length": np.zeros(2048, np.int64),
            "offset": np.zeros(2048, np.int64),
            "factor": np.zeros(2048),
        }

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the kernels take."""
        return (self._first, *self._parts.values(), self._data, self._indices)

    @property
    def entries(self) -> int:
        """Entries of all vectors together."""
        return int(self._parts["length"][: int(self._first[self.count])].sum())

    def add(self, rows: Any) -> None:
        """Take in one vector per row."""
        if isinstance(rows, PieceRows) and (self.count == 0 or rows.data is self._base):
            self._add_pieces(rows)
        else:
            self._add_rows(rows.tocsr() if isinstance(rows, PieceRows) else rows)

    def _add_pieces(self, rows: PieceRows) -> None:
        if self._base is None:
            self._base, self._sparse = rows.data, bool(len(rows.indices))
            self._data, self._indices, self._filled = rows.data, rows.indices, len(rows.data)
        self._append(rows.count, rows.start, rows.length, rows.offset, rows.factor)

    def _add_rows(self, rows: Any) -> None:
        if self._sparse is None:
            self._sparse = sparse.issparse(rows)
        if self._sparse:
            rows = sparse.csr_array(rows)
            data, length = rows.data, np.diff(rows.indptr)
            self._put("_indices", rows.indices)
        else:
            rows = rows.toarray() if sparse.issparse(rows) else rows
            data, length = rows.reshape(-1), np.full(len(rows), rows.shape[1])
        start = self._filled + np.cumsum(length) - length
        self._put("_data", data)
        self._filled += len(data)
        zero = np.zeros(len(length))
        self._append(np.ones(len(length), int), start, length, zero, zero + 1.0)

    def _put(self, name: str, values: NDArray[Any]) -> None:
        array = getattr(self, name)
        if self._filled + len(values) > len(array):
            grown = np.zeros(2 * self._filled + len(values), array.dtype)
            grown[: self._filled] = array[: self._filled]
            setattr(self, name, grown)
        getattr(self, name)[self._filled : self._filled + len(values)] = values

    def _append(self, pieces: NDArray[Any], *parts: NDArray[Any]) -> None:
        end = self.count + len(pieces)
        if end >= len(self._first):
            self._first = np.concatenate([self._first, np.zeros(end, np.int64)])
        begin = int(self._first[self.count])
        self._first[self.count + 1 : end + 1] = begin + np.cumsum(pieces)
        last = int(self._first[end])
        for (name, array), values in zip(self._parts.items(), parts, strict=True):
            if last > len(array):
                self._parts[name] = np.concatenate([array, np.zeros(last, array.dtype)])
            self._parts[name][begin:last] = values
        self.count = end

    def keep(self, which: NDArray[np.intp]) -> None:
        """Hold on to these vectors only. Rows of a shared base cost nothing; others are moved together."""
        if self._base is None:
            rows = self.tocsr()[which]
            self._filled, self.count = 0, 0
            self._add_rows(rows)
            return
        pieces = np.diff(self._first[: self.count + 1])[which]
        within = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        taken = np.repeat(self._first[which], pieces) + within
        parts = [array[taken] for array in self._parts.values()]
        self.count = 0
        self._append(pieces, *parts)

    def copy(self) -> Segments:
        """The same vectors, to be added to apart from these. The data of a shared base is not copied."""
        other = copy(self)
        other._first = self._first.copy()
        other._parts = {name: array.copy() for name, array in self._parts.items()}
        if self._base is None:
            other._data, other._indices = self._data.copy(), self._indices.copy()
        return other

    def tocsr(self) -> Any:
        """All vectors as a CSR array."""
        pieces = int(self._first[self.count])
        start, length, offset, factor = (array[:pieces] for array in self._parts.values())
        plane = np.repeat(np.arange(self.count), np.diff(self._first[: self.count + 1]))
        entry = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        at = np.repeat(start, length) + entry
        columns = np.repeat(offset, length) + (self._indices[at] if self._sparse else entry)
        values = np.repeat(factor, length) * self._data[at]
        shape = (self.count, self.n_features)
        return sparse.csr_array(sparse.coo_array((values, (np.repeat(plane, length), columns)), shape=shape))
