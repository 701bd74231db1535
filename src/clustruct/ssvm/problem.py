"""What a structured problem must give the engine: four functions, or one batch function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from clustruct._typing import Floats, Indices
from clustruct.slack_rule import SlackRule

OracleKind = Literal["exact", "undergenerating", "overgenerating", "heuristic"]
Backend = Literal["threads", "processes"]
# What the oracle is called with: a weight vector, or with a kernel a `KernelModel`.
W = TypeVar("W")
W_contra = TypeVar("W_contra", contravariant=True)


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
    `SearchesQuickly`, `KnownQuality`, `KindByRule`, `BoundsViolation`, `ScoresTruths`, `ThreadSafe`,
    `PrefersFormulation`, `Identifiable`, `Divisible`, `Remembers`.
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


@runtime_checkable
class SearchesQuickly(Protocol):
    """A `StructuredProblem` whose `separate` is quick and may miss much, with a thorough search beside it.

    The thorough one is asked every tenth round, and wherever the quick one finds next to nothing beyond the
    planes held; no training ends as converged, and no objective is reported, on the word of the quick one.
    """

    def is_quick(self, rule: SlackRule) -> bool:
        """Whether that is so for this rule; else `separate` is all there is."""

    def separate_thoroughly(self, i: int, w: Any, rule: SlackRule) -> Any:
        """As `separate`, with all the care that the problem can take."""


@dataclass(frozen=True)
class SmoothedResult:
    """What a smoothed oracle says of one example: see `clustruct.ssvm.solvers.smoothed`.

    ``violation`` is the largest slack any output needs at w, ``value`` its smoothed form, and
    ``difference`` and ``loss`` make the plane of the mean of outputs that attains the latter.

    Attributes
    ----------
    violation : float
        The largest slack that any output needs.
    value : float
        Its smoothed form.
    difference : array of float
        Psi of the truth minus the mean of Psi.
    loss : float
        The mean of the loss.
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
class KindByRule(Protocol):
    """A problem whose oracle searches otherwise by some slack rules than ``oracle_kind`` says."""

    def kind_for(self, rule: SlackRule) -> OracleKind:
        """What it searches by this rule."""


@runtime_checkable
class BoundsViolation(Protocol):
    """A problem whose oracle undergenerates, but says by how much at most: the upper end of the certificate
    then holds.
    """

    def violation_bound(self, i: int, w: Floats, rule: SlackRule) -> float | None:
        """What no output of example i needs more slack than; None where that is not known."""


@runtime_checkable
class ScoresTruths(Protocol):
    """A problem that scores the right outputs of many examples at once, which Theorem 10 asks for."""

    def truth_scores(self, indices: Indices, w: Floats) -> Floats:
        """<w, Psi(x_i, y_i)> of these examples."""


@runtime_checkable
class Identifiable(Protocol):
    """A problem that says what it is, so that a checkpoint of another one can be refused by name.

    Of other problems the joint features of all truths and the oracle's answers at the first w are looked at,
    which costs one call for each example, and which an oracle that answers by chance does not survive.
    """

    def identity(self) -> Mapping[str, str]:
        """Digests of its parts (`clustruct.storage.digest`) by the names that an error is to use: "features",
        "labels", "loss", ...
        """


@runtime_checkable
class Divisible(Protocol):
    """A problem that can be cut into parts, for an executor that keeps each part at another place."""

    def part(self, examples: Indices) -> StructuredProblem:
        """The problem of these examples alone, numbered from 0 on in this order."""


@runtime_checkable
class Remembers(Protocol):
    """A problem whose oracle starts from what it found before. What it remembers can be taken out and put
    back: an executor whose machine was lost comes to the same answers again then.
    """

    def memory(self) -> Any:
        """What was found last for every example; it is not changed by later searches."""

    def remember(self, memory: Any) -> None:
        """From now on that is what was found last."""


@runtime_checkable
class ThreadSafe(Protocol):
    """A problem that says how its oracle is best run in parallel: "threads" where it is safe in threads and
    releases the interpreter lock. Others are run in processes.
    """

    @property
    def parallel_backend(self) -> Backend:
        """How oracle calls may run at the same time."""


@runtime_checkable
class PrefersFormulation(Protocol):
    """A problem that names the formulation which formulation="auto" stands for."""

    @property
    def preferred_formulation(self) -> str:
        """The name of the solver that suits the problem."""
