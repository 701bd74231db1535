"""Progress on stderr: a bar with gap and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO, TypeVar

from clustruct.callbacks import Callback, Iteration, Training

T = TypeVar("T")
WIDTH = 20
# Seconds between two drawings of the bar, and between two plain lines.
REDRAW, SPEAK = 0.1, 10.0
# Seconds before the first plain line of a stage.
PATIENCE = 1.0


class Progress(Callback):
    """Tells how far the work is, trainings included, and ends a training where a stop was asked for."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.terminal = self.stream.isatty()
        self.started = self.spoken = time.perf_counter()
        self.stage = ""
        self.drawn = 0
        self.duals: list[tuple[float, float]] = []
        self.stopping = False

    def each(self, things: Sequence[T], what: str) -> Iterator[T]:
        """Pass the things on, telling how many are done."""
        for n, thing in enumerate(things):
            self._tell(what, n / len(things), f"{n + 1} of {len(things)}", self._left(n / len(things)))
            yield thing
        self.done()

    def counted(self, things: Iterable[T], what: str) -> Iterator[T]:
        """The same where nobody knows how many there will be."""
        for n, thing in enumerate(things, 1):
            self._tell(what, None, f"set {n}", None)
            yield thing
        self.done()

    def on_begin(self, training: Training) -> None:
        if training.stage == "choosing C":
            self._tell_choice(training)
        else:
            self.duals = []
            self._tell("training", 0.0, f"C = {training.C:g}", None)

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        """A round of a training; where a stop was asked for, it was its last."""
        if training.stage == "choosing C":
            self._tell_choice(training)
        else:
            self.duals.append((iteration.seconds, iteration.dual))
            gap, way, left = estimate(self.duals, iteration.primal, training.rtol)
            known = "gap unknown" if gap is None else f"gap {100 * gap:.2g}%"
            self._tell("training", way, f"round {iteration.iteration}, {known}", left)
        return "interrupted" if self.stopping else None

    def _tell_choice(self, training: Training) -> None:
        share = training.done / training.total
        said = f"training {training.done + 1} of {training.total}, C = {training.C:g}"
        self._tell("choosing C", share, said, self._left(share))

    def done(self) -> None:
        """Take the bar away."""
        if self.drawn:
            self.stream.write("\r" + " " * self.drawn + "\r")
            self.stream.flush()
            self.drawn = 0
        self.stage = ""

    def _left(self, share: float) -> float | None:
        """Seconds left of a stage of which this share is done."""
        return None if share <= 0.0 else (time.perf_counter() - self.started) * (1.0 - share) / share

    def _tell(self, stage: str, share: float | None, said: str, left: float | None) -> None:
        now = time.perf_counter()
        fresh = stage != self.stage
        if fresh:
            self.done()
            self.stage, self.started = stage, now
            # What is over at once need not be told.
            self.spoken = now - (0.0 if self.terminal else SPEAK - PATIENCE)
            left = None
        if self.quiet or now - self.spoken < (REDRAW if self.terminal else SPEAK):
            return
        self.spoken = now
        about = "" if left is None else f", about {duration(left)} left"
        if not self.terminal:
            print(f"{stage}: {said}{about}", file=self.stream, flush=True)
            return
        bar = "" if share is None else "[" + ("#" * int(WIDTH * share)).ljust(WIDTH, ".") + "] "
        text = f"{stage} {bar}{said}{about}"
        self.stream.write("\r" + text.ljust(self.drawn))
        self.stream.flush()
        self.drawn = len(text)


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> [duration(s) for s in (0.4, 42, 200, 9000)]
    ['1 s', '42 s', '3 min', '2.5 h']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def estimate(
    duals: Sequence[tuple[float, float]], primal: float, rtol: float
) -> tuple[float | None, float | None, float | None]:
    """Relative gap, share of the way, and seconds left, from the (seconds, dual) of the rounds so far.

    The dual rises to the optimum like a geometric series, d_t = d - c r^t, whose end is foreseen from three
    rounds at equal distance. Where the primal is known, the gap is that between the two.

    >>> rounds = [(float(t), 1.0 - 0.5**t) for t in range(1, 8)]
    >>> [round(x, 3) for x in estimate(rounds, float("inf"), 0.001)]
    [0.008, 0.702, 2.977]
    """
    n = len(duals)
    dual = duals[-1][1] if n else 0.0
    known = (primal - dual) / abs(primal) if math.isfinite(primal) and primal else None
    if n < 3 or dual <= 0.0:
        return known, None, None
    k = (n - 1) // 2
    first, middle, last = (duals[i] for i in (n - 1 - 2 * k, n - 1 - k, n - 1))
    rise, fall = last[1] - middle[1], middle[1] - first[1]
    ratio = rise / fall if fall > 0 else 0.0
    if not 0.0 < ratio < 1.0:
        return known, None, None
    gap = known if known is not None else rise * ratio / (1.0 - ratio) / dual
    goal = max(rtol, 1e-12)
    if gap <= goal:
        return gap, 1.0, 0.0
    steps = math.log(gap / goal) / -math.log(ratio)
    left = steps * (last[0] - middle[0])
    return gap, last[0] / (last[0] + left) if left > 0 else 1.0, left
