"""Numbers and dates by difference, at several scales."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, ClassVar, Self

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.features import checks
from clustruct.features.base import PairBlock, State, Values, register
from clustruct.records import RawSet, is_missing

from .strings import missing

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ROUND = " \t.,;:()[]{}$\u20ac\u00a3\u00a5'\"`~#%"
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y")
N_SCALES = 3


def as_number(value: Any) -> float:
    """The number that a value is, NaN where it is none.

    >>> [as_number(v) for v in ("1988.", "$1,299.50", 7, "7 in", None)]
    [1988.0, 1299.5, 7.0, nan, nan]
    """
    if is_missing(value) or isinstance(value, bool):
        return np.nan
    if isinstance(value, int | float | np.number):
        number = float(value)
    else:
        text = str(value).strip(_ROUND)
        if len(text) > 40 or not _NUMBER.fullmatch(text):
            return np.nan
        number = float(text.replace(",", ""))
    return number if abs(number) < 1e100 else np.nan


def as_day(value: Any) -> float:
    """The day number of a date, NaN where it is none.

    >>> as_day("2014-03-11") - as_day("20140310")
    1.0
    >>> as_day("someday"), as_day("2014-03-11T12:00:00") - as_day("2014-03-11")
    (nan, 0.5)
    """
    if isinstance(value, datetime):
        return value.toordinal() + (value.hour + value.minute / 60) / 24
    if isinstance(value, date):
        return float(value.toordinal())
    if is_missing(value) or not isinstance(value, str | int | float):
        return np.nan
    text = str(value).strip()
    for form in _DATES if 6 <= len(text) <= 20 else ():
        try:
            return float(datetime.strptime(text, form).toordinal())
        except ValueError:
            continue
    try:
        return as_day(datetime.fromisoformat(text)) if "T" in text or ":" in text else np.nan
    except ValueError:
        return np.nan


class Differences(PairBlock):
    """A field that is a number: same or not, missing or not, and nearness exp(-|difference| / scale).

    The scales are a fiftieth, a fifth and twice the spread (half the inner half) of the training values, but
    not less than the steps between them.
    """

    unit: ClassVar[str] = ""

    def __init__(self, field: str, missing_values: bool = True) -> None:
        self.field = field
        self.missing_values = missing_values

    def fit(self, sets: Sequence[RawSet]) -> Self:
        checks.name_of_field(self.field)
        x = np.concatenate([self._column(raw) for raw in sets])
        self.scales_ = _scales(x[np.isfinite(x)])
        return self

    @abstractmethod
    def read(self, value: Any) -> float:
        """The number that a value stands for, NaN for none."""

    def _column(self, raw: RawSet) -> Floats:
        return np.array([self.read(value) for value in raw.column(self.field)])

    def names(self) -> list[str]:
        kinds = [f"within about {scale:.3g}{self.unit}" for scale in self.scales_]
        if self.missing_values:
            kinds = ["no number in one", "no number in both", *kinds]
        return [f"{self.field}: {kind}" for kind in ["same number", *kinds]]

    def values(self, raw: RawSet, pairs: Ints) -> Values:
        x = self._column(raw)
        there = np.isfinite(x)
        both = there[pairs].all(axis=1)
        gap = np.abs(np.diff(np.where(there, x, 0.0)[pairs], axis=1)[:, 0])
        columns = [(both & (gap == 0.0)).astype(np.float64)]
        columns += missing(there, pairs) if self.missing_values else []
        return np.column_stack(columns + [both * np.exp(-gap / scale) for scale in self.scales_])

    def learned(self) -> State:
        return {"scales": np.array(self.scales_)}

    def restore(self, learned: Mapping[str, Any]) -> None:
        checks.name_of_field(self.field)
        self.scales_ = checks.numbers(learned, "scales", N_SCALES, least=1e-300).tolist()


def _scales(x: Floats) -> list[float]:
    """Three scales, equal steps apart, that suit the values."""
    if len(x) < 2 or np.ptp(x) == 0.0:
        return [0.1, 1.0, 10.0]
    low, high = np.quantile(x, [0.25, 0.75])
    spread = (high - low) / 2 or np.ptp(x) / 4
    steps = np.diff(np.unique(x))
    least = float(max(np.quantile(steps, 0.05), spread * 1e-3))
    return [float(max(spread * factor, least * k)) for k, factor in ((1, 0.02), (2, 0.2), (4, 2.0))]


@register
class Numbers(Differences):
    """A field that is a number.

    >>> raw = RawSet([{"year": "1988."}, {"year": 1990}, {"year": ""}])
    >>> block = Numbers("year").fit([raw])
    >>> block.names()[:3]
    ['year: same number', 'year: no number in one', 'year: no number in both']
    >>> block.values(raw, np.array([[0, 1], [1, 2]]))[:, :3].tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """

    kind = "numbers"

    def read(self, value: Any) -> float:
        return as_number(value)


@register
class Dates(Differences):
    """A field that is a date (ISO, yyyymmdd, dd.mm.yyyy, mm/dd/yyyy, or in words); differences in days."""

    kind = "dates"
    unit = " days"

    def read(self, value: Any) -> float:
        return as_day(value)
