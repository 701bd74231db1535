"""What a training tells on its way, and how it is stopped: one protocol from the engine to the command.

A callback goes to `clustruct.ssvm.fit` as a parameter, or to whatever trains inside
`with training_callback(callback):`, an estimator, a pipeline or a search over parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

__all__ = [
    "Callback",
    "Iteration",
    "SupportsDump",
    "Training",
    "choosing_C",
    "observed",
    "steps",
    "training_callback",
]


class SupportsDump(Protocol):
    """A working set that can give its planes."""

    def dump(self) -> Any: ...


@dataclass(frozen=True)
class Iteration:
    """One round of training. ``primal`` is the best known so far, infinite before the first is known.

    A callback is given ``working_set`` too, whose ``dump()`` are the planes held at that moment; the
    history does not hold on to it.
    """

    iteration: int
    primal: float
    dual: float
    oracle_calls: int
    constraints: int
    seconds: float
    oracle_seconds: float
    qp_seconds: float
    working_set: SupportsDump | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclass(frozen=True)
class Training:
    """The training under way: number ``done`` of ``total`` trainings of its stage."""

    C: float
    rtol: float
    stage: Literal["choosing C", "training"] = "training"
    done: int = 0
    total: int = 1


class Callback:
    """Told of every training and every round of it. Override what is wanted."""

    def on_step(self, stage: str, done: int, total: int) -> None:
        """A stage of work other than training goes on: ``done`` of its ``total`` pieces are made."""

    def on_begin(self, training: Training) -> None:
        """A training begins."""

    def on_iteration(self, training: Training, iteration: Iteration) -> object:
        """A round was made. Something true ends the training, and what was learned so far is kept.

        A string becomes the ``stop_reason`` of the result, which otherwise is "callback".
        """


T = TypeVar("T")
_CALLBACK: ContextVar[Callback | None] = ContextVar("callback", default=None)
_STAGE: ContextVar[tuple[int, int] | None] = ContextVar("stage", default=None)


@contextmanager
def training_callback(callback: Callback) -> Iterator[None]:
    """Every training inside tells the callback its rounds.

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


def steps(things: Sequence[T], stage: str) -> Iterator[T]:
    """The things one by one; a callback hears how many are done."""
    callback = _CALLBACK.get()
    for done, thing in enumerate(things):
        if callback is not None:
            callback.on_step(stage, done, len(things))
        yield thing


def observed(C: float, rtol: float) -> Callable[[Iteration], object] | None:
    """Tell that a training begins, and give the function for its rounds (None where nobody listens)."""
    callback, stage = _CALLBACK.get(), _STAGE.get()
    if callback is None:
        return None
    training = Training(C, rtol) if stage is None else Training(C, rtol, "choosing C", *stage)
    callback.on_begin(training)
    return lambda iteration: callback.on_iteration(training, iteration)
