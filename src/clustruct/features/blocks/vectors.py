"""Dense vectors, such as embeddings: how alike two are, and in which directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats, Ints
from clustruct.features import checks
from clustruct.features.base import PairBlock, State, Values, register
from clustruct.records import RawSet

from .strings import missing

PARTS = ("cosine", "nearness", "difference", "product")
MOST_NUMBERS = 100_000
PAIRS_AT_ONCE = 50_000


@register
class Vectors(PairBlock):
    """Cosine and nearness of two vectors; with "difference" and "product" a feature per number, too.

    Nearness is exp(-distance / scale), the scale being the mean distance of two training vectors. The
    difference |x - y| and the product x y of each number are measured in standard deviations.

    Parameters
    ----------
    fields : one field that holds lists of numbers, or several fields that hold one number each
    parts : of "cosine", "nearness", "difference", "product"
    name : how the vector is called in feature names

    >>> raw = RawSet([{"v": [1.0, 0.0]}, {"v": [2.0, 0.0]}, {"v": [0.0, 1.0]}])
    >>> block = Vectors(["v"], parts=["cosine"]).fit([raw])
    >>> block.names(), block.values(raw, np.array([[0, 1], [0, 2]])).tolist()
    (['v: missing in one', 'v: missing in both', 'v: cosine'], [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    """

    kind = "vectors"

    def __init__(
        self, fields: Sequence[str], parts: Sequence[str] = ("cosine", "nearness"), name: str = ""
    ) -> None:
        self.fields = fields
        self.parts = parts
        self.name = name

    def _check(self) -> None:
        checks.names_of_fields(self.fields)
        if not isinstance(self.parts, list | tuple) or any(p not in PARTS for p in self.parts):
            raise ValueError(f"parts must be some of {', '.join(PARTS)}, not {self.parts!r}")
        if not isinstance(self.name, str):
            raise ValueError(f"name must be a string, not {self.name!r}")

    def fit(self, sets: Sequence[RawSet]) -> Self:
        self._check()
        found = [self._read(raw) for raw in sets]
        known = [v for column in found for v in column if v is not None]
        if not known:
            raise ValueError(f"no item has a vector in {', '.join(self.fields)}")
        self.size_ = len(known[0])
        X = np.concatenate([self._matrix(raw, column)[0] for raw, column in zip(sets, found, strict=True)])
        self.spread_ = np.maximum(X.std(axis=0), 1e-12)
        # For independent vectors the mean squared distance is twice the sum of the variances.
        self.scale_ = float(np.sqrt(2.0 * np.sum(self.spread_**2)))
        return self

    def names(self) -> list[str]:
        title = self.name or " and ".join(self.fields[:2])
        kinds = ["missing in one", "missing in both"]
        for part in self.parts:
            each = part in ("difference", "product")
            kinds += [f"{part} of number {k + 1}" for k in range(self.size_)] if each else [part]
        return [f"{title}: {kind}" for kind in kinds]

    def values(self, raw: RawSet, pairs: Ints) -> Values:
        X, there = self._matrix(raw, self._read(raw))
        out = [
            self._compare(X, there, pairs[k : k + PAIRS_AT_ONCE]) for k in range(0, len(pairs), PAIRS_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, len(self.names()))), *out])

    def _compare(self, X: Floats, there: NDArray[np.bool_], pairs: Ints) -> Floats:
        x, y = X[pairs[:, 0]], X[pairs[:, 1]]
        both = np.asarray(there[pairs].all(axis=1), np.float64).reshape(-1, 1)
        columns = [np.column_stack(missing(there, pairs))]
        for part in self.parts:
            if part == "cosine":
                norms = np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
                cosine = np.asarray(np.sum(x * y, axis=1) / np.where(norms > 0.0, norms, 1.0))
                columns.append(cosine.reshape(-1, 1))
            elif part == "nearness":
                gap = np.sqrt(np.sum((x - y) ** 2, axis=1)).reshape(-1, 1)
                columns.append(both * np.exp(-gap / self.scale_))
            elif part == "difference":
                columns.append(both * np.abs(x - y) / self.spread_)
            else:
                columns.append(x * y / self.spread_**2)
        return np.hstack(columns)

    def _read(self, raw: RawSet) -> list[Floats | None]:
        if len(self.fields) == 1:
            return [self._vector(raw, k, v) for k, v in enumerate(raw.column(self.fields[0]))]
        columns = [raw.column(field) for field in self.fields]
        rows = zip(*columns, strict=True)
        return [None if None in row else self._vector(raw, k, row) for k, row in enumerate(rows)]

    def _vector(self, raw: RawSet, item: int, value: Any) -> Floats | None:
        if value is None:
            return None
        try:
            vector = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            vector = np.zeros((0, 0))
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise ValueError(f"{raw.title}: item {item}: {self.fields[0]} is not a list of finite numbers")
        return vector

    def _matrix(self, raw: RawSet, column: list[Floats | None]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vectors as rows, zero where missing, and which are there."""
        X = np.zeros((len(column), self.size_))
        for item, vector in enumerate(column):
            if vector is not None:
                if len(vector) != self.size_:
                    raise ValueError(f"{raw.title}: item {item} has {len(vector)} numbers, not {self.size_}")
                X[item] = vector
        return X, np.array([v is not None for v in column])

    def learned(self) -> State:
        return {"size": self.size_, "spread": self.spread_, "scale": self.scale_}

    def restore(self, learned: Mapping[str, Any]) -> None:
        self._check()
        self.size_ = checks.whole(checks.part(learned, "size"), "size", 1, MOST_NUMBERS)
        self.spread_ = checks.numbers(learned, "spread", self.size_, least=1e-12)
        self.scale_ = float(
            checks.numbers({"scale": [checks.part(learned, "scale")]}, "scale", 1, least=1e-300)[0]
        )
