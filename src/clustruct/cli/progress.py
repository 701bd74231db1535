"""Progress on stderr (a bar on a terminal, lines elsewhere), what stages cost, and Ctrl-C."""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TextIO, TypeVar

from tqdm import tqdm

from clustruct.core.callbacks import COMPILING, Callback, Cost, Iteration, Training, training_callback
from clustruct.core.formatting import duration, format_table
from clustruct.core.memory import in_words

T = TypeVar("T")
# Seconds between two drawings of the bar, and between two plain lines.
REDRAW, SPEAK = 0.1, 10.0
# Seconds before the first plain line of a stage.
PATIENCE = 1.0
# The share of a stage from which the rest is estimated: what comes first is often the slowest.
TELLING = 0.1
TRAINING = ("choosing C", "training")
# Of more pieces the share is shown, not the number.
MOST_COUNTED = 100_000


class _ProgressBar(tqdm):
    """A bar that is drawn when asked: no thread looks after it."""

    monitor_interval = 0


class ProgressOutput(Callback):
    """Says how far the work is, trainings included, and ends a training where a stop was asked for.

    Of stages within others, those are shown that take long: parts of one large table, but not of many sets.
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.terminal = self.stream.isatty()
        self.started = self.spoken = time.perf_counter()
        self.stage = ""
        self.bar: _ProgressBar | None = None
        self.duals: list[tuple[float, float]] = []
        self.stopping = False
        # The stages under way, and when each began, compiling left out.
        self.open: list[tuple[str, float]] = []
        self.mentioned: set[str] = set()
        self.costs = Costs()
        self.compiled = 0.0

    def each(self, things: Sequence[T], stage: str) -> Iterator[T]:
        """Pass the things on, saying how many are done."""
        with training_callback(self):
            for n, thing in enumerate(things):
                self.on_step(stage, n, len(things))
                yield thing
        self.close_stage()

    def on_open(self, stage: str, total: int | None) -> None:
        """A stage begins."""
        self.open.append((stage, time.perf_counter() - self.compiled))
        self.costs.begin(stage, len(self.open))

    def on_close(self, cost: Cost) -> None:
        """A stage is over."""
        self.open.pop()
        self.costs.add(cost)

    def on_compile(self, seconds: float | None) -> None:
        """Compiling says nothing of how long the rest takes: it is shown once, and clocks stand still."""
        if seconds is None:
            self._say_compiling()
            return
        self.compiled += seconds
        self.started += seconds

    def _say_compiling(self) -> None:
        if self.quiet or self.compiled < PATIENCE or COMPILING in self.mentioned:
            return
        self.mentioned.add(COMPILING)
        self._clear()
        print(COMPILING, file=self.stream, flush=True)

    def on_step(self, stage: str, done: int, total: int | None) -> None:
        """A piece of work was made; ``total`` is None where it is not known how many there will be."""
        own = next((one for one in reversed(self.open) if one[0] == stage), None)
        if own is not None and own is not self.open[0]:
            is_short = time.perf_counter() - self.compiled - own[1] < PATIENCE
            if is_short or self.stage in TRAINING:
                return
        if total is None:
            self._say(stage, None, f"set {done + 1}" if own is None else f"{done:,}", None)
            return
        share = min(done / max(total, 1), 1.0)
        pieces = f"{min(done + 1, total)} of {total}" if total <= MOST_COUNTED else f"{share:.0%}"
        since = self.started if own is None else self.compiled + own[1]
        self._say(stage, share, pieces, self._left(share, since if stage == self.stage else None))

    def on_begin(self, training: Training) -> None:
        """A training begins."""
        if training.stage == "choosing C":
            self._say_choice(training)
        else:
            self.duals = []
            self._say("training", 0.0, f"C = {training.C:g}", None)

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        """A round of a training; where a stop was asked for, it was its last."""
        if training.stage == "choosing C":
            self._say_choice(training)
        else:
            self.duals.append((iteration.seconds, iteration.dual))
            gap, way, left = estimate(self.duals, iteration.primal, training.rtol)
            known = "gap unknown" if gap is None else f"gap {100 * gap:.2g}%"
            self._say("training", way, f"round {iteration.iteration}, {known}", left)
        return "interrupted" if self.stopping else None

    def _say_choice(self, training: Training) -> None:
        share = training.done / training.total
        current = f"training {training.done + 1} of {training.total}, C = {training.C:g}"
        self._say("choosing C", share, current, self._left(share, self.started))

    def close_stage(self) -> None:
        """Take the bar away: the stage is over."""
        self._clear()
        self.stage = ""

    def _clear(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def _left(self, share: float, since: float | None) -> float | None:
        """Seconds left of a stage of which this share is done."""
        if since is None or share < TELLING:
            return None
        return (time.perf_counter() - since) * (1.0 - share) / share

    def _say(self, stage: str, share: float | None, what: str, left: float | None) -> None:
        now = time.perf_counter()
        if stage != self.stage:
            self.close_stage()
            self.stage, self.started = stage, now
            # What is over at once need not be mentioned, nor every return to what goes on.
            if stage not in self.mentioned:
                self.spoken = now - (0.0 if self.terminal else SPEAK - PATIENCE)
            self.mentioned.add(stage)
        if self.quiet or now - self.spoken < (REDRAW if self.terminal else SPEAK):
            return
        self.spoken = now
        text = what if left is None else f"{what}, about {duration(left)} left"
        if self.terminal:
            self._draw(share, text)
        else:
            print(f"{stage}: {text}", file=self.stream, flush=True)

    def _draw(self, share: float | None, text: str) -> None:
        drawing = f"{{desc}} {'' if share is None else '[{bar:20}] '}{text}"
        if self.bar is None:
            # tqdm's own look at the screen gives -1 where a terminal does not know its size.
            columns, rows = shutil.get_terminal_size()
            settings = {"file": self.stream, "leave": False, "ascii": ".#", "ncols": columns, "nrows": rows}
            self.bar = _ProgressBar(
                desc=self.stage, total=1.0, initial=share or 0.0, bar_format=drawing, **settings
            )
        else:
            self.bar.n, self.bar.bar_format = share or 0.0, drawing
            self.bar.refresh()


@contextmanager
def training_progress(quiet: bool) -> Iterator[ProgressOutput]:
    """Trainings inside say how far they are, and a first Ctrl-C ends one at the end of its round."""
    progress = ProgressOutput(quiet)
    with training_callback(progress), ending_gently(progress):
        yield progress
    progress.close_stage()


@contextmanager
def ending_gently(progress: ProgressOutput) -> Iterator[None]:
    """The first Ctrl-C of a training takes effect at the end of its round; any other one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return

    def note(signum: int, frame: FrameType | None) -> None:
        if progress.stopping or progress.stage not in TRAINING:
            raise KeyboardInterrupt
        progress.stopping = True
        below = "" if progress.bar is None else "\n"
        _write(f"{below}stopping after this round (Ctrl-C again: at once)\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write(text: str) -> None:
    """To stderr past Python's buffers: a signal may come within a write, which must not be entered twice."""
    try:
        os.write(sys.stderr.fileno(), text.encode())
    except (OSError, ValueError):  # not a real file
        print(text, end="", file=sys.stderr, flush=True)


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
    known = (primal - dual) / abs(primal) if math.isfinite(primal - dual) and primal else None
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


@dataclass
class Spent:
    """All that was spent in stages of one name, this deep within others."""

    depth: int
    times: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak: int | None = None
    kept: dict[str, int] = field(default_factory=dict)


class Costs:
    """Stages in the order in which they were first begun, and what all of one name cost together.

    >>> costs = Costs()
    >>> costs.begin("features", 1)
    >>> costs.add(Cost("features", 2.0, 1.5, 3 * 2**20, {"pairs": 5000}))
    >>> print(costs.text())
    step      seconds  CPU s    peak  kept
    features     2.00   1.50  3.0 MB  5,000 pairs
    """

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}

    def begin(self, stage: str, depth: int) -> None:
        """A stage begins, the outermost at depth 1."""
        self.spent.setdefault(stage, Spent(depth))

    def add(self, cost: Cost) -> None:
        """A stage is over."""
        spent = self.spent.setdefault(cost.stage, Spent(1))
        spent.times += 1
        spent.seconds += cost.seconds
        spent.cpu_seconds += cost.cpu_seconds
        spent.peak = cost.peak
        for name, count in cost.kept.items():
            spent.kept[name] = spent.kept.get(name, 0) + count

    def text(self) -> str:
        """A table; a stage within another is further in, and part of what that cost."""
        rows = [
            [
                "  " * (one.depth - 1) + stage + (f" ({one.times:,} times)" if one.times > 1 else ""),
                one.seconds,
                one.cpu_seconds,
                "-" if one.peak is None else in_words(one.peak),
                ", ".join(f"{n:,} {name}" for name, n in one.kept.items()),
            ]
            for stage, one in self.spent.items()
        ]
        return format_table(["step", "seconds", "CPU s", "peak", "kept"], rows)

    def print(self) -> None:
        """To stderr: stdout may be what the command makes."""
        if self.spent:
            print(self.text(), file=sys.stderr)
