"""Losses by name: `register` a class, and ``loss="its name"`` and model files know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clustruct.storage import register as register_stored

from .base import Loss

__all__ = ["loss_names", "named_loss", "register"]

C = TypeVar("C", bound=type)
_LOSSES: dict[str, type] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: a loss that has a name everywhere, with its default parameters.

    The class has ``state()`` and ``from_state()``; a dataclass gets them from `storage.DataclassState`.
    """

    def enter(cls: C) -> C:
        found = register_stored(f"loss {name}")(cls)
        _LOSSES[name] = found
        return found

    return enter


def loss_names() -> list[str]:
    """The names registered, sorted."""
    return sorted(_LOSSES)


def named_loss(name: str) -> Loss:
    """The loss of that name, with its default parameters."""
    if name not in _LOSSES:
        raise ValueError(f"unknown loss {name!r}; expected one of {loss_names()}, a function or a Loss")
    loss: Loss = _LOSSES[name]()
    return loss
