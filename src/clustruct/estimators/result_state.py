"""The state of estimators that a structural SVM has trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clustruct._typing import Floats
from clustruct.ssvm import FitResult
from clustruct.storage.estimator_state import EstimatorState


class ResultState(EstimatorState):
    """``w_`` are the weights of ``result_``, in the same unit: a file has them once."""

    w_: Floats
    result_: FitResult

    def learned(self) -> dict[str, Any]:
        """The fitted attributes by name."""
        held = super().learned()
        return {**held, "result_": replace(self.result_, w=None)}

    def restore(self, learned: Mapping[str, Any]) -> None:
        """Set the fitted attributes, each checked against its hint."""
        super().restore(learned)
        self.result_ = replace(self.result_, w=self.w_)
