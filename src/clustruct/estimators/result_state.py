"""The state of estimators that a structural SVM has trained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clustruct._typing import Floats
from clustruct.ssvm import FitResult
from clustruct.storage import EstimatorState


class ResultState(EstimatorState):
    """``w_`` are the weights of ``result_``, in the same unit: a file has them once."""

    w_: Floats
    result_: FitResult

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned."""
        held = super().state()
        held["learned"]["result_"] = replace(self.result_, w=None)
        return held

    def check_fitted(self) -> None:
        """Put the weights back."""
        self.result_ = replace(self.result_, w=self.w_)
