"""The working set as the hooks that print statistics see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clustruct._typing import Floats
from clustruct.ssvm import VectorSum

from .vectors import Document, Sparse, row_words


class WorkingConstraints(Sequence[Any]):
    """The constraints held: (Document, right side) pairs, made when first asked for.

    ``alpha`` has a multiplier for each. A hook that does not look costs nothing.
    """

    def __init__(self, working_set: Any) -> None:
        self._working_set = working_set
        self._planes: Any = None
        self.alpha = Multipliers(self)

    @property
    def planes(self) -> Any:
        if self._planes is None:
            self._planes = self._working_set.dump()
        return self._planes

    def __len__(self) -> int:
        return len(self.planes.b)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        if isinstance(which, slice):
            return [self[k] for k in range(*which.indices(len(self)))]
        vector = self.planes.vectors[which]
        slackid = int(self.planes.group[which]) + 1
        return Document(_sparses(vector), slackid=slackid), float(self.planes.b[which])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))


class Multipliers(Sequence[float]):
    """The multipliers of the constraints held."""

    def __init__(self, constraints: WorkingConstraints) -> None:
        self._constraints = constraints

    def __len__(self) -> int:
        return len(self._constraints)

    def __getitem__(self, which: SupportsIndex | slice) -> Any:
        return self._constraints.planes.a[which]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._constraints.planes.a, dtype)


def _sparses(vector: VectorSum | Floats) -> list[Sparse]:
    if not isinstance(vector, VectorSum):
        return [Sparse(vector)]
    parts = zip(vector.coefficients.tolist(), vector.part_ids.tolist(), strict=True)
    rows = vector.vectors
    return [Sparse(row_words(rows, k), factor=a, kernel_id=p) for k, (a, p) in enumerate(parts)]
