"""The checkpoint of a whole fit: what its finished trainings found, and the state of the one under way."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.ssvm import Identity, Planes
from clustruct.ssvm.checkpoint import Saved, read_checkpoint
from clustruct.storage import DataclassState, digest, register, save
from clustruct.storage.files import check_target


@register("fit checkpoint")
@dataclass(frozen=True)
class SavedFit(DataclassState):
    """What the file of a fit holds.

    A training is named by its C and a digest of the numbers of its sets. ``losses`` are the held-out losses
    of those that are finished, ``training`` the state of the last one, which is called ``name``.
    """

    identity: Identity
    losses: dict[str, Floats]
    name: str
    training: Saved | None


class FitCheckpoint:
    """One file for all trainings of a fit, which choose C and then learn from all sets.

    It is written when the losses of a training are known, and every few seconds of a training. ``identity``
    covers the data and settings of the fit as a whole.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Identity) -> None:
        self.path, self.identity = Path(path), identity
        check_target(self.path)
        held = read_checkpoint(self.path, SavedFit)
        if held is not None and (differences := held.identity.differences(identity)):
            raise ValueError(f"{self.path} belongs to another run: {differences}")
        self._held = SavedFit(identity, {}, "", None) if held is None else held

    def losses(self, C: float, chosen: Indices, n: int) -> Floats | None:
        """The losses of n held-out sets after a training that is finished, else None."""
        found = self._held.losses.get(_name(C, chosen))
        return found if isinstance(found, np.ndarray) and found.shape == (n,) else None

    def put(self, C: float, chosen: Indices, losses: Floats) -> None:
        """A training is finished, and these are its losses."""
        self._held.losses[_name(C, chosen)] = np.asarray(losses, float)
        save(self.path, self._held)

    def planes_of(self, chosen: Indices) -> Planes | None:
        """The planes of the last training, where it was one of these sets."""
        last, mine = self._held, _sets(_name(0.0, chosen))
        return last.training.planes if last.training is not None and _sets(last.name) == mine else None

    def keeper(self, C: float, chosen: Indices) -> TrainingKeeper:
        """Where the engine keeps the state of one training."""
        return TrainingKeeper(self, _name(C, chosen))

    def read_training(self, name: str) -> Saved | None:
        """The state of the training of that name, where it is the last."""
        return self._held.training if self._held.name == name else None

    def hold_training(self, name: str, saved: Saved, *, write: bool) -> None:
        """Note the state of a training, and write it."""
        self._held = SavedFit(self.identity, self._held.losses, name, saved)
        if write:
            save(self.path, self._held)

    def remove(self) -> None:
        """The fit is finished."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class TrainingKeeper:
    """A `clustruct.ssvm.checkpoint.Keeper` in the file of a fit. A finished state waits for its losses."""

    fit: FitCheckpoint
    name: str

    @property
    def path(self) -> Path:
        return self.fit.path

    def read(self) -> Saved | None:
        return self.fit.read_training(self.name)

    def write(self, saved: Saved) -> None:
        self.fit.hold_training(self.name, saved, write=True)

    def finish(self, saved: Saved) -> None:
        self.fit.hold_training(self.name, saved, write=False)


def _name(C: float, chosen: Indices) -> str:
    return f"{float(C)!r} on {digest(np.asarray(chosen, np.int64))}"


def _sets(name: str) -> str:
    return name.partition(" on ")[2]
