"""How a problem is asked: checked, brought into batch form, and answered wherever its oracle runs.

An executor is given the problem once (`Executor.open`). Then, round by round, it is given examples and
the w to answer for, and returns the constraints: an executor that spreads the examples over machines
sends them once and from then on only w. Examples come in pieces whose bounds do not depend on the executor,
and answers are taken in the order of the pieces: the result of a training is the same with every executor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import repeat, starmap
from typing import Any, Generic, NamedTuple, TypeAlias, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule

from .problem import BatchProblem, ConstraintBatch, Problem, SmoothedResult, W
from .result import OracleKind

# A round over the examples is cut into so many pieces at most.
MOST_PIECES = 8


def check_problem(problem: object, rule: SlackRule, linear: bool = True) -> None:
    """Refuse what is no problem, and rules that its oracle cannot do, before any work.

    ``n_features`` is asked of linear problems only.
    """
    name = type(problem).__name__
    if not isinstance(problem, Problem):
        raise TypeError(
            f"{name} is no structured problem: derive it from clustruct.ssvm.Problem, and write n_examples, "
            "n_features, oracle_kind, truth, joint_feature, loss and separate"
        )
    needed = ("n_examples", "n_features", "oracle_kind") if linear else ("n_examples", "oracle_kind")
    lacks = next((attribute for attribute in needed if not hasattr(problem, attribute)), None)
    if lacks is not None:
        raise TypeError(f"{name} lacks the attribute {lacks!r} of a structured problem")
    for attribute in needed[:-1]:
        if getattr(problem, attribute) < 1:
            raise ValueError(f"the problem has no {attribute.removeprefix('n_')}")
    if problem.oracle_kind not in get_args(OracleKind):
        raise ValueError(f"oracle_kind must be one of {get_args(OracleKind)}, not {problem.oracle_kind!r}")
    if not problem.supports(rule):
        raise ValueError(
            f"{name} has no oracle for {rule.scaling} scaling, slack norm {rule.norm}; where its search goes "
            "by the rule, let supports(rule) say so"
        )


@dataclass(frozen=True)
class PieceRows:
    """Vectors made of any stretches of one array: vector j has ``count[j]`` pieces, listed one after
    another, each ``factor`` times ``data[start : start + length]`` laid down from entry ``offset`` on.

    Where ``indices`` is not empty the data is sparse, and ``indices`` holds entries relative to the offset.
    ``data`` must be the same object in every batch of a problem: it is not copied. The psi difference of a
    multiclass example is two pieces, one row of X laid down twice.
    """

    data: Floats
    indices: NDArray[np.int32]
    count: NDArray[np.intp]
    start: NDArray[np.intp]
    length: NDArray[np.intp]
    offset: NDArray[np.intp]
    factor: Floats
    n_features: int

    def __len__(self) -> int:
        return len(self.count)

    def scale(self, factors: Floats) -> PieceRows:
        """The same vectors, each times its factor."""
        return replace(self, factor=self.factor * np.repeat(factors, self.count))

    def tocsr(self) -> sparse.csr_array:
        """The vectors as rows of a sparse matrix."""
        plane = np.repeat(np.arange(len(self)), self.count)
        entry = np.arange(self.length.sum()) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        at = np.repeat(self.start, self.length) + entry
        columns = np.repeat(self.offset, self.length) + (self.indices[at] if len(self.indices) else entry)
        values = np.repeat(self.factor, self.length) * self.data[at]
        places = (np.repeat(plane, self.length), columns)
        return sparse.csr_array(sparse.coo_array((values, places), shape=(len(self), self.n_features)))


Rows: TypeAlias = Floats | sparse.csr_array | PieceRows


@dataclass(frozen=True)
class Constraints(ConstraintBatch[Floats]):
    """Psi differences held row by row, dense or CSR."""

    losses: Floats
    differences: Any

    def margins(self, w: Floats) -> Floats:
        """<w, difference> of each row."""
        return np.asarray(self.differences @ w)

    def combine(self, coefficients: Floats) -> Floats:
        """The sum of the rows, each times its coefficient."""
        return np.asarray(coefficients @ self.differences)

    def rows(self, which: Indices) -> Any:
        """Some of the rows."""
        return self.differences[which]


class OneByOne(BatchProblem):
    """The batch form of a problem that is asked example by example. Checks every truth before any work."""

    def __init__(self, problem: Problem) -> None:
        self.one_by_one, self.n_examples, self.n_features = problem, problem.n_examples, problem.n_features
        self.oracle_kind, self.parallel_backend = problem.oracle_kind, problem.parallel_backend
        self._truths = [self._checked_truth(i) for i in range(problem.n_examples)]

    def _checked_truth(self, i: int) -> Any:
        y = self.one_by_one.truth(i)
        loss = float(self.one_by_one.loss(i, y))
        if loss != 0.0:
            raise ValueError(f"example {i}: the loss of the truth against itself must be 0, not {loss}")
        return stack_vectors([self.one_by_one.joint_feature(i, y)], self.n_features, [i])

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> Constraints:
        return self._stack(indices, *separate_each(self.one_by_one, indices, w, rule))

    def separate_batch_thoroughly(self, indices: Indices, w: Floats, rule: SlackRule) -> Constraints:
        """By the thorough search of a problem with a quick one."""
        return self._stack(indices, *separate_each(self.one_by_one, indices, w, rule, thorough=True))

    def _stack(self, indices: Indices, losses: Floats, psi: list[Any]) -> Constraints:
        found = stack_vectors(psi, self.n_features, indices)
        truth = stack_vectors([self._truths[i] for i in indices], self.n_features, indices)
        return Constraints(losses, truth - found)

    def separate_smoothly(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        return self.one_by_one.separate_smoothly(i, w, mu)


def separate_each(
    problem: Problem, indices: Indices, w: Any, rule: SlackRule, thorough: bool = False
) -> tuple[Floats, list[Any]]:
    """Losses and joint features of the oracle's outputs."""
    ask = problem.separate_thoroughly if thorough else problem.separate
    examples = indices.tolist()
    answers = list(map(ask, examples, repeat(w), repeat(rule)))
    losses = np.array(list(map(problem.loss, examples, answers)), float)
    return losses, list(map(problem.joint_feature, examples, answers))


def batch_form(problem: Problem) -> BatchProblem:
    """The problem itself where it answers for many examples at once, else its adapter."""
    return problem if isinstance(problem, BatchProblem) else OneByOne(problem)


def stack_vectors(vectors: Iterable[Any], n_features: int, examples: Iterable[int]) -> Any:
    """Rows from joint feature vectors: dense where all are dense, CSR where one is sparse."""
    rows = []
    for i, v in zip(examples, vectors, strict=True):
        row = (sparse.csr_array(v) if sparse.issparse(v) else np.asarray(v, float)).reshape(1, -1)
        if row.shape[1] != n_features:
            raise ValueError(f"example {i}: Psi has length {row.shape[1]}, the problem says {n_features}")
        if not np.isfinite(row.data if sparse.issparse(row) else row).all():
            raise ValueError(f"example {i}: Psi has NaN or infinite entries")
        rows.append(row)
    if any(sparse.issparse(r) for r in rows):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(r) for r in rows], format="csr"))
    return np.concatenate(rows)


def scale_rows(rows: Any, factors: Floats) -> Any:
    """Each row times its factor: dense, CSR, `PieceRows` or a list of vector sums."""
    if hasattr(rows, "scale"):
        return rows.scale(factors)
    if isinstance(rows, list):
        return [row * float(factor) for row, factor in zip(rows, factors, strict=True)]
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(factors) @ rows)
    return rows * factors[:, None]


class Session(ABC):
    """A problem at the place where its oracle runs, for one training.

    A session may keep the answers of one-slack training where its oracle runs (`KeptAnswers`), for a problem
    that is asked example by example: of each round sums come back, a vector for each piece.
    """

    keeps_answers: bool = False

    @abstractmethod
    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        """``problem.separate_batch(piece, w, rule)`` of every piece, in their order."""

    def separate_thoroughly(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        """``problem.separate_batch_thoroughly(piece, w, rule)`` of every piece, in their order."""
        raise self._lacks("separate_thoroughly")

    def separate_smoothly(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        """``problem.separate_smoothly(i, w, mu)`` of every example, in their order."""
        raise self._lacks("separate_smoothly")

    def keep_answers(
        self, pieces: Sequence[Indices], weights: Floats, rule: SlackRule, size: int, C: float
    ) -> None:
        """From now on questions are for these pieces, with the answers of the last ``size`` rounds kept."""
        raise self._lacks("keep_answers")

    def ask_and_join(self, w: Any, *, thorough: bool) -> list[PieceCut]:
        """Ask the oracle for all pieces at w; what each then adds to the joint constraint at w."""
        raise self._lacks("ask_and_join")

    def join(self, w: Any) -> list[PieceCut]:
        """What each piece adds to the joint constraint at w, by the answers that are kept."""
        raise self._lacks("join")

    def close(self) -> None:
        """The training has ended."""
        return

    def _lacks(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}, a session of an executor, lacks {name}")


class Executor(ABC):
    """Opens sessions: see `SerialExecutor` for the shortest one.

    Examples
    --------
    >>> from clustruct import ssvm
    >>> from clustruct.learning.problems import MulticlassProblem
    >>> problem = MulticlassProblem([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> ssvm.fit(problem, C=10.0, executor=SerialExecutor()).converged
    True
    """

    @abstractmethod
    def open(self, problem: BatchProblem) -> Session:
        """Take the problem to where its oracle runs."""


class SerialExecutor(Executor):
    """One piece after another, in this process."""

    def open(self, problem: BatchProblem) -> Session:
        """Begin to ask the oracle of a problem."""
        return _Calls(problem)


class JoblibExecutor(Executor):
    """Pieces in parallel by joblib: in threads where the problem asks for them, else in processes."""

    def __init__(self, n_jobs: int | None = -1) -> None:
        self.n_jobs = n_jobs

    def open(self, problem: BatchProblem) -> Session:
        """Begin to ask the oracle of a problem."""
        return _Calls(problem, Parallel(n_jobs=self.n_jobs, prefer=problem.parallel_backend))


_EXECUTOR: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def executing(executor: Executor) -> Iterator[None]:
    """Trainings inside, of estimators too, ask their oracles by this executor, whatever ``n_jobs`` says.

    Parameters
    ----------
    executor : Executor
        What runs the oracles.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]])
    >>> with executing(SerialExecutor()):
    ...     SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]]).result_.stop_reason
    'converged'
    """
    token = _EXECUTOR.set(executor)
    try:
        yield
    finally:
        _EXECUTOR.reset(token)


def executor_for(n_jobs: int | None) -> Executor:
    """What ``n_jobs`` stands for, where `executing` does not say."""
    given = _EXECUTOR.get()
    if given is not None:
        return given
    return SerialExecutor() if n_jobs in (None, 1) else JoblibExecutor(n_jobs)


class _Calls(Session):
    """Without a pool one call after another. Workers of a pool are started once and stay until the end."""

    def __init__(self, problem: BatchProblem, pool: Parallel | None = None) -> None:
        self._problem, self._pool = problem, pool
        if pool is not None:
            pool.__enter__()

    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        return self._all(self._problem.separate_batch, [(piece, w, rule) for piece in pieces])

    def separate_thoroughly(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        return self._all(self._problem.separate_batch_thoroughly, [(piece, w, rule) for piece in pieces])

    def separate_smoothly(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        return self._all(self._problem.separate_smoothly, [(int(i), w, mu) for i in indices])

    def _all(self, ask: Callable[..., Any], questions: list[tuple[Any, ...]]) -> list[Any]:
        if self._pool is None:
            return list(starmap(ask, questions))
        return list(self._pool(delayed(call_with_blas_limit)(ask, *question) for question in questions))

    def close(self) -> None:
        if self._pool is not None:
            self._pool.__exit__(None, None, None)


# Where C times the square of an entry of Psi passes this, sums of such squares mean nothing any more.
LARGEST = 1e40


@dataclass(frozen=True)
class Separation(Generic[W]):
    """What the oracle found for some examples at some w, and the slack that each output needs there."""

    indices: Indices
    batch: ConstraintBatch[W]
    violation: Floats


def check_answers(indices: Indices, batch: ConstraintBatch[W], w: W, rule: SlackRule) -> Separation[W]:
    """The answer for these examples; ValueError that names the example where it cannot be one."""
    losses = np.asarray(batch.losses, float)
    if losses.shape != indices.shape:
        raise ValueError(f"the oracle gave {losses.shape} losses for {len(indices)} examples")
    margins = batch.margins(w)
    # NaN and infinity in Psi survive the product with any w, zero included.
    for wrong, what in (
        (~np.isfinite(losses), "the loss is NaN or infinite"),
        (losses < 0, "the loss is negative"),
        (~np.isfinite(margins), "Psi has NaN or infinite entries"),
    ):
        if wrong.any():
            raise ValueError(f"example {indices[np.argmax(wrong)]}: {what}")
    return Separation(indices, batch, rule.violation(losses, -margins))


def check_size(batch: ConstraintBatch[Any], C: float, rule: SlackRule) -> None:
    """Refuse constraint vectors whose inner products no digits are left for."""
    with np.errstate(over="ignore", invalid="ignore"):
        psi = np.asarray(batch.combine(rule.multiplier(np.asarray(batch.losses, float))))
        size = float(np.abs(psi).max(initial=0.0)) / len(batch.losses)
    if not C * size * size < LARGEST:
        raise ValueError(
            f"the features are too large for C = {C:g}: entries of Psi of about {size:.1g} "
            "leave no digits to compute with; scale the features, or lower C"
        )


class PieceCut(NamedTuple):
    """What one piece of the examples adds to a joint constraint: its vector (None for zero), its b, and the
    slack that its examples need, all weighted.
    """

    vector: Any
    b: float
    risk: float


class KeptAnswers(Generic[W]):
    """The last answers for every example, piece by piece.

    The best of fresh, kept and true answers makes the cut: an approximate oracle may find less than it found
    before, and so its cuts never get looser. The truth needs no place: its psi difference and loss are 0.
    Pieces are summed up each for itself, so that they can be kept, and summed, at different places.
    """

    def __init__(self, weights: Floats, rule: SlackRule, size: int) -> None:
        self._weights, self._rule = weights, rule
        self.rounds: deque[Sequence[Separation[W]]] = deque(maxlen=max(1, size))

    def joint(self, w: W) -> list[PieceCut]:
        """What each piece adds to the joint constraint at w."""
        return [self._of_piece([one[k] for one in self.rounds], w) for k in range(len(self.rounds[-1]))]

    def _of_piece(self, answers: Sequence[Separation[W]], w: W) -> PieceCut:
        rule, weights = self._rule, self._weights[answers[-1].indices]
        values = [rule.violation(a.batch.losses, -a.batch.margins(w)) for a in answers]
        best = np.maximum(np.max(values, axis=0), 0.0)
        owner = np.where(best > 0.0, np.argmax(values, axis=0), -1)
        vector, b = None, 0.0
        for k, answer in enumerate(answers):
            mine = owner == k
            if mine.any():
                losses, share = answer.batch.losses, weights * mine
                part = answer.batch.combine(share * rule.multiplier(losses))
                vector = part if vector is None else vector + part
                b += float(share @ rule.size(losses))
        return PieceCut(vector, b, float(weights @ best))
