"""What a fit returns: the weights, what happened on the way, and what is certain about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats
from clustruct.callbacks import Iteration, SupportsDump
from clustruct.storage import DataclassState, register

from .problem import OracleKind


@register("Certificate")
@dataclass(frozen=True)
class Certificate(DataclassState):
    """What holds about v*, the optimum of the original problem (dissertation, chapter 5).

    ``lower <= v* <= upper``; an end that does not hold is None, and ``notes`` say why.
    ``training_loss`` bounds the mean training loss, for a predictor of the same kind as the oracle.
    """

    oracle_kind: OracleKind
    lower: float | None
    upper: float | None
    training_loss: float | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        low = "unknown" if self.lower is None else f"{self.lower:.6g}"
        high = "unknown" if self.upper is None else f"{self.upper:.6g}"
        return "\n".join([f"optimum between {low} and {high} ({self.oracle_kind} oracle)", *self.notes])


def certify(
    kind: OracleKind, dual: float, primal: float, mean_loss_bound: float, rho_upper: float | None
) -> Certificate:
    """The certificate that the oracle's kind allows."""
    notes: tuple[str, ...]
    if kind == "exact":
        notes = ("Every constraint was searched: both ends hold.",)
        return Certificate(kind, dual, primal, mean_loss_bound, notes)
    if kind == "overgenerating":
        notes = (
            "The oracle searches more than the true outputs: the lower end belongs to the relaxed problem, "
            "and only the upper end holds for this one.",
            "The training loss bound holds for prediction by the same relaxation.",
        )
        return Certificate(kind, None, primal, mean_loss_bound, notes)
    if kind == "heuristic":
        notes = ("The oracle does not look for the most violated constraint of any set: neither end holds.",)
        return Certificate(kind, None, None, None, notes)
    if rho_upper is None:
        notes = (
            "The oracle searches a part of the outputs, how well is not known: only the lower end holds, "
            "and the slack need not bound the training loss.",
        )
        return Certificate(kind, dual, None, None, notes)
    notes = ("The upper end is Theorem 9's, from the oracle's rho.",)
    return Certificate(kind, dual, rho_upper, None, notes)


@register("Planes")
@dataclass(frozen=True)
class Planes(DataclassState):
    """The working set at the end, in a form that can be stored and taken up again."""

    vectors: Any
    b: Floats
    group: NDArray[np.intp]
    a: Floats

    def __len__(self) -> int:
        return len(self.b)

    def __post_init__(self) -> None:
        sizes = {self.vectors.shape[0], *(len(column) for column in (self.b, self.group, self.a))}
        if sizes != {len(self.b)} or (self.group < 0).any():
            raise ValueError("the parts of the planes do not fit")

    def fits(self, n_features: int, n_groups: int) -> bool:
        """Whether a problem of this size could have made them."""
        return self.vectors.shape[1] == n_features and (len(self) == 0 or int(self.group.max()) < n_groups)


@register("FitResult")
@dataclass(frozen=True, repr=False)
class FitResult(DataclassState):
    """The outcome of `fit`.

    ``w`` is the weight vector (with a kernel: a `KernelModel`). ``objective`` is the primal value that
    the oracle saw at w, ``dual`` the working set's lower bound, ``gap`` their difference.
    ``stop_reason`` is one of "converged", "max_iter", "time_limit", "callback", "interrupted", "stalled".
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

    def __getstate__(self) -> dict[str, Any]:
        """Stored and sent without the working set, which can be a thousand times the size of w."""
        return {**self.__dict__, "working_set": None}

    @property
    def planes(self) -> Planes | None:
        """The constraints held at the end, made when asked for (None with a kernel or after unpickling)."""
        return None if self.working_set is None else self.working_set.dump()

    @property
    def gap(self) -> float:
        return self.objective - self.dual

    @property
    def converged(self) -> bool:
        return self.stop_reason == "converged"

    @property
    def n_iter(self) -> int:
        return len(self.history)


def history_arrays(history: tuple[Iteration, ...]) -> dict[str, Floats]:
    """The history by column, for plots."""
    names = ["iteration", "primal", "dual", "gap", "oracle_calls", "constraints", "seconds"]
    return {name: np.array([getattr(h, name) for h in history], float) for name in names}
