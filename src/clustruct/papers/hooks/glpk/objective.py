"""The objective of a program: coefficients of the columns, a constant, and which way is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

from .bars import BarCollection, number


class Objective:
    """``obj[j]`` or ``obj["name"]`` is the coefficient of a column, ``obj[None]`` the constant (`shift`).

    maximize : bool, at first False
    value : of the last solver, the constant included
    """

    def __init__(self, cols: BarCollection, changed: Callable[[], None]) -> None:
        self._cols, self._changed = cols, changed
        self._maximize, self._shift = False, 0.0
        self.name: str | None = None
        self.value = 0.0

    @property
    def maximize(self) -> bool:
        return self._maximize

    @maximize.setter
    def maximize(self, given: object) -> None:
        self._maximize = bool(given)
        self._changed()

    @property
    def shift(self) -> float:
        return self._shift

    @shift.setter
    def shift(self, given: float) -> None:
        self._shift = number(given, "the shift")
        self._changed()

    def __len__(self) -> int:
        return len(self._cols)

    def __iter__(self) -> Iterator[float]:
        return iter(self[:])

    def __getitem__(self, at: Any) -> Any:
        if at is None:
            return self._shift
        costs = [self._cols[place]._cost for place in self._cols.places(at)]
        return costs if isinstance(at, slice | tuple | list) else costs[0]

    def __setitem__(self, at: Any, given: Any) -> None:
        """One number for all that is chosen, or as many numbers as there are."""
        if at is None:
            self.shift = given
            return
        places = self._cols.places(at)
        values = [given] * len(places) if isinstance(given, Real) else list(given)
        if len(values) != len(places):
            raise ValueError(f"{len(values)} coefficients for {len(places)} columns")
        for place, value in zip(places, values, strict=True):
            self._cols[place]._cost = number(value, "a coefficient")
        self._changed()
