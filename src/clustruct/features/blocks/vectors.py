"""Dense vectors, such as embeddings: how alike two are, and in which directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from clustruct._typing import Bools, Floats, Ints
from clustruct.exceptions import DataError
from clustruct.features.base import Block, Comparison, PreparedBlock, Values, missing
from clustruct.features.columns import Columns
from clustruct.records import Fields, RawSet
from clustruct.storage import Shape, register

PARTS = ("cosine", "nearness", "difference", "product")
MOST_NUMBERS = 100_000
PAIRS_AT_ONCE = 50_000


class Moments(NamedTuple):
    """n vectors, n_known of them not missing (the others count as zero): mean, sum of squared deviations.

    Two parts are put together after Chan, Golub and LeVeque (1979), which loses no digits where the mean is
    large beside the spread.
    """

    title: str
    n: int
    n_known: int
    mean: Floats
    deviations: Floats

    def merged(self, other: Moments) -> Moments:
        """Of the vectors of both."""
        size = max(len(self.mean), len(other.mean))
        for one in (self, other):
            if one.n_known and len(one.mean) != size:
                raise ValueError(f"{one.title}: vectors of {len(one.mean)} numbers, elsewhere of {size}")
        # A part without any vector does not know their length: its mean and deviations are all zero.
        none = np.zeros(size)
        (a, A), (b, B) = ((x.mean, x.deviations) if x.n_known else (none, none) for x in (self, other))
        n, gap = self.n + other.n, b - a
        deviations = A + B + gap**2 * (self.n * other.n / n)
        return Moments(self.title, n, self.n_known + other.n_known, a + gap * (other.n / n), deviations)


@register("Vectors")
@dataclass(eq=False, repr=False)
class Vectors(PreparedBlock[Moments]):
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
    >>> block.get_feature_names_out()
    ['v: missing in one', 'v: missing in both', 'v: cosine']
    >>> block.transform(raw, np.array([[0, 1], [0, 2]])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    fitted: ClassVar = {"size_": int, "spread_": Shape(("size_",)), "scale_": float}
    choices: ClassVar = {"parts": PARTS}
    suits: ClassVar = {"records": ("vector",), "vectors": ("vector",)}
    suits_record = ("vectors",)
    has_words = False

    fields: Sequence[str]
    parts: Sequence[str] = ("cosine", "nearness")
    name: str = ""

    def check_fitted(self) -> None:
        if not 1 <= self.size_ <= MOST_NUMBERS:
            raise ValueError(f"size_ must be in 1..{MOST_NUMBERS}, not {self.size_}")
        if (self.spread_ < 1e-12).any() or not self.scale_ >= 1e-300:
            raise ValueError("spread_ and scale_ must be positive")

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        return [cls([field])]

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        """Numbers side by side are one vector."""
        numbers = [field for field, kind in data.kinds.items() if kind == "number"]
        return [cls(numbers, PARTS, name="numbers")] if numbers else []

    def summarise(self, sets: Sequence[RawSet]) -> Moments:
        found = [self._read(raw) for raw in sets]
        size = next((len(v) for column in found for v in column if v is not None), 0)
        X, there = map(np.concatenate, zip(*map(_matrix, sets, found, [size] * len(sets)), strict=True))
        mean = X.mean(axis=0)
        return Moments(sets[0].title, len(X), int(there.sum()), mean, ((X - mean) ** 2).sum(axis=0))

    def merge(self, first: Moments, second: Moments) -> Moments:
        return first.merged(second)

    def finish(self, summary: Moments) -> Self:
        if not summary.n_known:
            raise ValueError(f"no item has a vector in {', '.join(self.fields)}")
        self.size_ = len(summary.mean)
        self.spread_ = np.maximum(np.sqrt(summary.deviations / summary.n), 1e-12)
        # For independent vectors the mean squared distance is twice the sum of the variances.
        self.scale_ = float(np.sqrt(2.0 * np.sum(self.spread_**2)))
        return self

    def get_feature_names_out(self) -> list[str]:
        title = self.name or " and ".join(self.fields[:2])
        kinds = ["missing in one", "missing in both"]
        for part in self.parts:
            each = part in ("difference", "product")
            kinds += [f"{part} of number {k + 1}" for k in range(self.size_)] if each else [part]
        return [f"{title}: {kind}" for kind in kinds]

    def prepare(self, columns: Columns) -> Comparison:
        return partial(self._in_chunks, *_matrix(columns.raw, self._read(columns.raw), self.size_))

    def _in_chunks(self, X: Floats, there: Bools, pairs: Ints) -> Values:
        starts = range(0, max(len(pairs), 1), PAIRS_AT_ONCE)
        return np.concatenate([self._compare(X, there, pairs[k : k + PAIRS_AT_ONCE]) for k in starts])

    def _compare(self, X: Floats, there: Bools, pairs: Ints) -> Floats:
        x, y = X[pairs[:, 0]], X[pairs[:, 1]]
        both = np.asarray(there[pairs].all(axis=1))
        columns = missing(there, pairs)
        for part in self.parts:
            if part == "cosine":
                norms = np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
                columns.append(np.sum(x * y, axis=1) / np.where(norms > 0.0, norms, 1.0))
            elif part == "nearness":
                gap = np.sqrt(np.sum((x - y) ** 2, axis=1))
                columns.append(both * np.exp(-gap / self.scale_))
            elif part == "difference":
                columns.append(both[:, None] * np.abs(x - y) / self.spread_)
            else:
                columns.append(x * y / self.spread_**2)
        return np.column_stack(columns)

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
            vector = np.asarray(None if np.iscomplexobj(value) else value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            vector = np.zeros((0, 0))
        if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
            raise DataError(f"{raw.item_title(item)}: {self.fields[0]} is not a list of finite numbers")
        return vector


def _matrix(raw: RawSet, column: Sequence[Floats | None], size: int) -> tuple[Floats, Bools]:
    """The vectors as rows, zero where missing, and which are there."""
    X = np.zeros((len(column), size))
    for item, vector in enumerate(column):
        if vector is not None:
            if len(vector) != size:
                raise DataError(f"{raw.item_title(item)} has {len(vector)} numbers, not {size}")
            X[item] = vector
    return X, np.array([v is not None for v in column])
