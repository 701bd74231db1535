"""What the vectorised problems share: how their rows are read, held once, and referred to by answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from clustruct.core.typing import Floats, Indices
from clustruct.ssvm import ConstraintBatch, PieceRows

_HELD: WeakValueDictionary[str, SharedRows] = WeakValueDictionary()


def checked_rows(X: ArrayLike) -> Any:
    """X as a finite C-ordered float64 array or CSR."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")


class SharedRows:
    """The rows of a problem end to end, dense or CSR, of which the planes of a training are made.

    They have a name by which answers from another process find them again.
    """

    def __init__(self, X: Any) -> None:
        n, d = X.shape
        self.X, self.name = X, uuid4().hex
        if sparse.issparse(X):
            self.data, self.indices = X.data, X.indices
            self.start, self.length = X.indptr[:-1], np.diff(X.indptr)
        else:
            self.data, self.indices = X.reshape(-1), np.zeros(0, np.int32)
            self.start, self.length = np.arange(n) * d, np.full(n, d)
        _HELD[self.name] = self

    def blocks(self, examples: Indices, offset: Indices, factor: Floats, n_features: int) -> PieceRows:
        """Vector j: the sum over k of ``factor[j, k]`` times row ``examples[j]``, at ``offset[j, k]``."""
        pieces = offset.shape[1]
        start, length = (np.repeat(a[examples], pieces) for a in (self.start, self.length))
        count = np.full(len(examples), pieces)
        return PieceRows(
            self.data, self.indices, count, start, length, offset.ravel(), factor.ravel(), n_features
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (type(self), self.X, self.name)


def _received(kind: type[SharedRows], X: Any, name: str) -> SharedRows:
    if name not in _HELD:
        rows = kind(X)
        rows.name = name
        _HELD[name] = rows
        return rows
    return _HELD[name]


@dataclass(frozen=True)
class RowConstraints(ConstraintBatch[Floats]):
    """Constraints made of rows of the problem's own data, which they do not copy.

    Sent from one process to another they leave the rows behind and find those that are there: a batch costs
    the same wherever its oracle ran, and planes made of it share the rows. ``known`` is the w of the search
    with the margins there.
    """

    source: SharedRows
    indices: Indices
    losses: Floats
    known: tuple[Floats, Floats]

    def is_known(self, w: Floats) -> bool:
        return w is self.known[0] or np.array_equal(w, self.known[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": self.source.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "source": _HELD[state["source"]]})
