"""Numbers and dates by difference, at several scales."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import Shape, register
from clustruct.core.typing import Floats, Ints
from clustruct.data import Fields, Table, as_day, as_number
from clustruct.features.base import Comparison, PreparedBlock, Values, missing
from clustruct.features.columns import Columns

N_SCALES = 3


@dataclass(eq=False, repr=False)
class Differences(PreparedBlock[Floats]):
    """A field that is a number: same or not, missing or not, and nearness exp(-|difference| / scale).

    The scales are a fiftieth, a fifth and twice the spread (half the inner half) of the training values, but
    not less than the steps between them.
    """

    unit: ClassVar[str] = ""
    fitted: ClassVar = {"scales_": Shape((N_SCALES,))}

    field: str
    missing_values: bool = True

    def check_attributes(self) -> None:
        if (self.scales_ < 1e-300).any():
            raise ValueError("scales_ must be positive")

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        return [cls(field, missing_values=False)]

    def summarise(self, sets: Sequence[Table]) -> Floats:
        x = np.concatenate([self._column(table) for table in sets])
        return x[np.isfinite(x)]

    def merge(self, first: Floats, second: Floats) -> Floats:
        return np.concatenate([first, second])

    def finish(self, summary: Floats) -> Self:
        self.scales_ = np.array(_scales(summary))
        return self

    @abstractmethod
    def read(self, value: object) -> float:
        """The number that a value stands for, NaN for none."""

    def _column(self, table: Table) -> Floats:
        codes, values = table.factorize(self.field)
        x = np.array([*map(self.read, values), np.nan])  # the code -1, missing, picks the last
        return x[codes]

    def get_feature_names_out(self) -> list[str]:
        kinds = [f"within about {scale:.3g}{self.unit}" for scale in self.scales_]
        if self.missing_values:
            kinds = ["no number in one", "no number in both", *kinds]
        return [f"{self.field}: {kind}" for kind in ["same number", *kinds]]

    def prepare(self, columns: Columns) -> Comparison:
        key = ("numbers", type(self).__name__, self.field)
        return partial(self._compare, columns.by_item(key, lambda c: self._column(c.table)))

    def _compare(self, x: Floats, pairs: Ints) -> Values:
        there = np.isfinite(x)
        both = there[pairs].all(axis=1)
        gap = np.abs(np.diff(np.where(there, x, 0.0)[pairs], axis=1)[:, 0])
        columns = [(both & (gap == 0.0)).astype(np.float64)]
        columns += missing(there, pairs) if self.missing_values else []
        return np.column_stack(columns + [both * np.exp(-gap / scale) for scale in self.scales_])


def _scales(x: Floats) -> list[float]:
    """Three scales, equal steps apart, that suit the values."""
    if len(x) < 2 or np.ptp(x) == 0.0:
        return [0.1, 1.0, 10.0]
    low, high = np.quantile(x, [0.25, 0.75])
    spread = (high - low) / 2 or np.ptp(x) / 4
    steps = np.diff(np.unique(x))
    least = float(max(np.quantile(steps, 0.05), spread * 1e-3))
    return [float(max(spread * factor, least * k)) for k, factor in ((1, 0.02), (2, 0.2), (4, 2.0))]


@register("Numbers")
class Numbers(Differences):
    """A field that is a number.

    Parameters
    ----------
    field : str
        The name of the field.
    missing_values : bool, default=True
        Whether a value that is missing has a feature of its own.

    Examples
    --------
    >>> table = Table([{"year": "1988."}, {"year": 1990}, {"year": ""}])
    >>> block = Numbers("year").fit([table])
    >>> block.get_feature_names_out()[:3]
    ['year: same number', 'year: no number in one', 'year: no number in both']
    >>> block.transform(table, np.array([[0, 1], [1, 2]]))[:, :3].tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """

    suits: ClassVar = {"records": ("number",)}

    def read(self, value: object) -> float:
        return as_number(value)


@register("Dates")
class Dates(Differences):
    """A field that is a date, in any of the forms that `clustruct.data.dates` knows; differences in days."""

    suits: ClassVar = {"records": ("date",)}
    unit = " days"

    def read(self, value: object) -> float:
        return as_day(value)
