"""Losses by name: one word for options, the command line and model files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from clustruct import storage

from .base import Loss
from .function import FunctionLoss

__all__ = ["as_loss", "names", "register"]

C = TypeVar("C", bound=type)
_LOSSES: dict[str, Callable[[], Loss]] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: the loss with its default parameters is called by this name, and files may hold it."""

    def enter(cls: C) -> C:
        _LOSSES[name] = cls
        return storage.register(name)(cls)

    return enter


def names() -> tuple[str, ...]:
    """The names of all losses.

    >>> {"mitre", "normalised", "pairwise", "purity"} <= set(names())
    True
    """
    return tuple(sorted(_LOSSES))


def as_loss(loss: str | Loss | Callable[[Any, Any], float]) -> Loss:
    """A Loss from a name, a function of two labelings, or a Loss.

    >>> as_loss("mitre")
    MitreLoss()
    """
    if isinstance(loss, str):
        if loss not in _LOSSES:
            known = ", ".join(names())
            raise ValueError(f"unknown loss {loss!r}; expected one of {known}, a function or a Loss")
        return _LOSSES[loss]()
    if isinstance(loss, type):
        raise ValueError(f"pass an instance of {loss.__name__}, not the class")
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return FunctionLoss(loss)
    raise ValueError(f"not a loss: {loss!r}")
