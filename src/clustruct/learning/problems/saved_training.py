"""What is saved of a training: for one that starts from it, and to go on with one that was cut short."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clustruct.core.exceptions import OtherRun
from clustruct.core.storage import DataclassState, Shape, check_target, digest, fits, register, save
from clustruct.core.typing import Floats, Indices, Ints
from clustruct.data import ItemSet
from clustruct.ssvm import Identity, PastTraining, Planes
from clustruct.ssvm.checkpoint import Keeper, Saved, read_checkpoint

from .fold_losses import FoldLoss, FoldResult

if TYPE_CHECKING:
    from .training import Trained

# Planes of more numbers than these are not saved: a training that goes on starts without.
MOST_NUMBERS = 2_000_000


def past_of(trained: Trained, sets: Sequence[ItemSet], labels: Sequence[Ints]) -> PastTraining:
    """What is saved of a training on labelled sets."""
    planes, groups = trained.scaled.planes, getattr(trained.scaled.working_set, "n_groups", 0)
    if (
        planes is None
        or not isinstance(planes.vectors, np.ndarray)
        or groups != len(sets)
        or planes.vectors.size > MOST_NUMBERS
    ):
        return PastTraining(float(trained.C), len(sets), None, [])
    return PastTraining(float(trained.C), len(sets), planes, example_digests(sets, labels))


def example_digests(sets: Sequence[ItemSet], labels: Sequence[Ints]) -> list[str]:
    """By which a later training knows the examples of an earlier one."""
    return [digest(x.digest, np.asarray(y, np.int64)) for x, y in zip(sets, labels, strict=True)]


@register("fit checkpoint")
@dataclass(frozen=True)
class SavedFit(DataclassState):
    """What the file of a fit holds.

    A training is named by its C and a digest of the numbers of its sets. ``judged`` has a row for each set
    held out of one that is finished, ``weights`` what it learned; ``training`` is the state of
    the last one, which is called ``name``.
    """

    identity: Identity
    judged: dict[str, Floats]
    weights: dict[str, Floats]
    name: str
    training: Saved | None


class FitCheckpoint:
    """One file for all trainings of a fit, which choose C and then learn from all sets.

    It is written when it is known what a training makes of held-out sets, and every few seconds of a
    training. ``identity`` covers the data and settings of the fit as a whole.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Identity) -> None:
        self.path, self.identity = Path(path), identity
        check_target(self.path)
        held = read_checkpoint(self.path, SavedFit)
        if held is not None and (differences := held.identity.differences(identity)):
            raise OtherRun(f"{self.path} belongs to another run: {differences}")
        self._held = SavedFit(identity, {}, {}, "", None) if held is None else held

    def get(self, C: float, chosen: Indices, n: int) -> FoldResult | None:
        """What a training that is finished learned and made of n held-out sets, else None."""
        name = _name(C, chosen)
        found, w = self._held.judged.get(name), self._held.weights.get(name)
        # Not known, or damaged: it is made again.
        if found is None or w is None or not fits(found, Shape((n, 4))) or w.ndim != 1:
            return None
        rows = found.tolist()
        return [FoldLoss(loss, (both, found, true)) for loss, both, found, true in rows], w

    def put(self, C: float, chosen: Indices, fold: FoldResult) -> None:
        """A training is finished, and this is what it learned and made of the held-out sets."""
        losses, w = fold
        rows = np.array([[judged.loss, *judged.pairs] for judged in losses], float)
        self._held.judged[_name(C, chosen)] = rows.reshape(-1, 4)
        self._held.weights[_name(C, chosen)] = w
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
        self._held = replace(self._held, name=name, training=saved)
        if write:
            save(self.path, self._held)

    def remove(self) -> None:
        """The fit is finished."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class TrainingKeeper(Keeper):
    """In the file of a fit. A finished state waits for `put`."""

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
