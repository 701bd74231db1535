"""Slack scaling by a search for margins: one multiplier weighs the loss against the score.

    wanted:      max over y   Delta(y) (1 + gain(y))
    can be had:  max over y   gain(y) + lambda Delta(y)          for any lambda > 0

With a = 1 + gain and b = Delta every output is a line a + lambda b, and F(lambda), the highest of them, is
convex. Since a b <= (a + lambda b)^2 / (4 lambda) where a >= 0, every lambda gives a bound::

    max_y Delta (1 + gain) <= F(lambda)^2 / (4 lambda)

whose logarithm falls where lambda b < a on the highest line and rises where lambda b > a: there is one least
bound, and it is bracketed as Sarawagi and Gupta do ("Accurate max-margin training for structured output
spaces", ICML 2008). The next multiplier is where the two lines of the bracket cross, or where one of them has
its own least bound a b, if that is before the crossing. At the end no output lies above the two lines. An
output between them in both a and b, but below, is never found: the search undergenerates, by what the bound
says at most. Where outputs may be mixed (a relaxation), the mixture of the two with a = lambda b reaches the
bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

Y = TypeVar("Y")
# Where the search begins if nothing better is known: a loss of 50 against a margin of 1.
FIRST = 0.02
# Each step finds another output or ends: more than about ten are rare.
MOST_STEPS = 40
# Beyond this an output of positive loss is worth nothing beside the margin of 1.
LARGEST = 1e9
RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Point(Generic[Y]):
    """An output with its loss and what it scores above the truth."""

    output: Y
    loss: float
    gain: float

    @property
    def need(self) -> float:
        return self.loss * (1.0 + self.gain)

    def line(self, multiplier: float) -> float:
        return 1.0 + self.gain + multiplier * self.loss

    @property
    def own(self) -> float:
        """The multiplier of its own least bound."""
        return (1.0 + self.gain) / self.loss if self.loss > 0.0 else math.inf


class MultiplierSearch(Generic[Y]):
    """The search for one example: asks for outputs of largest gain + ``multiplier`` x loss, one by one.

    ``best`` is the output of largest need met so far (the truth needs 0), ``bound`` what no output exceeds if
    each answer was a true maximum, ``low`` and ``high`` are the ends of the bracket.

    >>> outputs = [Point("truth", 0.0, 0.0), Point("near", 4.0, 0.5), Point("far", 10.0, -0.9)]
    >>> search = MultiplierSearch(outputs[0])
    >>> while search.multiplier is not None:
    ...     search.tell(max(outputs, key=lambda p: p.line(search.multiplier)))
    >>> search.best.output, search.best.need, round(search.bound, 3)
    ('near', 6.0, 6.344)
    """

    def __init__(self, truth: Point[Y], *others: Point[Y]) -> None:
        self.best, self.low = truth, truth
        self.high: Point[Y] | None = None
        self.bound, self.steps = math.inf, 0
        self._ends = (0.0, math.inf)
        for point in others:
            self._meet(point)
        self.multiplier: float | None = self.best.own if self.best is not truth else FIRST

    def _meet(self, point: Point[Y]) -> None:
        if point.need > self.best.need:
            self.best = point

    def tell(self, point: Point[Y]) -> None:
        """An output of largest gain + multiplier x loss, for the multiplier asked for."""
        at = self.multiplier
        assert at is not None
        known = max(p.line(at) for p in (self.low, self.high) if p is not None)
        value = max(point.line(at), known)
        self.bound = min(self.bound, value * value / (4.0 * at))
        self.steps += 1
        self._meet(point)
        settled = self.high is not None and point.line(at) <= known * (1.0 + RELATIVE_TOLERANCE)
        if not settled:
            self._narrow(point, at)
        tight = self.bound <= self.best.need * (1.0 + RELATIVE_TOLERANCE)
        self.multiplier = None if settled or tight or self.steps >= MOST_STEPS else self._next()

    def _narrow(self, point: Point[Y], at: float) -> None:
        if at * point.loss <= 1.0 + point.gain:
            self.low, self._ends = point, (at, self._ends[1])
        else:
            self.high, self._ends = point, (self._ends[0], at)

    def _next(self) -> float | None:
        low, high = self.low, self.high
        if high is None:  # nothing is wrong enough yet to count
            reached = self._ends[0]
            own = low.own if reached * (1.0 + 1e-6) < low.own < math.inf else 8.0 * reached
            return min(own, LARGEST) if reached < LARGEST else None
        crossing = (low.gain - high.gain) / (high.loss - low.loss) if high.loss > low.loss else 0.0
        wanted = crossing
        if low.own < crossing:
            wanted = low.own
        elif high.own > crossing:
            wanted = high.own
        least, most = self._ends
        return wanted if least < wanted < most else None

    def mixture(self) -> float:
        """The share of ``high`` in the mixture of both ends that needs most."""
        low, high = self.low, self.high
        if high is None:
            return 0.0
        more_gain, more_loss = high.gain - low.gain, high.loss - low.loss
        if more_gain * more_loss >= 0.0:  # no inner maximum: one end is better
            return 1.0 if high.need > low.need else 0.0
        middle = -((1.0 + low.gain) * more_loss + low.loss * more_gain) / (2.0 * more_gain * more_loss)
        return min(max(middle, 0.0), 1.0)
