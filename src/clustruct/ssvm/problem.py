"""What a structured problem gives the engine: six names that must be written, and what may be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule

from .result import OracleKind

Backend = Literal["threads", "processes"]
# What the oracle is called with: a weight vector, or with a kernel a `KernelModel`.
W = TypeVar("W")


class ConstraintBatch(ABC, Generic[W]):
    """One constraint for each of some examples. `Constraints` serves where nothing cheaper is known.

    ``losses`` is Delta of each output.
    """

    losses: Floats

    @abstractmethod
    def margins(self, w: W) -> Floats:
        """<w, Psi(x, y_true) - Psi(x, y)> of each."""

    @abstractmethod
    def combine(self, coefficients: Floats) -> Any:
        """The sum of coefficients times psi differences, dense, length n_features."""

    @abstractmethod
    def rows(self, which: Indices) -> Any:
        """The psi differences of some of them: dense 2-D, CSR or `PieceRows`."""


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


class Problem(ABC):
    """A structured learning task, one example at a time.

    Write ``n_examples``, ``n_features``, ``oracle_kind`` and the four functions that come first. All the
    others have a default, and are written where a problem can do more.

    ``oracle_kind`` says what `separate` searches: all outputs ("exact"), some of them ("undergenerating":
    greedy, local search) or more than there are ("overgenerating": relaxations). It decides what the fit can
    certify. "heuristic" is a search in a larger set that does not look for the largest violation: it
    certifies nothing.

    Attributes
    ----------
    n_examples : int
        How many examples there are, numbered from 0 on.
    n_features : int
        The length of Psi and of w; not asked for with a kernel.
    oracle_kind : OracleKind
        What `separate` searches.
    parallel_backend : {"processes", "threads"}
        How oracle calls may run at the same time: "threads" where `separate` is safe in threads and releases
        the interpreter lock.
    oracle_rho : float or None
        The oracle finds at least this share of the best value: Theorem 9 then bounds the optimum.

    Examples
    --------
    >>> class Sign(Problem):
    ...     n_examples, n_features, oracle_kind = 2, 1, "exact"
    ...     def truth(self, i): return (-1.0, 1.0)[i]
    ...     def joint_feature(self, i, y): return [y * self.truth(i)]
    ...     def loss(self, i, y): return float(y != self.truth(i))
    ...     def separate(self, i, w, rule):
    ...         return max((-1.0, 1.0), key=lambda y: self.loss(i, y) + w[0] * y * self.truth(i))
    >>> from clustruct import ssvm
    >>> ssvm.fit(Sign(), C=10.0).w.round(3).tolist()
    [0.5]
    """

    n_examples: int
    n_features: int
    oracle_kind: OracleKind
    parallel_backend: Backend = "processes"
    oracle_rho: float | None = None

    @abstractmethod
    def truth(self, i: int) -> Any:
        """The right output of example i."""

    @abstractmethod
    def joint_feature(self, i: int, y: Any) -> Any:
        """Psi(x_i, y): a vector of length ``n_features``, dense or a sparse row."""

    @abstractmethod
    def loss(self, i: int, y: Any) -> float:
        """Delta(y_i, y): not negative, and 0 for the truth."""

    @abstractmethod
    def separate(self, i: int, w: Any, rule: SlackRule) -> Any:
        """An output of largest ``rule.violation(loss, gain)``, gain the score above the truth's."""

    def supports(self, rule: SlackRule) -> bool:
        """Whether the oracle searches by this rule; by default margin scaling with linear slacks alone."""
        return rule == SlackRule()

    def kind_for(self, rule: SlackRule) -> OracleKind:
        """What the oracle searches by this rule, where that is not the same for all."""
        return self.oracle_kind

    def is_quick(self, rule: SlackRule) -> bool:
        """Whether `separate` is quick by this rule and may miss much, with `separate_thoroughly` beside it.

        The thorough one is asked every tenth round, and wherever the quick one finds next to nothing beyond
        the planes held; no training ends as converged, and no objective is reported, on the word of the quick
        one.
        """
        return False

    def separate_thoroughly(self, i: int, w: Any, rule: SlackRule) -> Any:
        """As `separate`, with all the care that the problem can take."""
        return self.separate(i, w, rule)

    @property
    def preferred_formulation(self) -> str:
        """The name of the solver that formulation="auto" stands for."""
        return "n_slack"

    @property
    def can_smooth(self) -> bool:
        """Whether `separate_smoothly` is written, which formulation="smoothed" needs."""
        return False

    def separate_smoothly(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        """The largest violation of example i with a strictly concave term of weight mu added."""
        raise NotImplementedError(f"{type(self).__name__} has no smoothed oracle (separate_smoothly)")

    def violation_bound(self, i: int, w: Floats, rule: SlackRule) -> float | None:
        """What no output of example i needs more slack than: the upper end of the certificate of an oracle
        that undergenerates then holds. None: that is not known.
        """
        return None

    def truth_scores(self, indices: Indices, w: Floats) -> Floats | None:
        """<w, Psi(x_i, y_i)> of these examples, which Theorems 9 and 10 ask for; None where they are not
        needed, which is so by default without an ``oracle_rho``.
        """
        if self.oracle_rho is None:
            return None
        return np.array([self.joint_feature(i, self.truth(i)) @ w for i in indices.tolist()], float)

    def identity(self) -> Mapping[str, str] | None:
        """Digests of the problem's parts (`clustruct.core.storage.encoding`) by the names that an error is to
        use:
        "features", "labels", "loss", ..., so that a checkpoint of another problem is refused by name.

        None: the joint features of all truths and the oracle's answers at the first w are looked at, which
        costs one call for each example, and which an oracle that answers by chance does not survive.
        """
        return None

    def part(self, examples: Indices) -> Problem | None:
        """The problem of these examples alone, numbered from 0 on in this order, for an executor that keeps
        each part at another place. None: the problem is sent as a whole.
        """
        return None

    def memory(self) -> Any:
        """What an oracle that starts from what it found before has found last for every example; it is not
        changed by later searches. None: there is nothing to remember.
        """
        return None

    def remember(self, memory: Any) -> None:
        """From now on that is what was found last, which `memory` gave: an executor whose machine was lost
        comes to the same answers again.
        """
        return


class BatchProblem(Problem):
    """A structured learning task that answers for many examples at once, without a Python loop.

    `separate_batch` is all that it must write; the functions of single examples are needed with a kernel
    only.
    """

    @abstractmethod
    def separate_batch(self, indices: Indices, w: Any, rule: SlackRule) -> ConstraintBatch[Any]:
        """The most violated outputs of the examples named, as a batch of constraints."""

    def separate_batch_thoroughly(self, indices: Indices, w: Any, rule: SlackRule) -> ConstraintBatch[Any]:
        """As `separate_batch`, with all the care that the problem can take."""
        return self.separate_batch(indices, w, rule)

    def truth(self, i: int) -> Any:
        """The right output of example i."""
        raise self._lacks("truth")

    def joint_feature(self, i: int, y: Any) -> Any:
        """Psi(x_i, y)."""
        raise self._lacks("joint_feature")

    def loss(self, i: int, y: Any) -> float:
        """Delta(y_i, y)."""
        raise self._lacks("loss")

    def separate(self, i: int, w: Any, rule: SlackRule) -> Any:
        """The most violated output of example i."""
        raise self._lacks("separate")

    def _lacks(self, name: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} lacks {name}: with a kernel examples are asked one by one, by truth, "
            "joint_feature, loss and separate"
        )
