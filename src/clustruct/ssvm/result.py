"""What a training leaves: its result, what is certain about it, and the planes for one that goes on.

Files of models name these classes: nothing here needs the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.callbacks import Iteration, SupportsDump
from clustruct.core.formatting import html_table
from clustruct.core.storage import DataclassState, is_matrix, register
from clustruct.core.typing import Bools, Floats, Indices

OracleKind = Literal["exact", "undergenerating", "overgenerating", "heuristic"]


@register("Certificate")
@dataclass(frozen=True)
class Certificate(DataclassState):
    """What holds about v*, the optimum of the original problem (dissertation, chapter 5).

    ``lower <= v* <= upper``; an end that does not hold is None, and ``notes`` say why.
    ``training_loss`` bounds the mean training loss, for a predictor of the same kind as the oracle
    (`training_loss_bound`: of another quality). ``slack`` is a mean slack with which w is feasible in the
    original problem, and ``truth_score`` the mean of <w, Psi(x_i, y_i)>; None where they are not known.
    """

    oracle_kind: OracleKind
    lower: float | None
    upper: float | None
    training_loss: float | None
    notes: tuple[str, ...]
    slack: float | None = None
    truth_score: float | None = None

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Certificate:
        """Of files from before Theorem 10 as well."""
        return super().from_state({"slack": None, "truth_score": None, **state})

    def training_loss_bound(self, rho: float = 1.0) -> float | None:
        """Bound of the mean training loss, for a predictor whose answers score at least rho times the best.

        ``(1 - rho) mean <w, Psi(x_i, y_i)> + slack`` (Theorem 10). It needs margin scaling, linear slacks and
        a problem that knows its `truth_scores`, but for rho = 1; None where it is not known.

        >>> Certificate("exact", 1.0, 2.0, 3.0, (), slack=3.0, truth_score=10.0).training_loss_bound(0.9)
        4.0
        """
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"rho must lie between 0 and 1, not {rho!r}")
        if self.slack is None or rho == 1.0:
            return self.slack
        return None if self.truth_score is None else (1.0 - rho) * self.truth_score + self.slack

    def __str__(self) -> str:
        low, high = ("unknown" if end is None else f"{end:.6g}" for end in (self.lower, self.upper))
        return "\n".join([f"optimum between {low} and {high} ({self.oracle_kind} oracle)", *self.notes])


NOTES: dict[OracleKind, tuple[str, ...]] = {
    "exact": ("Every constraint was searched: both ends hold.",),
    "overgenerating": (
        "The oracle searches more than the true outputs: the lower end belongs to the relaxed problem, "
        "and only the upper end holds for this one.",
        "The training loss bound holds for prediction by the same relaxation.",
    ),
    "heuristic": (
        "The oracle does not look for the most violated constraint of any set: neither end holds.",
    ),
    "undergenerating": (
        "The oracle searches a part of the outputs, how well is not known: only the lower end holds, "
        "and the slack need not bound the training loss.",
    ),
}


BOUNDED = (
    "The oracle may miss the most violated output, but bounds what it can need: so does the upper end.",
    "The training loss bound holds for exact prediction.",
)


@register("Planes")
@dataclass(frozen=True)
class Planes(DataclassState):
    """Planes with their multipliers, in a form that can be stored and taken up again.

    ``vectors`` is dense or CSR, one row per plane; ``group`` says which slack each belongs to.
    """

    vectors: Any
    b: Floats
    group: Indices
    a: Floats

    def __post_init__(self) -> None:
        n = len(self.vectors) if isinstance(self.vectors, list) else self.vectors.shape[0]
        if {n, len(self.group), len(self.a)} != {len(self.b)} or (self.group < 0).any():
            raise ValueError("the parts of the planes do not fit")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The planes of a state; ValueError where it is not one."""
        planes = super().from_state(state)
        if not all(x.ndim == 1 for x in (planes.b, planes.group, planes.a)):
            raise ValueError("the parts of the planes are no vectors")
        if not isinstance(planes.vectors, list) and not is_matrix(planes.vectors, len(planes)):
            raise ValueError("the vectors of the planes are no matrix of numbers")
        return planes

    def __len__(self) -> int:
        return len(self.b)

    def fits(self, n_features: int, n_groups: int) -> bool:
        """Whether a problem of this size could have made them."""
        return self.vectors.shape[1] == n_features and (len(self) == 0 or int(self.group.max()) < n_groups)

    def of_group(self, group: int) -> Planes:
        """Those that share one slack."""
        return self.take(self.group == group)

    def take(self, which: Bools) -> Planes:
        """Some of them."""
        return Planes(self.vectors[which], self.b[which], self.group[which], self.a[which])


@register("PastTraining")
@dataclass(frozen=True)
class PastTraining(DataclassState):
    """What a training leaves for one that goes on from it; whether the rows of its tables were sorted."""

    C: float
    examples: int
    planes: Planes | None
    sets: list[str]
    sorted_rows: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.C) and self.C > 0.0) or self.examples < 1:
            raise ValueError("C and the number of examples must be positive")
        planes = self.planes
        if planes is not None and (
            not isinstance(planes.vectors, np.ndarray)
            or not planes.fits(planes.vectors.shape[1], len(self.sets))
        ):
            raise ValueError("the planes of a training do not fit its examples")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The past of a state; older versions took rows as they came."""
        return super().from_state({"sorted_rows": False, **state})

    def planes_of(self, sets: Sequence[str], n_features: int) -> Planes | None:
        """The planes of those examples that are there again, by their new numbers."""
        if self.planes is None or self.planes.vectors.shape[1] != n_features:
            return None
        place = {name: i for i, name in enumerate(sets)}
        number = np.array([place.get(name, -1) for name in self.sets], np.int64)
        group = number[self.planes.group]
        kept = group >= 0
        held = self.planes
        return Planes(held.vectors[kept], held.b[kept], group[kept], held.a[kept]) if kept.any() else None


class NothingLearned(ConvergenceWarning):
    """A training that ended at w = 0."""


@register("FitResult")
@dataclass(frozen=True, repr=False)
class FitResult(DataclassState):
    """The outcome of `fit`.

    ``w`` is the weight vector (with a kernel: a `KernelModel`). ``objective`` is the primal value that
    the oracle saw at w, ``dual`` the working set's lower bound, ``gap`` their difference.
    ``stop_reason`` is one of "converged", "max_iter", "time_limit", "callback", "interrupted", "stalled",
    or what a callback gave as its reason.

    Attributes
    ----------
    w : object
        The weight vector; with a kernel, a `KernelModel`.
    objective : float
        The primal value that the oracle saw at w.
    dual : float
        The lower bound of the working set.
    mean_slack : float
        The mean slack at w.
    stop_reason : str
        Why the training ended.
    certificate : Certificate
        What holds about the optimum.
    history : tuple of Iteration
        One entry for each round.
    oracle_calls : int
        How often the oracle was asked.
    qp_solves : int
        How often the quadratic programme was solved.
    seconds : float
        How long it took.
    oracle_seconds : float
        Of them those of the oracle.
    qp_seconds : float
        Of them those of the quadratic programme.
    working_set : SupportsDump, optional
        The planes at the end, to start another training from.
    """

    w: Any
    objective: float
    dual: float
    mean_slack: float
    stop_reason: str
    certificate: Certificate
    history: tuple[Iteration, ...] = field(repr=False)
    oracle_calls: int
    qp_solves: int
    seconds: float
    oracle_seconds: float
    qp_seconds: float
    working_set: SupportsDump | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"FitResult({self.stop_reason} after {self.n_iter} rounds: objective {self.objective:.6g}, "
            f"gap {self.gap:.3g}, {self.oracle_calls} oracle calls, {self.seconds:.3g} s)"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: how the training ended, and what is certain of it."""
        rows: list[list[object]] = [
            ["objective", self.objective],
            ["gap", self.gap],
            ["mean slack", self.mean_slack],
            ["oracle calls", self.oracle_calls],
            ["seconds", self.seconds],
            ["certificate", str(self.certificate)],
        ]
        return html_table(f"{self.stop_reason} after {self.n_iter} rounds", ["", "value"], rows)

    def __getstate__(self) -> dict[str, Any]:
        """Stored and sent without the working set, which can be a thousand times the size of w."""
        return {**self.__dict__, "working_set": None}

    @property
    def planes(self) -> Planes | None:
        """The constraints held at the end, made when asked for (None with a kernel or after unpickling)."""
        return None if self.working_set is None else self.working_set.dump()

    @property
    def gap(self) -> float:
        """``objective - dual``."""
        return self.objective - self.dual

    @property
    def converged(self) -> bool:
        """Whether the tolerance asked for was reached."""
        return self.stop_reason == "converged"

    @property
    def was_stopped(self) -> bool:
        """Whether somebody, or a callback, ended it before its own end."""
        return self.stop_reason not in ("converged", "max_iter", "time_limit", "stalled")

    @property
    def n_iter(self) -> int:
        """The number of rounds."""
        return len(self.history)
