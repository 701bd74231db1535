"""What the oracle answered: checked, and kept beside the examples until joint constraints are made of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np

from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule

from .problem import ConstraintBatch, W

# Where C times the square of an entry of Psi passes this, sums of such squares mean nothing any more.
LARGEST = 1e40


@dataclass(frozen=True)
class Separation(Generic[W]):
    """What the oracle found for some examples at some w, and the slack that each output needs there."""

    indices: Indices
    batch: ConstraintBatch[W]
    violation: Floats


def checked(indices: Indices, batch: ConstraintBatch[W], w: W, rule: SlackRule) -> Separation[W]:
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

    Parameters
    ----------
    weights : those of all examples
    size : how many rounds are kept
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
