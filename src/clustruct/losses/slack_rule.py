"""How loss and score combine into the slack that an output needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from clustruct.core.typing import Floats

__all__ = ["Scaling", "SlackRule"]

Scaling = Literal["margin", "slack"]
Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True)
class SlackRule:
    """Scaling of the margin or of the slack, with linear or quadratic slacks (OP 4-7).

    With ``gain = <w, Psi(x, y)> - <w, Psi(x, y_true)>`` and ``D = loss`` (norm 1) or ``sqrt(loss)`` (norm 2),
    the slack that output y needs is ``H(y) = D + gain`` (margin scaling) or ``D * (1 + gain)`` (slack
    scaling). Compiled searches have the same rule in `clustruct.losses._kernels`.

    Examples
    --------
    >>> SlackRule("slack").violation(loss=2.0, gain=0.5)
    3.0
    """

    scaling: Scaling = "margin"
    norm: Literal[1, 2] = 1

    def __post_init__(self) -> None:
        if self.scaling not in ("margin", "slack"):
            raise ValueError(f"scaling must be 'margin' or 'slack', not {self.scaling!r}")
        if self.norm not in (1, 2):
            raise ValueError(f"slack_norm must be 1 or 2, not {self.norm!r}")

    def size(self, loss: Number) -> Number:
        """The loss as it enters the constraint: itself, or its square root for quadratic slacks."""
        return loss if self.norm == 1 else np.sqrt(loss)

    def violation(self, loss: Number, gain: Number) -> Number:
        """The slack H(y) that an output needs."""
        size = self.size(loss)
        return size + gain if self.scaling == "margin" else size * (1.0 + gain)

    def multiplier(self, loss: Floats) -> Floats:
        """The factor of ``Psi(y_true) - Psi(y)`` once the constraint is written ``<w, c> >= b - xi``."""
        return self.size(loss) if self.scaling == "slack" else np.ones_like(loss)
