"""Where separation oracles run: here, by joblib, or wherever an executor of your own takes them.

An executor is given the problem once (`Executor.open`). Then, round by round, it is told which examples to
answer for at which w, and gives the constraints back: an executor that spreads the examples over machines
sends them once and from then on only w. Examples come in pieces whose bounds do not depend on the executor,
and answers are taken in the order of the pieces: the result of a training is the same with every executor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from joblib import Parallel, delayed

from clustruct._typing import Floats, Indices
from clustruct.slack_rule import SlackRule

__all__ = ["Backend", "Executor", "JoblibExecutor", "SerialExecutor", "Session", "ThreadSafe"]

Backend = Literal["threads", "processes"]


@runtime_checkable
class ThreadSafe(Protocol):
    """A problem that says how its oracle is best run in parallel: "threads" where it is safe in threads and
    releases the interpreter lock. Others are run in processes.
    """

    @property
    def parallel_backend(self) -> Backend: ...


def backend_of(problem: object) -> Backend:
    """Threads where the problem asks for them."""
    return problem.parallel_backend if isinstance(problem, ThreadSafe) else "processes"


class Separates(Protocol):
    """What an executor calls of a problem (`clustruct.ssvm.BatchProblem`).

    It may have ``separate_smoothed(i, w, mu)`` as well (`clustruct.ssvm.SupportsSmoothing`).
    """

    def separate_batch(self, indices: Indices, w: Any, rule: SlackRule) -> Any: ...


class Session(Protocol):
    """A problem at the place where its oracle runs, for one training."""

    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        """``problem.separate_batch(piece, w, rule)`` of every piece, in their order."""

    def separate_smoothed(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        """``problem.separate_smoothed(i, w, mu)`` of every example, in their order."""

    def close(self) -> None:
        """The training has ended."""


class Executor(Protocol):
    """Opens sessions: see `SerialExecutor` for the shortest one.

    >>> from clustruct import ssvm
    >>> from clustruct.problems import MulticlassProblem
    >>> problem = MulticlassProblem([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> ssvm.fit(problem, C=10.0, executor=SerialExecutor()).converged
    True
    """

    def open(self, problem: Separates) -> Session:
        """Take the problem to where its oracle runs."""


class SerialExecutor:
    """One piece after another, in this process."""

    def open(self, problem: Separates) -> Session:
        return _Serial(problem)


class JoblibExecutor:
    """Pieces in parallel by joblib: threads for a `ThreadSafe` problem, else processes."""

    def __init__(self, n_jobs: int | None = -1) -> None:
        self.n_jobs = n_jobs

    def open(self, problem: Separates) -> Session:
        return _Pooled(problem, Parallel(n_jobs=self.n_jobs, prefer=backend_of(problem)))


def executor_for(n_jobs: int | None) -> Executor:
    """What ``n_jobs`` stands for."""
    return SerialExecutor() if n_jobs in (None, 1) else JoblibExecutor(n_jobs)


class _Serial:
    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        return [self._problem.separate_batch(piece, w, rule) for piece in pieces]

    def separate_smoothed(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        return [self._problem.separate_smoothed(int(i), w, mu) for i in indices]

    def close(self) -> None:
        pass


class _Pooled:
    """The workers are started once and stay until the session is closed."""

    def __init__(self, problem: Any, pool: Parallel) -> None:
        self._problem, self._pool = problem, pool
        pool.__enter__()

    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        ask = delayed(self._problem.separate_batch)
        return list(self._pool(ask(piece, w, rule) for piece in pieces))

    def separate_smoothed(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        ask = delayed(self._problem.separate_smoothed)
        return list(self._pool(ask(int(i), w, mu) for i in indices))

    def close(self) -> None:
        self._pool.__exit__(None, None, None)
