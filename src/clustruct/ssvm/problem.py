"""What a structured problem must give the engine: four functions, or one batch function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct._typing import Floats, Indices
from clustruct.executors import Backend, Separates, backend_of
from clustruct.slack_rule import SlackRule

OracleKind = Literal["exact", "undergenerating", "overgenerating", "heuristic"]
ORACLE_KINDS: tuple[OracleKind, ...] = ("exact", "undergenerating", "overgenerating", "heuristic")
# What the oracle is called with: a weight vector, or with a kernel a `KernelModel`.
W = TypeVar("W")
W_contra = TypeVar("W_contra", contravariant=True)


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

    def scaled(self, factors: Floats) -> PieceRows:
        return replace(self, factor=self.factor * np.repeat(factors, self.count))

    def tocsr(self) -> sparse.csr_array:
        plane = np.repeat(np.arange(len(self)), self.count)
        entry = np.arange(self.length.sum()) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        at = np.repeat(self.start, self.length) + entry
        columns = np.repeat(self.offset, self.length) + (self.indices[at] if len(self.indices) else entry)
        values = np.repeat(self.factor, self.length) * self.data[at]
        places = (np.repeat(plane, self.length), columns)
        return sparse.csr_array(sparse.coo_array((values, places), shape=(len(self), self.n_features)))


Rows: TypeAlias = Floats | sparse.csr_array | PieceRows


class ConstraintBatch(Protocol[W_contra]):
    """One constraint for each of some examples. `Constraints` serves where nothing cheaper is known."""

    @property
    def losses(self) -> Floats:
        """Delta of each output."""

    def margins(self, w: W_contra) -> Floats:
        """<w, Psi(x, y_true) - Psi(x, y)> of each."""

    def combine(self, coefficients: Floats) -> Any:
        """The sum of coefficients times psi differences, dense, length n_features."""

    def rows(self, which: Indices) -> Any:
        """The psi differences of some of them: dense 2-D, CSR or `PieceRows`."""


@runtime_checkable
class StructuredProblem(Protocol):
    """A structured learning task, one example at a time.

    Write these and the engine does the rest. ``oracle_kind`` says what `separate` searches: all
    outputs ("exact"), some of them ("undergenerating": greedy, local search) or more than there are
    ("overgenerating": relaxations). It decides what the fit can certify. "heuristic" is a search in a
    larger set that does not look for the largest violation: it certifies nothing.

    A problem may have further abilities, each a protocol of its own: `SupportsRules`, `SupportsSmoothing`,
    `KnownQuality`, `ThreadSafe`, `PrefersFormulation`.
    """

    n_examples: int
    n_features: int
    oracle_kind: OracleKind

    def truth(self, i: int) -> Any:
        """The right output of example i."""

    def joint_feature(self, i: int, y: Any) -> Any:
        """Psi(x_i, y): a vector of length ``n_features``, dense or a sparse row."""

    def loss(self, i: int, y: Any) -> float:
        """Delta(y_i, y): not negative, and 0 for the truth."""

    def separate(self, i: int, w: Any, rule: SlackRule) -> Any:
        """An output of largest ``rule.violation(loss, gain)``, gain the score above the truth's."""


@runtime_checkable
class BatchProblem(Protocol):
    """A structured learning task that answers for many examples at once, without a Python loop."""

    n_examples: int
    n_features: int
    oracle_kind: OracleKind

    def separate_batch(self, indices: Indices, w: Any, rule: SlackRule) -> ConstraintBatch[Any]:
        """The most violated outputs of the examples named, as a batch of constraints."""


Problem: TypeAlias = StructuredProblem | BatchProblem


@runtime_checkable
class SupportsRules(Protocol):
    """A problem whose oracle can do some slack rules only."""

    def supports(self, rule: SlackRule) -> bool:
        """Whether the oracle searches by this rule."""


@dataclass(frozen=True)
class SmoothedResult:
    """What a smoothed oracle says of one example: see `clustruct.ssvm.solvers.smoothed`.

    ``violation`` is the largest slack any output needs at w, ``value`` its smoothed form, and
    ``difference`` and ``loss`` make the plane of the mean of outputs that attains the latter.
    """

    violation: float
    value: float
    difference: Floats
    loss: float


@runtime_checkable
class SupportsSmoothing(Protocol):
    """A problem whose largest violation can be smoothed: formulation="smoothed" needs it."""

    def separate_smoothed(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        """The largest violation of example i with a strictly concave term of weight mu added."""


@runtime_checkable
class KnownQuality(Protocol):
    """A problem whose oracle finds at least ``oracle_rho`` times the best value: Theorem 9 then bounds v*."""

    oracle_rho: float

    def truth_score(self, i: int, w: Floats) -> float:
        """<w, Psi(x_i, y_i)>."""


@runtime_checkable
class PrefersFormulation(Protocol):
    """A problem that names the formulation which formulation="auto" stands for."""

    @property
    def preferred_formulation(self) -> str: ...


@dataclass(frozen=True)
class Constraints:
    """Psi differences held row by row, dense or CSR."""

    losses: Floats
    differences: Any
    outputs: Sequence[object] = field(default=(), repr=False)

    def margins(self, w: Floats) -> Floats:
        return np.asarray(self.differences @ w)

    def combine(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients @ self.differences)

    def rows(self, which: Indices) -> Any:
        return self.differences[which]


class OneByOne:
    """Gives a `StructuredProblem` the batch form. Checks every truth before any work."""

    def __init__(self, problem: StructuredProblem) -> None:
        self.one_by_one, self.n_features = problem, problem.n_features
        self.parallel_backend: Backend = backend_of(problem)
        self._truths = [self._checked_truth(i) for i in range(problem.n_examples)]

    def _checked_truth(self, i: int) -> Any:
        y = self.one_by_one.truth(i)
        loss = float(self.one_by_one.loss(i, y))
        if loss != 0.0:
            raise ValueError(f"example {i}: the loss of the truth against itself must be 0, not {loss}")
        return stack_vectors([self.one_by_one.joint_feature(i, y)], self.n_features, [i])

    def separate_batch(self, indices: Indices, w: Floats, rule: SlackRule) -> Constraints:
        outputs, losses, psi = separate_each(self.one_by_one, indices, w, rule)
        found = stack_vectors(psi, self.n_features, indices)
        truth = stack_vectors([self._truths[i] for i in indices], self.n_features, indices)
        return Constraints(losses, truth - found, outputs)

    def separate_smoothed(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        assert isinstance(self.one_by_one, SupportsSmoothing)
        return self.one_by_one.separate_smoothed(i, w, mu)


def separate_each(
    problem: StructuredProblem, indices: Indices, w: Any, rule: SlackRule
) -> tuple[list[Any], Floats, list[Any]]:
    """The oracle's outputs, with their losses and joint features."""
    numbers = indices.tolist()
    outputs = [problem.separate(i, w, rule) for i in numbers]
    losses = np.array([problem.loss(i, y) for i, y in zip(numbers, outputs, strict=True)], float)
    return outputs, losses, [problem.joint_feature(i, y) for i, y in zip(numbers, outputs, strict=True)]


def check_problem(problem: object, rule: SlackRule, linear: bool = True) -> None:
    """Refuse what is no problem, and rules that its oracle cannot do, before any work.

    ``n_features`` is asked of linear problems only.
    """
    name = type(problem).__name__
    needed = ("n_examples", "n_features", "oracle_kind") if linear else ("n_examples", "oracle_kind")
    lacks = next((attribute for attribute in needed if not hasattr(problem, attribute)), None)
    if lacks is not None:
        raise TypeError(f"{name} lacks the attribute {lacks!r} of a structured problem")
    for attribute in needed[:-1]:
        if getattr(problem, attribute) < 1:
            raise ValueError(f"the problem has no {attribute.removeprefix('n_')}")
    kind = getattr(problem, "oracle_kind")  # noqa: B009
    if kind not in ORACLE_KINDS:
        raise ValueError(f"oracle_kind must be one of {ORACLE_KINDS}, not {kind!r}")
    if isinstance(problem, SupportsRules) and not problem.supports(rule):
        raise ValueError(f"{name} has no oracle for {rule.scaling} scaling, slack norm {rule.norm}")
    missing = [f for f in ("truth", "joint_feature", "loss", "separate") if not hasattr(problem, f)]
    if missing and not (linear and hasattr(problem, "separate_batch")):
        raise TypeError(
            f"{name} lacks {', '.join(missing)}: write these, or separate_batch for a vectorised problem"
        )


def batch_form(problem: Problem) -> Separates:
    """The problem itself where it answers for many examples at once, else its adapter."""
    return problem if isinstance(problem, BatchProblem) else OneByOne(problem)


def stack_vectors(vectors: Iterable[Any], n_features: int, examples: Iterable[int]) -> Any:
    """Rows from joint feature vectors: dense where all are dense, CSR where one is sparse."""
    rows = []
    for i, v in zip(examples, vectors, strict=True):
        row = (
            sparse.csr_array(v).reshape(1, -1) if sparse.issparse(v) else np.asarray(v, float).reshape(1, -1)
        )
        if row.shape[1] != n_features:
            raise ValueError(f"example {i}: Psi has length {row.shape[1]}, the problem says {n_features}")
        values = row.data if sparse.issparse(row) else row
        if not np.isfinite(values).all():
            raise ValueError(f"example {i}: Psi has NaN or infinite entries")
        rows.append(row)
    if any(sparse.issparse(r) for r in rows):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(r) for r in rows], format="csr"))
    return np.concatenate(rows)


def scale_rows(rows: Any, factors: Floats) -> Any:
    """Each row times its factor: dense, CSR, `PieceRows` or a list of vector sums."""
    if hasattr(rows, "scaled"):
        return rows.scaled(factors)
    if isinstance(rows, list):
        return [row * float(factor) for row, factor in zip(rows, factors, strict=True)]
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(factors) @ rows)
    return rows * factors[:, None]
