"""Training state on disk: written atomically, taken up again after a crash."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clustruct._typing import Floats
from clustruct.callbacks import Iteration
from clustruct.exceptions import ModelFileError
from clustruct.storage import DataclassState, read, register, save

from .planes import Planes


@register("checkpoint")
@dataclass(frozen=True)
class Saved(DataclassState):
    """What a checkpoint holds. ``identity`` says which problem it belongs to."""

    identity: dict[str, Any]
    planes: Planes
    w: Floats
    primal: float
    mean_slack: float
    history: tuple[Iteration, ...]
    seconds: float
    oracle_calls: int


class Checkpoint:
    """One file, replaced as a whole every few seconds."""

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], every: float = 5.0) -> None:
        self.path, self.identity, self.every = Path(path), identity, every
        self._last = time.perf_counter()

    def due(self) -> bool:
        return time.perf_counter() - self._last >= self.every

    def write(self, saved: Saved) -> None:
        """A reader sees the old state or the new one."""
        save(self.path, saved)
        self._last = time.perf_counter()

    def read(self) -> Saved | None:
        """The state saved, or None where there is no file yet."""
        if not self.path.exists():
            return None
        try:
            saved = read(self.path, Saved).object
        except ModelFileError as error:
            raise ModelFileError(f"{self.path} is not a readable checkpoint: {error}") from None
        for name, value in self.identity.items():
            if saved.identity.get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another run: its {name} is {saved.identity.get(name)}, "
                    f"here it is {value}"
                )
        return saved
