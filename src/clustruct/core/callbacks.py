"""How a training is followed and stopped, and other long work: one protocol from the engine to the command.

A callback goes to `clustruct.ssvm.fit` as a parameter, or to whatever trains inside
`with training_callback(callback):`, an estimator, a pipeline or a search over parameters.

Work other than training says how far it is by `steps` or `working`, which cost nothing where nobody listens.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

__all__ = ["Callback", "Cost", "Iteration", "PrintProgress", "Training", "training_callback"]


class SupportsDump(Protocol):
    """A working set that can give its planes."""

    def dump(self) -> Any:
        """What is held at this moment, in a form that can be stored."""


@dataclass(frozen=True)
class Iteration:
    """One round of training: its number from 1 on, bounds, counts and times, all of them up to now.

    ``primal`` is infinite before the first value is known. ``seconds`` include those of the oracle and of the
    quadratic programme. ``working_set.dump()`` gives the planes held at that moment; None in the history.
    """

    iteration: int
    primal: float
    dual: float
    oracle_calls: int
    constraints: int
    seconds: float
    oracle_seconds: float = 0.0
    qp_seconds: float = 0.0
    working_set: SupportsDump | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """``primal - dual``."""
        return self.primal - self.dual


@dataclass(frozen=True)
class Training:
    """The training under way: number ``done`` of ``total`` in its stage; C is None where it has none."""

    C: float | None
    rtol: float
    stage: Literal["choosing C", "training"] = "training"
    done: int = 0
    total: int = 1


@dataclass(frozen=True)
class Cost:
    """What a stage of work took, in seconds, and counts of what it left, by name.

    ``peak`` is the most bytes that the process has held up to its end; None where that is not known.
    """

    stage: str
    seconds: float
    cpu_seconds: float
    peak: int | None
    kept: Mapping[str, int] = field(default_factory=dict)


class Callback:
    """Called for every training and every round of it. Override what is wanted."""

    def on_open(self, stage: str, total: int | None) -> None:
        """A stage of work other than training begins. Stages may be parts of others."""

    def on_step(self, stage: str, done: int, total: int | None) -> None:
        """A stage goes on: ``done`` of its ``total`` pieces are made (None: not known)."""

    def on_close(self, cost: Cost) -> None:
        """A stage is over, or was left by an error."""

    def on_compile(self, seconds: float | None) -> None:
        """Kernels are compiled, which a machine does once: None as it begins, then how long it took."""

    def on_begin(self, training: Training) -> None:
        """A training begins."""

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        """A round was made. Something true ends the training, and what was learned so far is kept.

        A string becomes the ``stop_reason`` of the result, which otherwise is "callback".
        """


T = TypeVar("T")
Listener: TypeAlias = Callable[[Iteration], object]


class PrintProgress(Callback):
    """Prints rounds 1, 2, 5, 10, 20, 50, ... of a training; with ``verbose`` above 1 every round.

    Examples
    --------
    >>> printing = PrintProgress()
    >>> training = Training(C=10.0, rtol=0.01)
    >>> printing.on_begin(training)
    training with C = 10
    >>> printing.on_iteration(training, Iteration(1, 8.0, 6.0, 40, 12, 0.25, 0.1, 0.1))
    round 1: objective 8, gap 25 %, 40 oracle calls, 12 constraints, 0.25 s
    """

    def __init__(self, verbose: int = 1) -> None:
        self.verbose = verbose

    def on_begin(self, training: Training) -> None:
        print(training.stage + ("" if training.C is None else f" with C = {training.C:g}"))  # noqa: T201

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        first = str(iteration.iteration)
        if self.verbose > 1 or (first[0] in "125" and not first[1:].strip("0")):
            print(f"round {iteration.iteration}: {_in_words(iteration)}")  # noqa: T201
        return None


def _in_words(iteration: Iteration) -> str:
    share = iteration.gap / abs(iteration.primal) if iteration.primal else 0.0
    gap = f"gap {100.0 * share:.3g} %, " if math.isfinite(share) else ""
    return (
        f"objective {iteration.primal:.6g}, {gap}{iteration.oracle_calls} oracle calls, "
        f"{iteration.constraints} constraints, {iteration.seconds:.3g} s"
    )


def listener(callback: Callback | Listener, training: Training) -> Listener:
    """A callback as a function of the rounds of one training, which begins now."""
    if not isinstance(callback, Callback):
        return callback
    callback.on_begin(training)
    return partial(callback.on_iteration, training)


# The message to people who wait for compiled code.
COMPILING = "compiling for this machine, once (half a minute or so)"

_CALLBACK: ContextVar[Callback | None] = ContextVar("callback", default=None)
_STAGE: ContextVar[tuple[int, int] | None] = ContextVar("stage", default=None)


def reason_to_stop(callback: Listener | None, iteration: Iteration) -> str:
    """Call the callback with a round: its reason to stop, empty where it has none."""
    stop = callback(iteration) if callback is not None else None
    return stop if isinstance(stop, str) else "callback" if stop else ""


@contextmanager
def training_callback(callback: Callback) -> Iterator[None]:
    """The callback is called for every training inside.

    Examples
    --------
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> class Rounds(Callback):
    ...     count = 0
    ...     def on_iteration(self, training, iteration):
    ...         self.count += 1
    ...         return self.count == 2      # true: enough
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]])
    >>> with training_callback(Rounds()):
    ...     SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]]).result_.stop_reason
    'callback'
    """
    token = _CALLBACK.set(callback)
    try:
        yield
    finally:
        _CALLBACK.reset(token)


@contextmanager
def choosing_C(done: int, total: int) -> Iterator[None]:
    """The trainings inside are number ``done`` of ``total``, made to choose C."""
    token = _STAGE.set((done, total))
    try:
        yield
    finally:
        _STAGE.reset(token)


class Work:
    """A stage of work under way: how far it is and what it keeps. See `working`."""

    def __init__(self, stage: str, total: int | None, callback: Callback | None) -> None:
        self.stage, self.total, self.done = stage, total, 0
        self.kept: dict[str, int] = {}
        self._callback = callback

    def advance(self, pieces: int = 1) -> None:
        """So many more pieces are made."""
        self.done += pieces
        if self._callback is not None:
            self._callback.on_step(self.stage, self.done, self.total)

    def keep(self, **counts: int) -> None:
        """What is left of the work: ``pairs=12_000``, say. Counts of one name add up."""
        for name, count in counts.items():
            self.kept[name] = self.kept.get(name, 0) + int(count)


@contextmanager
def working(stage: str, total: int | None = None) -> Iterator[Work]:
    """A stage of work: a callback is called with its progress, and at its end with what it cost and kept.

    >>> class Costs(Callback):
    ...     def on_close(self, cost):
    ...         print(cost.stage, cost.kept)
    >>> with training_callback(Costs()), working("blocking", total=3) as work:
    ...     for _ in range(3):
    ...         work.advance()
    ...     work.keep(pairs=100)
    blocking {'pairs': 100}
    """
    callback = _CALLBACK.get()
    work = Work(stage, total, callback)
    if callback is None:
        yield work
        return
    callback.on_open(stage, total)
    seconds, cpu = time.perf_counter(), time.process_time()
    try:
        yield work
    finally:
        spent = time.perf_counter() - seconds, time.process_time() - cpu
        callback.on_close(Cost(stage, *spent, peak_memory(), work.kept))


@contextmanager
def compiling() -> Iterator[None]:
    """Kernels are compiled inside, and a callback hears of it."""
    callback = _CALLBACK.get()
    if callback is None:
        yield
        return
    callback.on_compile(None)
    started = time.perf_counter()
    try:
        yield
    finally:
        callback.on_compile(time.perf_counter() - started)


def peak_memory() -> int | None:
    """The most bytes that this process has held so far; None where it is not known."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def steps(things: Sequence[T], stage: str) -> Iterator[T]:
    """The things one by one; a callback is called with how many are done."""
    callback = _CALLBACK.get()
    with working(stage, len(things)):
        for done, thing in enumerate(things):
            if callback is not None:
                callback.on_step(stage, done, len(things))
            yield thing


def training_listener(C: float | None, rtol: float, verbose: int = 0) -> Listener | None:
    """What a training that begins now calls with its rounds: the callback of the surrounding
    `training_callback`, and `PrintProgress` where it is verbose (None for neither).
    """
    stage = _STAGE.get()
    training = Training(C, rtol) if stage is None else Training(C, rtol, "choosing C", *stage)
    callbacks = (_CALLBACK.get(), PrintProgress(verbose) if verbose else None)
    listeners = [listener(callback, training) for callback in callbacks if callback is not None]
    if len(listeners) < 2:
        return listeners[0] if listeners else None
    return lambda iteration: next(filter(None, [call(iteration) for call in listeners]), None)
