"""What is certain about a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clustruct.core.storage import DataclassState, register

from .problem import OracleKind


@register("Certificate")
@dataclass(frozen=True)
class Certificate(DataclassState):
    """What holds about v*, the optimum of the original problem (dissertation, chapter 5).

    ``lower <= v* <= upper``; an end that does not hold is None, and ``notes`` say why.
    ``training_loss`` bounds the mean training loss, for a predictor of the same kind as the oracle
    (`training_loss_bound`: of another quality). ``slack`` is a mean slack with which w is feasible in the
    original problem, and ``truth_score`` the mean of <w, Psi(x_i, y_i)>; None where they are not known.

    Attributes
    ----------
    oracle_kind : OracleKind
        What the oracle promises: "exact", "undergenerating" or "overgenerating".
    lower : float or None
        A lower bound of v*.
    upper : float or None
        An upper bound of v*.
    training_loss : float or None
        A bound of the mean training loss.
    notes : tuple of str
        What does not hold, and why.
    slack : float, optional
        A mean slack with which w is feasible.
    truth_score : float, optional
        The mean score of the truths.
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
