"""What a structured problem must tell the engine: four functions, or one batch function."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clustruct.slack_rule import SlackRule

from .constraints import ConstraintBatch, Constraints, stack_vectors

OracleKind = Literal["exact", "undergenerating", "overgenerating", "heuristic"]
ORACLE_KINDS: tuple[OracleKind, ...] = ("exact", "undergenerating", "overgenerating", "heuristic")


@runtime_checkable
class StructuredProblem(Protocol):
    """A structured learning task, one example at a time.

    Write these and the engine does the rest. ``oracle_kind`` says what `separate` searches: all
    outputs ("exact"), some of them ("undergenerating": greedy, local search) or more than there are
    ("overgenerating": relaxations). It decides what the fit can certify. "heuristic" is a search in a
    larger set that does not look for the largest violation: it certifies nothing.

    Optional: ``supports(rule) -> bool`` where `separate` can only do some slack rules;
    ``parallel_backend = "threads"`` where the oracle releases the interpreter lock; ``oracle_rho``
    and ``truth_score(i, w)`` where the oracle's value is at least rho times the best.
    """

    n_examples: int
    n_features: int
    oracle_kind: OracleKind

    def truth(self, i: int) -> Any:
        """The right output of example i."""
        ...

    def joint_feature(self, i: int, y: Any) -> Any:
        """Psi(x_i, y): a vector of length ``n_features``, dense or a sparse row."""
        ...

    def loss(self, i: int, y: Any) -> float:
        """Delta(y_i, y): not negative, and 0 for the truth."""
        ...

    def separate(self, i: int, w: NDArray[np.float64], rule: SlackRule) -> Any:
        """An output of largest ``rule.violation(loss, gain)``, gain the score above the truth's."""
        ...


@runtime_checkable
class BatchProblem(Protocol):
    """A structured learning task that answers for many examples at once, without a Python loop."""

    n_examples: int
    n_features: int
    oracle_kind: OracleKind

    def separate_batch(self, indices: NDArray[np.intp], w: Any, rule: SlackRule) -> ConstraintBatch:
        """The most violated outputs of the examples named, as a batch of constraints."""
        ...


class OneByOne:
    """Gives a `StructuredProblem` the batch form. Checks every truth before any work."""

    def __init__(self, problem: StructuredProblem) -> None:
        self.problem = problem
        self.n_examples = problem.n_examples
        self.n_features = problem.n_features
        self.oracle_kind = problem.oracle_kind
        self._truths = [self._checked_truth(i) for i in range(self.n_examples)]

    def _checked_truth(self, i: int) -> Any:
        y = self.problem.truth(i)
        loss = float(self.problem.loss(i, y))
        if loss != 0.0:
            raise ValueError(f"example {i}: the loss of the truth against itself must be 0, not {loss}")
        return stack_vectors([self.problem.joint_feature(i, y)], self.n_features, [i])

    def separate_batch(
        self, indices: NDArray[np.intp], w: NDArray[np.float64], rule: SlackRule
    ) -> Constraints:
        outputs = [self.problem.separate(int(i), w, rule) for i in indices]
        losses = np.array(
            [self.problem.loss(int(i), y) for i, y in zip(indices, outputs, strict=True)], float
        )
        psi = [self.problem.joint_feature(int(i), y) for i, y in zip(indices, outputs, strict=True)]
        found = stack_vectors(psi, self.n_features, indices)
        truth = stack_vectors([self._truths[i] for i in indices], self.n_features, indices)
        return Constraints(losses, truth - found, outputs)


def as_batch_problem(problem: Any) -> BatchProblem:
    """The batch form of a problem, after the checks that need no oracle."""
    for name in ("n_examples", "n_features", "oracle_kind"):
        if not hasattr(problem, name):
            raise TypeError(f"{type(problem).__name__} lacks the attribute {name!r} of a structured problem")
    if problem.n_examples < 1:
        raise ValueError("the problem has no examples")
    if problem.n_features < 1:
        raise ValueError("the problem has no features")
    if problem.oracle_kind not in ORACLE_KINDS:
        raise ValueError(f"oracle_kind must be one of {ORACLE_KINDS}, not {problem.oracle_kind!r}")
    if isinstance(problem, BatchProblem):
        return problem
    missing = [f for f in ("truth", "joint_feature", "loss", "separate") if not hasattr(problem, f)]
    if missing:
        raise TypeError(
            f"{type(problem).__name__} lacks {', '.join(missing)}: "
            "write these, or separate_batch for a vectorised problem"
        )
    return OneByOne(problem)
