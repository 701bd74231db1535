"""What the vectorised problems share: how their rows are read, held once, and referred to by answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from clustruct._typing import Floats, Indices

_HELD: WeakValueDictionary[str, SharedRows] = WeakValueDictionary()


def checked_rows(X: ArrayLike) -> Any:
    """X as a finite C-ordered float64 array or CSR."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")


class SharedRows:
    """The rows of a problem, under a name by which answers from another process find them again."""

    def __init__(self, X: Any) -> None:
        self.X, self.name = X, uuid4().hex
        _HELD[self.name] = self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _HELD.setdefault(self.name, self)


@dataclass(frozen=True)
class RowConstraints:
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
