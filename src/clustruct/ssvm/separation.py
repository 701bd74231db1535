"""Asking the oracle: in fixed pieces, in parallel or not, with every answer checked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from clustruct._typing import Floats, Indices
from clustruct.slack_rule import SlackRule

from .constraints import ConstraintBatch
from .problem import BatchProblem, OneByOne


@dataclass(frozen=True)
class Answer:
    """What the oracle said of some examples at some w, and the slack that each answer needs there."""

    indices: Indices
    batch: ConstraintBatch
    violation: Floats


@dataclass(frozen=True)
class Softened:
    """What a smoothed oracle says of one example: see `clustruct.ssvm.smoothed`.

    ``violation`` is the largest slack any output needs at w, ``value`` its smoothed form, and
    ``difference`` and ``loss`` make the plane of the mean of outputs that attains the latter.
    """

    violation: float
    value: float
    difference: Floats
    loss: float


class Separator:
    """Calls the separation oracle and counts calls and seconds.

    The pieces into which examples are cut depend on their number alone, never on ``n_jobs``: a
    vectorised oracle rounds differently for other batch shapes, and answers must not.
    """

    def __init__(self, problem: BatchProblem, rule: SlackRule, n_jobs: int | None = None) -> None:
        self.problem, self.rule = problem, rule
        self.calls, self.seconds = 0, 0.0
        inner = getattr(problem, "problem", problem)
        self._pool = None
        if n_jobs not in (None, 1):
            prefer = getattr(inner, "parallel_backend", "processes")
            self._pool = Parallel(n_jobs=n_jobs, prefer=prefer)
        # A vectorised oracle is cut only when its pieces stay large.
        self._min_piece = 1 if isinstance(problem, OneByOne) else 1024

    def __enter__(self) -> Separator:
        if self._pool is not None:
            self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, error, trace)

    def __call__(self, indices: Indices, w: Any) -> list[Answer]:
        """The oracle's answers for the examples named, in pieces."""
        started = time.perf_counter()
        count = min(8, len(indices) // self._min_piece)
        pieces = np.array_split(indices, count) if count > 1 else [indices]
        if self._pool is None:
            batches = [self.problem.separate_batch(p, w, self.rule) for p in pieces]
        else:
            ask = delayed(self.problem.separate_batch)
            batches = self._pool(ask(p, w, self.rule) for p in pieces)
        self.calls += len(indices)
        answers = [self._checked(p, b, w) for p, b in zip(pieces, batches, strict=True)]
        self.seconds += time.perf_counter() - started
        return answers

    def soften(self, indices: Indices, w: Floats, mu: float) -> list[Softened]:
        """The smoothed oracle's answers, one per example."""
        started = time.perf_counter()
        problem: Any = getattr(self.problem, "problem", self.problem)
        if self._pool is None:
            answers = [problem.soften(int(i), w, mu) for i in indices]
        else:
            answers = self._pool(delayed(problem.soften)(int(i), w, mu) for i in indices)
        self.calls += len(indices)
        self.seconds += time.perf_counter() - started
        return list(answers)

    def _checked(self, indices: Indices, batch: ConstraintBatch, w: Any) -> Answer:
        losses = np.asarray(batch.losses, float)
        if losses.shape != indices.shape:
            raise ValueError(f"the oracle gave {losses.shape} losses for {len(indices)} examples")
        margins = batch.margins(w)
        # NaN and infinity in Psi survive the product with any w, zero included.
        if not (np.isfinite(losses + margins) & (losses >= 0)).all():
            _complain(indices, losses, margins)
        return Answer(indices, batch, self.rule.violation(losses, -margins))


def _complain(indices: Indices, losses: Floats, margins: Floats) -> None:
    for wrong, what in (
        (~np.isfinite(losses), "the loss is NaN or infinite"),
        (losses < 0, "the loss is negative"),
        (~np.isfinite(margins), "Psi has NaN or infinite entries"),
    ):
        if wrong.any():
            raise ValueError(f"example {indices[np.argmax(wrong)]}: {what}")
