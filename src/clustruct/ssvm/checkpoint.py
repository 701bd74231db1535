"""Training state in a file, from which a training that was cut short goes on."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.callbacks import Iteration
from clustruct.exceptions import ModelFileError
from clustruct.storage import DataclassState, read, register, save

from .planes import Planes, PlaneSet
from .solvers.base import Progress


@register("checkpoint")
@dataclass(frozen=True)
class Saved(DataclassState):
    """What a checkpoint holds. ``identity`` says which problem it belongs to."""

    identity: dict[str, Any]
    planes: Planes
    history: tuple[Iteration, ...]
    seconds: float
    oracle_calls: int

    def __post_init__(self) -> None:
        times = [self.seconds, *(entry.seconds for entry in self.history)]
        if not all(0.0 <= seconds < np.inf for seconds in times) or self.oracle_calls < 0:
            raise ValueError("its times and counts cannot be")


class Checkpoint:
    """Training state in one file, replaced as a whole every few seconds: a reader sees the old or the new."""

    every = 5.0

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], planes: PlaneSet[Any]) -> None:
        self.path, self.identity, self.planes = Path(path), identity, planes
        self._last = time.perf_counter()

    def connect(self, progress: Progress) -> bool:
        """Write after the rounds from now on. Whether there was a file: what it holds is taken up."""
        progress.save = partial(self._save, progress)
        if not self.path.exists():
            return False
        saved = self._read()
        self.planes.load(saved.planes)
        progress.history.extend(saved.history)
        progress.earlier_seconds, progress.oracle_calls = saved.seconds, saved.oracle_calls
        return True

    def _save(self, progress: Progress) -> None:
        if time.perf_counter() - self._last >= self.every or progress.stop_reason:
            history, planes = tuple(progress.history), self.planes.dump()
            counts = (progress.seconds, progress.oracle_calls)
            save(self.path, Saved(self.identity, planes, history, *counts))
            self._last = time.perf_counter()

    def _read(self) -> Saved:
        try:
            saved = read(self.path, Saved).object
        except ModelFileError as error:
            raise ModelFileError(f"{self.path} is not a readable checkpoint: {error}") from None
        for name, value in self.identity.items():
            if saved.identity.get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another run: its {name} is {saved.identity.get(name)!s:.100}, "
                    f"here it is {value}"
                )
        if not saved.planes.fits(self.identity["n_features"], self.planes.n_groups):
            raise ModelFileError(f"{self.path} is not a readable checkpoint: its planes are of another size")
        return saved
