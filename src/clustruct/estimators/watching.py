"""Progress of a training, told to whoever watches: no parameter of any estimator, nothing kept afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from clustruct.ssvm import Iteration

__all__ = ["Step", "watching"]


@dataclass(frozen=True)
class Step:
    """Where a training stands.

    stage :     "choosing C" (``done`` of ``total`` trainings are over) or "training"
    C, rtol :   of the training under way
    iteration : the round just made, None before the first
    """

    stage: Literal["choosing C", "training"]
    C: float
    rtol: float
    iteration: Iteration | None = None
    done: int = 0
    total: int = 1


Listener = Callable[[Step], object]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_STAGE: ContextVar[tuple[int, int] | None] = ContextVar("stage", default=None)


@contextmanager
def watching(listener: Listener) -> Iterator[None]:
    """Every `fit` inside tells the listener its steps.

    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]])
    >>> steps = []
    >>> with watching(steps.append):
    ...     _ = SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]])
    >>> steps[0].stage, steps[0].iteration
    ('training', None)
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def choosing(done: int, total: int) -> Iterator[None]:
    """The trainings inside are number ``done`` of ``total``, made to choose C."""
    token = _STAGE.set((done, total))
    try:
        yield
    finally:
        _STAGE.reset(token)


def rounds(C: float, rtol: float) -> Callable[[Iteration], object] | None:
    """Tell that a training begins, and give the callback for its rounds (None where nobody watches)."""
    listener, stage = _LISTENER.get(), _STAGE.get()
    if listener is None:
        return None
    done, total = stage or (0, 1)

    def tell(iteration: Iteration | None) -> None:
        what: Literal["choosing C", "training"] = "training" if stage is None else "choosing C"
        listener(Step(what, C, rtol, iteration, done, total))

    tell(None)
    return tell
