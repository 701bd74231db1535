"""Dense vectors, such as embeddings: how alike two are, and in which directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.storage import Shape, register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Fields, Table
from clustruct.features.base import Block, Comparison, PreparedBlock, Values, missing
from clustruct.features.columns import Columns

PARTS = ("cosine", "nearness", "difference", "product")
MOST_NUMBERS = 100_000
NUMBERS_AT_ONCE = 2_000_000
# Of numbers below the first, or above one over it, the products of two squares may be lost; above the second,
# products in standard deviations (at least 1e-12) may be infinite.
SMALLEST, LARGEST = 1e-70, 1e140


class Moments(NamedTuple):
    """n vectors, n_known of them not missing (the others count as zero): mean, sum of squared deviations."""

    title: str
    n: int
    n_known: int
    mean: Floats
    deviations: Floats

    def merge(self, other: Moments) -> Moments:
        """Of both, after Chan, Golub and LeVeque (1979): no digits are lost where the mean is large."""
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
    fields : sequence of str
        One field that holds lists of numbers, or several fields that hold one number each.
    parts : sequence of str, default=('cosine', 'nearness')
        Of "cosine", "nearness", "difference", "product".
    name : str, default=""
        The name of the vector in feature names.

    Examples
    --------
    >>> table = Table([{"v": [1.0, 0.0]}, {"v": [2.0, 0.0]}, {"v": [0.0, 1.0]}])
    >>> block = Vectors(["v"], parts=["cosine"]).fit([table])
    >>> block.get_feature_names_out()
    ['v: missing in one', 'v: missing in both', 'v: cosine']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).tolist()
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

    def check_attributes(self) -> None:
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
        numbers = [field for field, kind in data.kinds.items() if kind in ("number", "code")]
        return [cls(numbers, PARTS, name="numbers")] if numbers else []

    def summarise(self, sets: Sequence[Table]) -> Moments:
        found = [_without_large(*read_vectors(table, self.fields)) for table in sets]
        size = next((X.shape[1] for X, there in found if there.any()), 0)
        for table, (X, there) in zip(sets, found, strict=True):
            _check_size(table, X, there, size)
        X, there = (np.concatenate(part) for part in zip(*(_resize(*f, size) for f in found), strict=True))
        mean = X.mean(axis=0)
        deviations = ((X - mean) ** 2).sum(axis=0)
        return Moments(sets[0].title, len(X), int(there.sum()), mean, deviations)

    def merge(self, first: Moments, second: Moments) -> Moments:
        return first.merge(second)

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
        X, there = vectors_of(columns, self.fields)
        _check_size(columns.table, X, there, self.size_)
        if not {"difference", "product"}.isdisjoint(self.parts):
            X, there = _without_large(X, there)
        X, there = _resize(X, there, self.size_)
        return partial(self._in_chunks, X, _rescale(X), there)

    def _in_chunks(self, X: Floats, rays: Floats, there: Bools, pairs: Ints) -> Values:
        at_once = max(1, NUMBERS_AT_ONCE // self.size_)
        starts = range(0, max(len(pairs), 1), at_once)
        with np.errstate(over="ignore"):  # what is infinitely far apart has nearness 0
            parts = [self._compare(X, rays, there, pairs[k : k + at_once]) for k in starts]
        return np.concatenate(parts)

    def _compare(self, X: Floats, rays: Floats, there: Bools, pairs: Ints) -> Floats:
        x, y = X[pairs[:, 0]], X[pairs[:, 1]]
        both = np.asarray(there[pairs].all(axis=1))
        columns = missing(there, pairs)
        for part in self.parts:
            if part == "cosine":
                u, v = (x, y) if rays is X else (rays[pairs[:, 0]], rays[pairs[:, 1]])
                norms = np.sqrt(np.sum(u * u, axis=1) * np.sum(v * v, axis=1))
                columns.append(np.sum(u * v, axis=1) / np.where(norms > 0.0, norms, 1.0))
            elif part == "nearness":
                gap = np.sqrt(np.sum((x - y) ** 2, axis=1))
                columns.append(both * np.exp(-gap / self.scale_))
            elif part == "difference":
                columns.append(both[:, None] * np.abs(x - y) / self.spread_)
            else:
                columns.append(x * y / self.spread_**2)
        return np.column_stack(columns)


def _rescale(X: Floats) -> Floats:
    """The same directions, with numbers whose products are neither infinite nor lost."""
    size = np.abs(X).max(axis=1, initial=0.0)
    odd = (size > 1.0 / SMALLEST) | ((size > 0.0) & (size < SMALLEST))
    return X / np.where(odd, size, 1.0)[:, None] if odd.any() else X


def _without_large(X: Floats, there: Bools) -> tuple[Floats, Bools]:
    large = np.abs(X).max(axis=1, initial=0.0) > LARGEST
    return (np.where(large[:, None], 0.0, X), there & ~large) if large.any() else (X, there)


def vectors_of(columns: Columns, fields: Sequence[str]) -> tuple[Floats, Bools]:
    return columns.by_item(
        ("vectors", *fields), lambda c: read_vectors(c.table, fields), partial(_more, fields)
    )


def _more(
    fields: Sequence[str], old: tuple[Floats, Bools], new: Columns, whole: Columns
) -> tuple[Floats, Bools]:
    """The vectors of further items; where lengths differ all are read again, and a wrong one is named."""
    (X, there), (Y, more) = old, read_vectors(new.table, fields)
    if X.shape[1] != Y.shape[1]:
        return read_vectors(whole.table, fields)
    return np.concatenate([X, Y]), np.concatenate([there, more])


def read_vectors(table: Table, fields: Sequence[str]) -> tuple[Floats, Bools]:
    """The vectors (values of one field, or numbers of several) as rows, zero where missing; which are there.

    What is no list of finite numbers is missing; `DataError` names an item whose vector is of another length
    than the first one.
    """
    held = table.matrix(fields[0]) if len(fields) == 1 else None
    if held is not None and held.dtype.kind in "fiu" and held.shape[1] and np.isfinite(held).all():
        return np.asarray(held, np.float64), np.ones(len(table), np.bool_)
    if len(fields) == 1:
        values: list[Any] = table.column(fields[0])
    else:
        rows = zip(*(table.column(field) for field in fields), strict=True)
        values = [None if None in row else row for row in rows]
    found = [_vector(value) for value in values]
    there = np.array([v is not None for v in found])
    size = next((len(v) for v in found if v is not None), 0)
    X = np.zeros((len(found), size))
    for item, vector in enumerate(found):
        if vector is not None:
            if len(vector) != size:
                raise _other_size(table, item, len(vector), size)
            X[item] = vector
    return X, there


def _vector(value: Any) -> Floats | None:
    try:
        vector = np.asarray(None if np.iscomplexobj(value) else value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return vector if vector.ndim == 1 and vector.size and np.isfinite(vector).all() else None


def _check_size(table: Table, X: Floats, there: Bools, size: int) -> None:
    if there.any() and X.shape[1] != size:
        raise _other_size(table, int(np.argmax(there)), X.shape[1], size)


def _other_size(table: Table, item: int, found: int, wanted: int) -> DataError:
    return DataError(f"{table.item_title(item)} has {found} numbers, not {wanted}")


def _resize(X: Floats, there: Bools, size: int) -> tuple[Floats, Bools]:
    """A set without any vector does not know their length."""
    return (X, there) if there.any() else (np.zeros((len(X), size)), there)
