"""Checkpoints of `ssvm.fit`, damaged or of another run: refused by name, or the right optimum is found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm.checkpoint import Checkpoint

from .commands import NO_MEMORY
from .mutations import Held, damaged, held
from .tally import FINE, Outcome, Part, fault, refused

RTOL = 1e-3
SETTINGS: dict[str, dict[str, Any]] = {
    "n_slack": {"formulation": "n_slack"},
    "one_slack": {"formulation": "one_slack"},
    "slack": {"scaling": "slack"},
    "squared": {"slack_norm": 2},
    "weights": {"sample_weight": 1.0 + np.arange(30) % 3},
    "nonnegative": {"constraints": "nonnegative"},
}
C = 10.0


def problem(shift: int = 0, noise: float = 0.0) -> MulticlassProblem:
    """30 examples of three classes; with a shift other labels, with noise other features."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = np.eye(3)[y] + rng.normal(size=(30, 3)) + noise * rng.normal(size=(30, 3))
    return MulticlassProblem(X, np.roll(y, shift))


# Runs to which the checkpoint of "n_slack" does not belong: what is passed instead.
OTHER_RUNS: dict[str, Callable[[Path], Any]] = {
    "other labels": lambda path: train(path, "n_slack", problem(shift=1)),
    "other features": lambda path: train(path, "n_slack", problem(noise=0.5)),
    "other weights": lambda path: train(path, "weights"),
    "other formulation": lambda path: train(path, "one_slack"),
    "other scaling": lambda path: train(path, "slack"),
    "other norm": lambda path: train(path, "squared"),
    "other constraints": lambda path: train(path, "nonnegative"),
    "other C": lambda path: train(path, "n_slack", C=100.0),
    "a prior": lambda path: train(path, "n_slack", prior=np.ones(9)),
}


def train(path: Path | None, name: str, given: Any = None, C: float = C, **more: Any) -> Any:
    """The training of this name, with a checkpoint where a path is given."""
    return ssvm.fit(given or problem(), C, rtol=RTOL, checkpoint=path, **(SETTINGS[name] | more))


def write_checkpoint(path: Path, name: str) -> None:
    """The checkpoint of a training that was stopped half-way."""

    class Stopped(Exception):
        pass

    def stop(iteration: Any) -> None:
        if path.exists() and iteration.iteration >= 3:
            raise Stopped

    with mock.patch.object(Checkpoint, "every", 0.0), contextlib.suppress(Stopped):
        train(path, name, callback=stop)
    if not path.exists():
        raise RuntimeError(f"no checkpoint of {name}")


@cache
def _checkpoint(folder: Path, name: str) -> Held:
    return held(folder / name)


@cache
def _optimum(name: str) -> float:
    return float(train(None, name).objective)


class Checkpoints(Part):
    name = "checkpoints"
    about = "checkpoints, damaged or of another run, taken up again (2,000)"

    def cases(self, scale: float, seed: int) -> list[str]:
        names = list(SETTINGS)
        fuzz = [f"{names[n % len(names)]}:{n}" for n in range(max(1, round(2_000 * scale)))]
        return [*OTHER_RUNS, "the same run", *fuzz]

    def prepare(self, folder: Path, seed: int) -> None:
        for name in SETTINGS:
            write_checkpoint(folder / name, name)

    def start(self, folder: Path, seed: int) -> None:
        for name in SETTINGS:
            _optimum(name)

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        path = folder / f"damaged-{case.replace(':', '-')}"
        try:
            if case == "the same run":
                path.write_bytes((folder / "n_slack").read_bytes())
                return _resumed(path, "n_slack", "bytes")
            if case in OTHER_RUNS:
                path.write_bytes((folder / "n_slack").read_bytes())
                return _taken_up(OTHER_RUNS[case], path)
            name, number = case.split(":")
            rng = np.random.default_rng([seed, int(number)])
            data, how = damaged(_checkpoint(folder, name), [_checkpoint(folder, n) for n in SETTINGS], rng)
            path.write_bytes(data)
            return _resumed(path, name, how)
        finally:
            path.unlink(missing_ok=True)


def _refusal(error: ValueError, path: Path) -> Outcome:
    if any(mark in str(error) for mark in NO_MEMORY):
        return fault("memory", error)
    return refused(error) if path.name in str(error) else fault("unnamed", error)


def _taken_up(run: Callable[[Path], Any], path: Path) -> Outcome:
    try:
        run(path)
    except ValueError as error:
        return _refusal(error, path)
    return fault("silent", "the checkpoint of another run was taken up")


def _resumed(path: Path, name: str, how: str) -> Outcome:
    try:
        result = train(path, name)
    except ValueError as error:
        return _refusal(error, path)
    optimum = _optimum(name)
    if not np.isfinite(result.w).all() or not np.isfinite(result.objective):
        return fault("silent", f"objective {result.objective}, {result.stop_reason}")
    if result.objective < result.dual - 1e-6 * abs(result.dual):
        return fault("silent", f"objective {result.objective} below the bound {result.dual}")
    if result.stop_reason != "converged" or abs(result.objective - optimum) <= 3 * RTOL * optimum:
        return FINE
    detail = f"objective {result.objective}, the optimum is {optimum}"
    return fault("silent", detail) if how == "bytes" else Outcome("forged", detail=detail)
