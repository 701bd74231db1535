"""Training state in a file, from which a training that was cut short goes on, and which training it is of."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from clustruct.core.callbacks import Iteration
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import DataclassState, check_target, digest, read, register, save

from .planes import PlaneSet
from .problem import BatchProblem
from .result import Planes
from .separation import Session
from .solvers.base import Progress, Solver, Task


@register("Identity")
@dataclass(frozen=True)
class Identity(DataclassState):
    """Settings as they are, and of what is too large to be shown a digest, by name."""

    settings: dict[str, Any]
    digests: dict[str, str]

    def differences(self, here: Identity) -> str:
        """What is not the same here, in words; empty where all is."""
        parts = [
            f"its {name} is {_describe(self.settings, name)}, here it is {_describe(here.settings, name)}"
            for name in _unequal(self.settings, here.settings)
        ]
        others = _unequal(self.digests, here.digests)
        return "; ".join(parts + ([f"not the same {', '.join(others)}"] if others else []))


def _unequal(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    both = dict.fromkeys([*other, *one])
    return [n for n in both if n not in one or n not in other or not _same(one[n], other[n])]


def _same(one: object, other: object) -> bool:
    """Of another kind: not the same, whatever its own comparison says."""
    return type(one) is type(other) and bool(one == other)


def _describe(settings: Mapping[str, Any], name: str) -> str:
    return f"{settings[name]!s:.60}" if name in settings else "not known"


def identity_of(task: Task, solver: Solver, session: Session) -> Identity:
    """What a checkpoint of this training says of it.

    How long it may run, in how many processes, and what it is started from are left out: a run may be
    taken up with more time.
    """
    settings = {
        "n_examples": len(task.weights),
        "n_features": len(task.conditions.prior),
        "C": task.C,
        "epsilon": task.epsilon,
        "rtol": task.rtol,
        "formulation": solver.name,
        "solver": repr(solver) if is_dataclass(solver) else solver.name,
        "scaling": task.rule.scaling,
        "slack_norm": task.rule.norm,
        "cache_size": task.cache_size,
    }
    held = task.conditions
    digests = {
        "sample_weight": digest(task.weights),
        "constraints": digest(held.low, held.high, held.A, held.lower),
        "prior": digest(held.prior),
        "random_state": digest(task.rng.bit_generator.state),
    }
    return Identity(settings, dict(_of_problem(task, session)) | digests)


def _of_problem(task: Task, session: Session) -> Mapping[str, str]:
    """What the problem says of itself, or else its truths and what its oracle answers at the start."""
    problem = task.problem
    if (own := problem.identity()) is not None:
        return own
    found = {}
    if not isinstance(problem, BatchProblem):
        truths = [problem.joint_feature(i, problem.truth(i)) for i in range(problem.n_examples)]
        found["truths"] = digest(*(_plain(psi) for psi in truths))
    (batch,) = session.separate([task.examples], task.conditions.clip(task.conditions.prior), task.rule)
    rows = batch.rows(np.arange(len(task.examples)))
    rows = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)
    found["first answers"] = digest(np.asarray(batch.losses, float), rows)
    return found


def _plain(psi: Any) -> Any:
    """A joint feature vector as digests take it."""
    return psi if hasattr(psi, "tocsr") else np.asarray(psi, float)


T = TypeVar("T")


@register("checkpoint")
@dataclass(frozen=True)
class Saved(DataclassState):
    """What a checkpoint holds. ``identity`` says which training it belongs to."""

    identity: Identity
    planes: Planes
    history: tuple[Iteration, ...]
    seconds: float
    oracle_calls: int

    def __post_init__(self) -> None:
        times = [self.seconds, *(entry.seconds for entry in self.history)]
        if not all(0.0 <= seconds < np.inf for seconds in times) or self.oracle_calls < 0:
            raise ValueError("its times and counts cannot be")


class Keeper(ABC):
    """Where the state of a training is kept: a file, or a part of one that holds more."""

    @property
    @abstractmethod
    def path(self) -> Path:
        """The file, to be named in errors."""

    @abstractmethod
    def read(self) -> Saved | None:
        """What is kept; None where there is nothing."""

    @abstractmethod
    def write(self, saved: Saved) -> None:
        """Keep a state of a training that is not finished, in the place of the last."""

    @abstractmethod
    def finish(self, saved: Saved) -> None:
        """The training has converged, with this state."""


CheckpointLike: TypeAlias = str | os.PathLike[str] | Keeper


class FileKeeper(Keeper):
    """One file, replaced as a whole: a reader sees the old or the new. It goes when the training ends."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        check_target(self.path)

    @property
    def path(self) -> Path:
        return self._path

    def read(self) -> Saved | None:
        return read_checkpoint(self.path, Saved)

    def write(self, saved: Saved) -> None:
        save(self.path, saved)

    def finish(self, saved: Saved) -> None:
        self.path.unlink(missing_ok=True)


def read_checkpoint(path: Path, kind: type[T]) -> T | None:
    """The checkpoint of that file, None where there is none; `ModelFileError` where it is something else."""
    if not path.exists():
        return None
    try:
        return read(path, kind).object
    except ModelFileError as error:
        raise ModelFileError(f"{path} is not a readable checkpoint: {error}") from None


class Checkpoint:
    """Keeps the state of one training every few seconds, and at its end where it did not converge."""

    every = 5.0

    def __init__(self, keeper: CheckpointLike, identity: Identity, planes: PlaneSet[Any]) -> None:
        self.keeper: Keeper = FileKeeper(keeper) if isinstance(keeper, str | os.PathLike) else keeper
        self.identity, self.planes = identity, planes
        self._last = time.perf_counter()

    def connect(self, progress: Progress) -> bool:
        """Write after the rounds from now on. Whether there was a state: what it holds is taken up."""
        saved = self.keeper.read()
        if saved is not None:
            self._take_up(saved)
            progress.history.extend(saved.history)
            progress.earlier_seconds, progress.oracle_calls = saved.seconds, saved.oracle_calls
        progress.save = partial(self._save_now_and_then, progress)
        return saved is not None

    def close(self, progress: Progress) -> None:
        """The training has ended."""
        keep = self.keeper.finish if progress.stop_reason == "converged" else self.keeper.write
        keep(self._state(progress))

    def _save_now_and_then(self, progress: Progress) -> None:
        if time.perf_counter() - self._last >= self.every:
            self.keeper.write(self._state(progress))
            self._last = time.perf_counter()

    def _state(self, progress: Progress) -> Saved:
        history, planes = tuple(progress.history), self.planes.dump()
        return Saved(self.identity, planes, history, progress.seconds, progress.oracle_calls)

    def _take_up(self, saved: Saved) -> None:
        """Load the planes; refuse what belongs to another run, or cannot be used."""
        path = self.keeper.path
        if differences := saved.identity.differences(self.identity):
            raise ValueError(f"{path} belongs to another run: {differences}")
        if not saved.planes.fits(self.identity.settings["n_features"], self.planes.n_groups):
            raise ModelFileError(f"{path} is not a readable checkpoint: its planes are of another size")
        try:
            self._load(saved.planes)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            raise ModelFileError(f"{path} is not a readable checkpoint: {error}") from None
        if not np.isfinite(self.planes.dual):
            raise ModelFileError(f"{path} is not a readable checkpoint: its planes have no optimum")

    def _load(self, planes: Planes) -> None:
        # Where the squares of a vector are not finite, its products are not either.
        vectors = planes.vectors.data if sparse.issparse(planes.vectors) else planes.vectors
        with np.errstate(over="raise"):
            np.square(vectors).sum()
        self.planes.load(planes)
